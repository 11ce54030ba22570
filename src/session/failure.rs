//! Errors as they are told: what one says, and whether its cause is a full disk.

use std::io;

use crate::{disk::is_full, store::StoreError};

/// An error with its causes, each said once: many say their cause themselves.
#[must_use]
pub fn told(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |told, cause| match told {
        told if told.is_empty() => cause,
        told if told.contains(&cause) => told,
        told => told + ": " + &cause,
    })
}

/// Whether the cause of an error is a full disk.
#[must_use]
pub fn is_disk_full(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let by_store = cause.downcast_ref::<StoreError>().is_some_and(StoreError::is_disk_full);
        by_store || cause.downcast_ref::<io::Error>().is_some_and(is_full)
    })
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn a_cause_that_its_effect_tells_is_not_told_again() {
        let cause = || io::Error::from(io::ErrorKind::StorageFull);
        let short = Err::<(), _>(cause()).context("the label was not kept").unwrap_err();
        assert_eq!(told(&short), format!("the label was not kept: {}", cause()));
        let long = Err::<(), _>(cause()).context(format!("cannot write: {}; make room", cause())).unwrap_err();
        assert_eq!(told(&long), format!("cannot write: {}; make room", cause()));
        assert!(is_disk_full(&short) && is_disk_full(&long));
    }
}
