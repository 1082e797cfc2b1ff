// SPDX-License-Identifier: Apache-2.0
//
// Standard input: bits of an access and its clocks, the IV, 52 subkeys, the number of blocks, the blocks; hexadecimal but for the first
// two and the number, the first word of a block leftmost. Prints the clocks from start to end, how many accesses read and
// wrote, and the results. Who is outside acknowledges each access after as many clocks.
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
  unsigned width = 0, access = 0, count = 0;
  uint64_t iv = 0;
  if (std::scanf("%u %u %" SCNx64, &width, &access, &iv) != 3 || access == 0 || width == 0 || width > 32) return 2;
  std::vector<unsigned> keys(52);
  for (unsigned &key : keys) {
    if (std::scanf("%x", &key) != 1) return 2;
  }
  if (std::scanf("%u", &count) != 1) return 2;
  std::vector<uint64_t> memory(count), results(count);
  for (uint64_t &block : memory) {
    if (std::scanf("%" SCNx64, &block) != 1) return 2;
    block = turned(block);
  }
  for (int i = 0; i < 300; i++) tick();
  for (unsigned i = 0; i < 52; i++) {
    bench.key_first_i = i == 0;
    bench.key_valid_i = 1;
    bench.key_i = keys[i];
    tick();
  }
  bench.key_valid_i = 0;
  bench.blocks_i = count;
  bench.iv_i = turned(iv);
  bench.start_i = 1;
  tick();
  bench.start_i = 0;
  const unsigned beats = 64 / width;
  const uint64_t mask = (uint64_t(1) << width) - 1;
  uint64_t clocks = 0, reads = 0, writes = 0;
  unsigned waited = 0;
  for (; !bench.done_o && clocks < 4000u * count + 10000; clocks++) {
    bench.ack_i = 0;
    bench.eval();
    if (bench.req_o && ++waited >= access) {
      waited = 0;
      bench.ack_i = 1;
      const uint64_t at = bench.address_o;
      if (at / beats >= count) return 3;
      const unsigned shift = at % beats * width;
      if (bench.write_o) {
        writes++;
        results[at / beats] |= uint64_t(bench.data_o) << shift;
      } else {
        reads++;
        bench.data_i = memory[at / beats] >> shift & mask;
      }
    }
    bench.eval();
    tick();
  }
  if (!bench.done_o) {
    std::printf("stuck\n");
    return 1;
  }
  std::printf("%" PRIu64 " %" PRIu64 " %" PRIu64, clocks, reads, writes);
  for (uint64_t result : results) std::printf(" %016" PRIx64, turned(result));
  std::printf("\n");
  return 0;
}
