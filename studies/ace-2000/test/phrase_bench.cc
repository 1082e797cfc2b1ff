// SPDX-License-Identifier: Apache-2.0
//
// Standard input, decimal: of so many clocks one in which a byte is taken; terminals; the number of codewords and the
// codewords; the number of nodes, and of each its symbol and pointer. Prints the clocks from start to end, whether it was
// a fault, and the bytes.
#include <cstdint>
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

static bool numbers(std::vector<uint64_t> &of) {
  size_t count = 0;
  if (std::scanf("%zu", &count) != 1 || count > 1 << 20) return false;
  of.resize(count);
  for (uint64_t &one : of) {
    unsigned long long value = 0;
    if (std::scanf("%llu", &value) != 1) return false;
    one = value;
  }
  return true;
}

int main() {
  unsigned each = 0, terminals = 0;
  std::vector<uint64_t> index, nodes;
  if (std::scanf("%u %u", &each, &terminals) != 2 || each == 0 || !numbers(index) || !numbers(nodes)) return 2;
  bench.codewords_i = index.size();
  bench.terminals_i = terminals;
  bench.start_i = 1;
  std::vector<unsigned> bytes;
  uint64_t clocks = 0;
  const uint64_t most = 1 << 24;
  for (; clocks < most; clocks++) {
    bench.ready_i = clocks % each == 0;
    bench.eval();
    if (!bench.start_i && bench.done_o) break;
    if (!bench.start_i && bench.valid_o && bench.ready_i) bytes.push_back(bench.byte_o);
    // The memory: what is outside of it reads as zeros.
    const auto &from = bench.read_node_o ? nodes : index;
    const uint64_t word = bench.read_address_o < from.size() ? from[bench.read_address_o] : 0;
    tick();
    bench.read_data_i = word;
    bench.start_i = 0;
    bench.eval();
  }
  std::printf("%llu %d", static_cast<unsigned long long>(clocks), bench.fault_o);
  for (unsigned byte : bytes) std::printf(" %u", byte);
  std::printf("\n");
  return clocks == most;
}
