#!/usr/bin/env bash
# What tests/report_page.rs and tests/console.rs look at pages with: Debian's Chromium and Chinese font, playwright-core and axe-core from npm, in
# target/browser. Once installed, it returns at once.
set -euo pipefail
cd "$(dirname "$0")/../.."
place="${CARGO_TARGET_DIR:-target}/browser"
packages="playwright-core@1.65.1 axe-core@4.14.1"
if ! command -v chromium >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-noto-cjk
fi
[ "$(cat "$place/installed.txt" 2>/dev/null)" = "$packages" ] && exit 0
mkdir -p "$place"
# shellcheck disable=SC2086
npm install --silent --no-audit --no-fund --prefix "$place" $packages
echo "$packages" >"$place/installed.txt"
