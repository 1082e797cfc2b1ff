# SPDX-License-Identifier: Apache-2.0
# For scripts that source it, at the root of a checkout: an environment in which the same commit becomes the same bytes.
umask 022
LC_ALL=C.UTF-8
TZ=UTC
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
ACE_SOURCE=$(pwd -P)
ACE_CARGO=${CARGO_HOME:-$HOME/.cargo}
ACE_SYSROOT=$(rustc --print sysroot)
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$ACE_SOURCE/build/release/target}
CARGO_INCREMENTAL=0
RUSTC_WRAPPER=$ACE_SOURCE/scripts/release/rustc.sh
# What is compiled of C and C++ besides.
CFLAGS="-O2 -ffile-prefix-map=$ACE_SOURCE=/ace -ffile-prefix-map=$ACE_CARGO=/cargo -ffile-prefix-map=$CARGO_TARGET_DIR=/ace/target"
CXXFLAGS=$CFLAGS
PYTHONHASHSEED=0
export LC_ALL TZ SOURCE_DATE_EPOCH ACE_SOURCE ACE_CARGO ACE_SYSROOT CARGO_TARGET_DIR CARGO_INCREMENTAL RUSTC_WRAPPER CFLAGS CXXFLAGS \
  PYTHONHASHSEED
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS
