#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `openssl speed` with OpenSSL's own algorithms, with what libace_provider.so offers for them, and with the engine behind
# that, in turns, for several lengths. Prints a table of MB/s (10^6 bytes in a second of the processor time that `speed`
# counts) and the quotient of the first two: above 1 the provider is faster.
# Arguments: the folder with libace_provider.so (target/release), seconds of each measurement, rounds (the median
# counts), and parts of rows' names where not all are wanted.
set -euo pipefail

folder=$(realpath "${1:-target/release}")
seconds=${2:-1}
rounds=${3:-3}
wanted=("${@:4}")
[ -e "$folder/libace_provider.so" ] || { echo "$folder has no libace_provider.so: make all" >&2; exit 1; }
modules=$(openssl version -m | sed -E 's/.*"(.*)"/\1/')
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
# One folder for both: -provider-path takes OpenSSL's own module away.
ln -s "$folder/libace_provider.so" "$here/"
if [ -e "$modules/legacy.so" ]; then ln -s "$modules/legacy.so" "$here/"; fi
both=(-provider-path "$here" -provider default -provider libace_provider)
if [ -e "$here/legacy.so" ]; then both+=(-provider legacy); fi

# $1: which provider; then the length and what `speed` is told. Thousands of bytes a second; nothing where there is no
# such algorithm.
speed() {
  local who=$1 length=$2
  shift 2
  openssl speed "${both[@]}" -propquery "provider=$who" -seconds "$seconds" -bytes "$length" "$@" 2>/dev/null |
    tail -1 | sed -nE 's/.* ([0-9.]+)k$/\1/p' || true
}

median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

cpu=$(sed -nE 's/^model name\s*: //p' /proc/cpuinfo | head -1)
echo "$(openssl version | cut -d' ' -f1,2), $cpu; ${rounds} × ${seconds} s, medians, MB/s"
echo
echo "| algorithm | bytes | OpenSSL | provider=ace | quotient | its engine |"
echo "|---|---:|---:|---:|---:|---:|"
is_wanted() {
  [ ${#wanted[@]} != 0 ] || return 0
  for part in "${wanted[@]}"; do case $1 in *"$part"*) return 0 ;; esac; done
  return 1
}
row() {
  local name=$1 own=$2
  shift 2
  is_wanted "$name" || return 0
  for length in 16 64 256 1424 16384; do
    : >"$here/own" >"$here/ace" >"$here/engine"
    for _ in $(seq "$rounds"); do
      speed "$own" "$length" "$@" >>"$here/own"
      speed ace "$length" "$@" >>"$here/ace"
      speed ace,ace.engine=yes "$length" "$@" >>"$here/engine"
    done
    awk -v own="$(median <"$here/own")" -v ace="$(median <"$here/ace")" -v engine="$(median <"$here/engine")" \
      -v name="$name" -v length_="$length" '
      function shown(value) { return value == "" ? "not there" : sprintf("%.0f", value / 1000) }
      BEGIN {
        quotient = own == "" || ace == "" ? "" : sprintf("%.2f", ace / own)
        printf "| %s | %d | %s | %s | %s | %s |\n", name, length_, shown(own), shown(ace), quotient, shown(engine)
      }'
  done
}
row "AES-128-GCM" default -evp aes-128-gcm
row "AES-256-GCM" default -evp aes-256-gcm
row "AES-128-GCM, a message each" default -aead -evp aes-128-gcm
row "ChaCha20-Poly1305" default -evp chacha20-poly1305
row "ChaCha20-Poly1305, a message each" default -aead -evp chacha20-poly1305
row "AES-128-CTR" default -evp aes-128-ctr
row "AES-256-CTR" default -evp aes-256-ctr
row "AES-128-CBC, decryption" default -decrypt -evp aes-128-cbc
row "AES-256-CBC, decryption" default -decrypt -evp aes-256-cbc
row "AES-128-CBC" default -evp aes-128-cbc
row "AES-256-CBC" default -evp aes-256-cbc
row "DES-EDE3-CBC, decryption" default -decrypt -evp des-ede3-cbc
row "DES-EDE3-CBC" default -evp des-ede3-cbc
row "CAST5-CBC" legacy -evp cast5-cbc
row "IDEA-CBC" legacy -evp idea-cbc
row "Camellia-128-CBC" default -evp camellia-128-cbc
row "SM4-CBC" default -evp sm4-cbc
for digest in md5 sha1 sha224 sha256 sha384 sha512; do
  row "${digest^^}" default -evp $digest
done
row "HMAC of SHA1" default -hmac sha1
row "HMAC of SHA256" default -hmac sha256
