#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Names every system package that is missing, and how to install it. The argument is the Python to use.
set -euo pipefail
python=${1:-python3}
packages=()
want() { command -v "$1" >/dev/null 2>&1 || packages+=("$2"); }
want g++ g++
want ld binutils
want make make
want perl perl
want git git
if ! command -v "$python" >/dev/null 2>&1; then
  packages+=(python3 python3-venv)
elif ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "$python is $("$python" --version 2>&1); Python 3.11 or newer is needed (make PYTHON=/path/to/python3)." >&2
  exit 1
elif ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
  packages+=(python3-venv)
fi
if ((${#packages[@]})); then
  echo "Missing from this system: ${packages[*]}" >&2
  echo "On Debian and Ubuntu: apt-get install ${packages[*]}" >&2
fi
# The CPU engine is fast with it and works without it.
if [[ $(uname -m) == x86_64 && ! -e /usr/include/intel-ipsec-mb.h ]]; then
  echo "Not installed: libipsec-mb-dev; the CPU engine is built without intel-ipsec-mb (apt-get install libipsec-mb-dev)" >&2
fi
# The workspace says which Rust it needs. Cargo of a distribution is often older, and fails with a riddle.
wanted=$(sed -nE 's/^rust-version = "(.*)"/\1/p' "$(dirname "$0")/../Cargo.toml")
if ! command -v cargo >/dev/null 2>&1 || ! command -v rustc >/dev/null 2>&1; then
  echo "Missing: cargo and rustc. Install Rust $wanted or newer from https://rustup.rs" >&2
  exit 1
fi
found=$(rustc --version | sed -nE 's/^rustc ([0-9]+\.[0-9]+).*/\1/p')
if [[ $(printf '%s\n' "$wanted" "${found:-0}" | sort -V | head -n 1) != "$wanted" ]]; then
  echo "$(command -v rustc) is Rust ${found:-of no known version}; $wanted or newer is needed: \`rustup update\`, or https://rustup.rs" >&2
  exit 1
fi
((${#packages[@]} == 0))
