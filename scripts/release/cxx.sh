#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# g++ for a release (CXX): what is compiled names no folder of this machine, and none that is made for a moment. Its version is
# another one than that of g++ alone, so that the flow's cache does not take what that has compiled for this.
set -euo pipefail
folders=()
for word in "$@"; do
  case $word in
    --version) g++ --version | sed '1s/$/, without folders/'; exit ;;
    -I/*) folders+=("${word#-I}") ;;
    -isystem/*) folders+=("${word#-isystem}") ;;
    /*.cc | /*.cpp | /*.c) folders+=("${word%/*}") ;;
  esac
done
maps=()
for folder in "${folders[@]}"; do
  maps+=("-ffile-prefix-map=$folder=/ace/cxx")
done
exec g++ "$@" "${maps[@]}"
