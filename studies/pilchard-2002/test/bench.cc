// SPDX-License-Identifier: Apache-2.0
//
// Reads requests, one a line, and prints what the RTL of this study does:
//   des KEY BLOCK DECRYPT           the result of each core in turn, and its clocks
//   port P N DECRYPT READ SEED      a block of N random words through interface P, read from the moment of completion
//                                   every READ clocks: that moment, how many words read differ from what stands there
//                                   in the end; of interface 0 the key, the vector, the words and the results besides
// Numbers are decimal, blocks 16 hexadecimal digits, byte 0 first.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "Vbench.h"

static Vbench bench;
static unsigned long now;

static void tick() {
  bench.clk_i = 1;
  bench.eval();
  bench.clk_i = 0;
  bench.eval();
  now++;
}

static uint64_t swapped(uint64_t x) { return __builtin_bswap64(x); }

static void put(unsigned address, uint64_t data) {
  bench.write_i = 1;
  bench.address_i = address;
  bench.data_i = data;
  tick();
  bench.write_i = 0;
}

static void des(uint64_t key, uint64_t block, int decrypt) {
  constexpr int kCores = 6;
  bench.key_i = swapped(key);
  bench.block_i = swapped(block);
  bench.decrypt_i = decrypt;
  bench.start_i = 1;
  tick();
  bench.start_i = 0;
  unsigned seen = 0, clocks[kCores] = {};
  uint64_t result[kCores] = {};
  for (unsigned c = 1; c < 40; c++) {
    for (int i = 0; i < kCores; i++) {
      if ((bench.valid_o >> i & 1) && !(seen >> i & 1)) {
        seen |= 1u << i;
        result[i] = bench.block_o[i];
        clocks[i] = c;
      }
    }
    tick();
  }
  for (int i = 0; i < kCores; i++) std::printf("%016" PRIx64 " %u ", swapped(result[i]), clocks[i]);
  std::printf("\n");
}

static void port(unsigned p, unsigned n, int decrypt, unsigned read, uint64_t seed) {
  std::mt19937_64 random(seed);
  uint64_t secret[4];
  std::vector<uint64_t> words(n), got(n), last(n);
  for (unsigned i = 0; i < 4; i++) put(248 + i, secret[i] = random());
  for (unsigned i = 0; i < n; i++) put(i, words[i] = random());
  put(252, n | decrypt << 8);
  unsigned long start = now - 1;  // the start's clock is clock 0
  while (!(bench.complete_o >> p & 1)) {
    if (now - start > 1000000) {
      std::printf("never\n");
      return;
    }
    tick();
  }
  unsigned long moment = now - start;
  for (unsigned i = 0; i < n; i++) {
    bench.address_i = i;
    tick();
    got[i] = bench.data_o[p];
    for (unsigned c = 1; c < read; c++) tick();
  }
  for (unsigned i = 0; i < 16 * 248; i++) tick();
  unsigned differ = 0;
  for (unsigned i = 0; i < n; i++) {
    bench.address_i = i;
    tick();
    last[i] = bench.data_o[p];
    differ += last[i] != got[i];
  }
  std::printf("%lu %u", moment, differ);
  if (p == 0) {
    for (uint64_t s : secret) std::printf(" %016" PRIx64, swapped(s));
    for (uint64_t w : words) std::printf(" %016" PRIx64, swapped(w));
    for (uint64_t w : last) std::printf(" %016" PRIx64, swapped(w));
  }
  std::printf("\n");
}

int main() {
  bench.rst_ni = 0;
  for (int i = 0; i < 8; i++) tick();
  bench.rst_ni = 1;
  char what[8];
  while (std::scanf("%7s", what) == 1) {
    uint64_t key, block, seed;
    unsigned p, n, read;
    int decrypt;
    if (!std::strcmp(what, "des") && std::scanf("%" SCNx64 " %" SCNx64 " %d", &key, &block, &decrypt) == 3) {
      des(key, block, decrypt);
    } else if (!std::strcmp(what, "port") &&
               std::scanf("%u %u %d %u %" SCNu64, &p, &n, &decrypt, &read, &seed) == 5) {
      port(p, n, decrypt, read, seed);
    } else {
      std::fprintf(stderr, "bench: unknown request %s\n", what);
      return 2;
    }
  }
  return 0;
}
