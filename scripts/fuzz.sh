#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every fuzz target for so many seconds each (default 60); tests/fuzz/README.md says what each must hold.
# FUZZ_SANITIZER=address: with AddressSanitizer, for which the stable compiler is asked for a flag of the nightly one.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
sanitizer=${FUZZ_SANITIZER:-none}
[ "$sanitizer" = none ] || export RUSTC_BOOTSTRAP=1

if ! command -v cargo-fuzz >/dev/null 2>&1; then
  echo "installing cargo-fuzz (pinned) with cargo"
  cargo install cargo-fuzz --version 0.13.2 --locked --quiet
fi
for target in packet_path rekey sa_file gateway xfrm page capture fragments tcp bitstream stream library array; do
  case $target in
    packet_path | rekey) limits="-max_len=1024" ;;
    sa_file | gateway) limits="-max_len=4096 -only_ascii=1" ;;
    bitstream | capture | fragments | tcp | xfrm | page | stream | library | array) limits="-max_len=4096" ;;
  esac
  mkdir -p "tests/fuzz/corpus/$target"
  echo "fuzzing $target for $seconds s"
  # shellcheck disable=SC2086
  cargo fuzz run --fuzz-dir tests/fuzz -s "$sanitizer" "$target" "tests/fuzz/corpus/$target" "tests/fuzz/seeds/$target" -- \
    -max_total_time="$seconds" $limits -print_final_stats=1 2>&1 |
    grep -E '^(stat::number_of_executed_units|stat::new_units_added|Done|==|SUMMARY|error)|panicked|crash' ||
    { echo "fuzzing $target failed; tests/fuzz/artifacts/$target holds the input"; exit 1; }
done
echo "no finding"
