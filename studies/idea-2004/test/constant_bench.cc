// SPDX-License-Identifier: Apache-2.0
//
// Standard input: the clocks from a block to its result, and blocks, hexadecimal, the first word leftmost. A block is
// given every clock. For each key a line with the results.
#include <cinttypes>
#include <cstdio>
#include <vector>

#include "Vbench.h"

// The first word is in bits 15:0 there.
static uint64_t turned(uint64_t x) {
  return x >> 48 | (x >> 32 & 0xffff) << 16 | (x >> 16 & 0xffff) << 32 | x << 48;
}

int main() {
  static Vbench bench;
  unsigned latency;
  if (std::scanf("%u", &latency) != 1) return 2;
  std::vector<uint64_t> blocks;
  for (uint64_t block; std::scanf("%" SCNx64, &block) == 1;) blocks.push_back(block);
  std::vector<uint64_t> results[4];
  for (size_t clock = 0; clock < blocks.size() + latency; clock++) {
    bench.block_i = clock < blocks.size() ? turned(blocks[clock]) : 0;
    bench.clk_i = 0;
    bench.eval();
    if (clock >= latency) {
      for (int k = 0; k < 4; k++) results[k].push_back(turned(bench.block_o[k]));
    }
    bench.clk_i = 1;
    bench.eval();
  }
  for (const auto &of_key : results) {
    for (uint64_t result : of_key) std::printf("%016" PRIx64 " ", result);
    std::printf("\n");
  }
  return 0;
}
