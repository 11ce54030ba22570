//! Builds anew when a file of the console changes, since it is part of the binary.

fn main() {
    println!("cargo:rerun-if-changed=src/monitor/console");
}
