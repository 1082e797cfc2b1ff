// SPDX-License-Identifier: Apache-2.0
//
// The netlist of a constant key. Standard input: the clocks from a block to its result, how many kept LUTs there are, what
// each holds, and blocks, hexadecimal, the first word leftmost; a block is given every clock. Prints the results.
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
  unsigned latency, luts;
  if (std::scanf("%u %u", &latency, &luts) != 2 || luts * 16 > sizeof bench.held_i * 8) return 2;
  for (unsigned lut = 0; lut < luts; lut++) {
    uint32_t held;
    if (std::scanf("%" SCNx32, &held) != 1) return 2;
    bench.held_i[lut / 2] |= held << (lut % 2 ? 16 : 0);
  }
  std::vector<uint64_t> blocks;
  for (uint64_t block; std::scanf("%" SCNx64, &block) == 1;) blocks.push_back(block);
  for (size_t clock = 0; clock < blocks.size() + latency; clock++) {
    bench.block_i = clock < blocks.size() ? turned(blocks[clock]) : 0;
    bench.clk_i = 0;
    bench.eval();
    if (clock >= latency) std::printf("%016" PRIx64 "\n", turned(bench.block_o));
    bench.clk_i = 1;
    bench.eval();
  }
  return 0;
}
