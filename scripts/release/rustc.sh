#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# rustc for a release (RUSTC_WRAPPER): what is compiled names no folder of this machine. A wrapper, and no RUSTFLAGS: those are
# a part of what cargo calls the files, and another folder would be another name. scripts/release/environment.sh sets the variables.
exec "$@" --remap-path-prefix="$ACE_CARGO=/cargo" --remap-path-prefix="$ACE_SYSROOT=/rust" \
  --remap-path-prefix="$ACE_SOURCE=/ace" --remap-path-prefix="$CARGO_TARGET_DIR=/ace/target"
