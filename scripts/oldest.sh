#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Raises the oldest version of the library that the keys compiled in take to that of the library in this repository, so that
# a fresh machine with the next ace takes no older one. Arguments: the binary, and the file of keys.
set -euo pipefail
ace=$1 keys=${2:-crates/ace-library/trusted.keys}
version=$("$ace" library list | sed -nE '1s/^version ([0-9]+),.*/\1/p')
[ -n "$version" ] || { echo "$ace library list names no version" >&2; exit 1; }
sed -i -E "s/^oldest [0-9]+$/oldest $version/" "$keys"
echo "$keys: oldest $version, with the next build"
