#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The crates that may be published, as arguments of cargo: those whose Cargo.toml does not forbid it.
set -euo pipefail
cd "$(dirname "$0")/../.."
for file in crates/*/Cargo.toml; do
  grep -q '^publish' "$file" || printf -- '-p %s ' "$(basename "$(dirname "$file")")"
done
echo
