// SPDX-License-Identifier: Apache-2.0
//
// Standard input: 52 subkeys, the number of blocks, the blocks, hexadecimal, the first word of a block leftmost. For
// each data path a line: the clocks from a block to its result, the clocks from one result to the next, the results.
// And a line for the phase: what it makes of the blocks under the first six subkeys.
#include <cinttypes>
#include <cstdio>
#include <vector>

#include "Vbench.h"

static Vbench bench;

static void tick() {
  bench.clk_i = 1;
  bench.eval();
  bench.clk_i = 0;
  bench.eval();
}

// The first word is in bits 15:0 there.
static uint64_t turned(uint64_t x) {
  return x >> 48 | (x >> 32 & 0xffff) << 16 | (x >> 16 & 0xffff) << 32 | x << 48;
}

int main() {
  std::vector<unsigned> keys(52);
  unsigned count = 0;
  for (unsigned &key : keys) {
    if (std::scanf("%x", &key) != 1) return 2;
  }
  if (std::scanf("%u", &count) != 1) return 2;
  std::vector<uint64_t> blocks(count);
  for (uint64_t &block : blocks) {
    if (std::scanf("%" SCNx64, &block) != 1) return 2;
  }
  for (int i = 0; i < 300; i++) tick();
  for (unsigned i = 0; i < 52; i++) {
    bench.key_first_i = i == 0;
    bench.key_valid_i = 1;
    bench.key_i = keys[i];
    tick();
  }
  bench.key_valid_i = 0;
  for (int path = 0; path < 4; path++) {
    std::vector<uint64_t> results;
    std::vector<unsigned> taken, made;
    unsigned next = 0;
    for (unsigned now = 0; results.size() < count && now < 1000 + 200 * count; now++) {
      bench.start_i = 0;
      bench.eval();
      if (bench.valid_o >> path & 1) {
        results.push_back(turned(bench.block_o[path]));
        made.push_back(now);
      }
      if (next < count && (bench.ready_o >> path & 1)) {
        bench.start_i = 1 << path;
        bench.block_i = turned(blocks[next++]);
        taken.push_back(now);
      }
      tick();
    }
    if (results.size() < count || count < 2) {
      std::printf("stuck\n");
      continue;
    }
    std::printf("%u %u", made[0] - taken[0], made[1] - made[0]);
    for (uint64_t result : results) std::printf(" %016" PRIx64, result);
    std::printf("\n");
  }
  for (uint64_t block : blocks) {
    bench.x_i = turned(block);
    for (int w = 0; w < 3; w++) bench.z_i[w] = keys[2 * w] | keys[2 * w + 1] << 16;
    bench.eval();
    std::printf("%016" PRIx64 " ", turned(bench.y_o));
  }
  std::printf("\n");
  return 0;
}
