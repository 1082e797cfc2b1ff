#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What of the interfaces of the crates that stand alone is not as it was, and whether the version says so: cargo-semver-checks
# against a revision. Argument: the revision; none where nothing was released yet. The tool is compiled once, in build/release/tools.
set -euo pipefail
cd "$(dirname "$0")/../.."
baseline=${1:-}
if [ -z "$baseline" ]; then
  echo "no tag v* is there, so nothing was released that could break; make semver BASELINE=REVISION compares with another commit"
  exit
fi
git rev-parse --quiet --verify "$baseline^{commit}" >/dev/null || { echo "$baseline is no revision of this repository" >&2; exit 2; }
wanted=0.51.0 tools=$PWD/build/release/tools
if [ "$("$tools/bin/cargo-semver-checks" semver-checks --version 2>/dev/null | grep -o '[0-9.]*$')" != "$wanted" ]; then
  echo "cargo-semver-checks $wanted is compiled (minutes, once)"
  cargo install --quiet --locked --root "$tools" "cargo-semver-checks@$wanted"
fi
# shellcheck disable=SC2046
PATH=$tools/bin:$PATH cargo semver-checks --baseline-rev "$baseline" $(scripts/release/crates.sh)
