#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `openssl speed` with OpenSSL's own algorithms and with those of libace_provider.so, in turns, for several lengths.
# Prints a table of MB/s (10^6 bytes of wall time; one core) and the quotient: above 1 the provider is faster.
# Arguments: the folder with libace_provider.so (target/release), seconds of each measurement, rounds (the median
# counts).
set -euo pipefail

folder=$(realpath "${1:-target/release}")
seconds=${2:-1}
rounds=${3:-3}
[ -e "$folder/libace_provider.so" ] || { echo "$folder has no libace_provider.so: make ace" >&2; exit 1; }
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
echo "| algorithm | bytes | OpenSSL | ACE | quotient |"
echo "|---|---:|---:|---:|---:|"
row() {
  local name=$1 own=$2
  shift 2
  for length in 64 256 1424 16384; do
    : >"$here/own" >"$here/ace"
    for _ in $(seq "$rounds"); do
      speed "$own" "$length" "$@" >>"$here/own"
      speed ace "$length" "$@" >>"$here/ace"
    done
    awk -v own="$(median <"$here/own")" -v ace="$(median <"$here/ace")" -v name="$name" -v length_="$length" '
      BEGIN {
        if (ace == "") { printf "| %s | %d | %.0f | not there | |\n", name, length_, own / 1000; exit }
        if (own == "") { printf "| %s | %d | not there | %.0f | |\n", name, length_, ace / 1000; exit }
        printf "| %s | %d | %.0f | %.0f | %.2f |\n", name, length_, own / 1000, ace / 1000, ace / own
      }'
  done
}
row "AES-128-GCM" default -evp aes-128-gcm
row "AES-256-GCM" default -evp aes-256-gcm
row "AES-128-GCM, a message each" default -aead -evp aes-128-gcm
row "ChaCha20-Poly1305" default -evp chacha20-poly1305
row "AES-128-CTR" default -evp aes-128-ctr
row "AES-128-CBC, decryption" default -decrypt -evp aes-128-cbc
row "AES-128-CBC" default -evp aes-128-cbc
row "DES-EDE3-CBC, decryption" default -decrypt -evp des-ede3-cbc
row "DES-EDE3-CBC" default -evp des-ede3-cbc
row "CAST5-CBC" legacy -evp cast5-cbc
row "IDEA-CBC" legacy -evp idea-cbc
row "Camellia-128-CBC" default -evp camellia-128-cbc
row "SM4-CBC" default -evp sm4-cbc
row "SHA-256" default -evp sha256
row "SHA-512" default -evp sha512
row "SHA-1" default -evp sha1
row "MD5" default -evp md5
