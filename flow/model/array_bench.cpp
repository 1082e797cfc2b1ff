// SPDX-License-Identifier: Apache-2.0
//
// Reads what `ace array trace` writes, one line a clock: what goes in, and what has to be seen before the clock's
// edge. Ends with 1 at the first clock that differs.
#include <cinttypes>
#include <cstdio>

#include "Varray_bench.h"

int main(int argc, char **argv) {
  FILE *file = argc > 1 ? std::fopen(argv[1], "r") : nullptr;
  unsigned words = 0;
  if (!file || std::fscanf(file, "%u", &words) != 1) {
    std::fprintf(stderr, "usage: array_bench TRACE\n");
    return 2;
  }
  Varray_bench tile;
  auto clock = [&] {
    tile.clk_i = 1;
    tile.eval();
    tile.clk_i = 0;
    tile.eval();
  };
  tile.rst_ni = 0;
  for (int i = 0; i < 8; i++) clock();
  tile.rst_ni = 1;
  unsigned target, rotate, lane, at, base, read_at, start;
  uint64_t data;
  unsigned long clocks = 0;
  while (std::fscanf(file, "%u %u %u %u %" SCNx64 " %u %u %u", &target, &rotate, &lane, &at, &data, &base, &read_at,
                     &start) == 8) {
    tile.target_i = target;
    tile.rotate_i = rotate;
    tile.lane_i = lane;
    tile.at_i = at;
    tile.data_i = data;
    tile.key_base_i = base;
    tile.read_at_i = read_at;
    tile.eval();
    bool same = tile.start_o == start;
    if (!same) std::printf("clock %lu: start %u, %u wanted\n", clocks, unsigned(tile.start_o), start);
    for (unsigned i = 0; i < words; i++) {
      uint32_t wanted;
      if (std::fscanf(file, "%" SCNx32, &wanted) != 1) return 2;
      if (tile.seen_o[i] != wanted) {
        std::printf("clock %lu: source %u is %08x, %08x wanted\n", clocks, i, unsigned(tile.seen_o[i]), unsigned(wanted));
        same = false;
      }
    }
    if (!same) return 1;
    clock();
    clocks++;
  }
  std::printf("%lu clocks agree\n", clocks);
  return clocks > 0 ? 0 : 2;
}
