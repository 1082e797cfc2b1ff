// SPDX-License-Identifier: Apache-2.0
//
// bench random SEED COUNT
//   So many random instructions on core and instruction-set simulator side by side: prints how many agreed, or where
//   they did not.
// bench run IMAGE CLOCKS UNIT SET REFUSE [FROM:TO …] [AT=WORDS …]
//   A program (words in hexadecimal, from address 0) until it halts, at most so long; MixColumns in the unit takes UNIT
//   clocks; a set takes SET clocks, or what
//   CLOCKS,MASK=CLOCKS,… says for the operations that it is for (hexadecimal, 10000 more for a partial set), or with
//   @FILE is carried out by the loader (loader.h); the set of number REFUSE (from 1) is refused. Prints why it halted,
//   clocks, instructions, sets, what they took and the port's bytes; a line of the out-of-order model's clocks (outorder.h)
//   and of those at which the cycle counter was read; a line for each range of addresses with the clocks
//   its instructions took; a line for each piece of memory.
// bench load FILE LIST
//   What the list at this address has the loader write to the port.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "Vbench.h"
#include "iss.h"
#include "loader.h"
#include "outorder.h"

namespace {

constexpr uint32_t kData = 0x8000, kWords = 64, kMemory = 1 << 14;

Vbench bench;

void edge() {
  bench.clk_i = 1;
  bench.eval();
  bench.clk_i = 0;
  bench.eval();
}

void load(const std::vector<uint32_t> &words) {
  bench.rst_ni = 1;
  bench.eval();
  bench.rst_ni = 0;
  bench.load_i = 1;
  for (uint32_t i = 0; i < words.size(); i++) {
    bench.load_at_i = i;
    bench.load_data_i = words[i];
    edge();
  }
  bench.load_i = 0;
  edge();
  bench.rst_ni = 1;
  bench.eval();
}

std::vector<uint32_t> random_program(uint64_t seed, unsigned count) {
  std::mt19937_64 random(seed);
  auto below = [&](unsigned n) { return unsigned(random() % n); };
  std::vector<uint32_t> words;
  auto reg = [&] { return below(30); };
  auto type_i = [](uint32_t op, uint32_t rd, uint32_t f3, uint32_t rs, uint32_t imm) {
    return op | rd << 7 | f3 << 12 | rs << 15 | imm << 20;
  };
  // x31 is where the data are; x30 is for jumps. The others begin with what is special about numbers.
  words.push_back(0x37 | 31 << 7 | kData);
  for (uint32_t r = 1; r < 30; r++) {
    const uint32_t special[] = {0, ~0u, 1u << 31, (1u << 31) - 1, 1, uint32_t(random())};
    const uint32_t value = special[below(6)], low = value & 0xfff;
    words.push_back(0x37 | r << 7 | ((value + 0x800) & ~0xfffu));
    words.push_back(type_i(0x13, r, 0, r, low));
  }
  while (words.size() < count) {
    switch (below(10)) {
      case 0: case 1: {
        uint32_t f3 = below(8), imm = below(4096);
        if (f3 == 1) imm &= 31;
        if (f3 == 5) imm = (imm & 31) | below(2) << 10;
        words.push_back(type_i(0x13, reg(), f3, reg(), imm));
        break;
      }
      case 2: case 3: {
        const uint32_t f3 = below(8), f7 = f3 == 0 || f3 == 5 ? below(2) << 5 : 0;
        words.push_back(type_i(0x33, reg(), f3, reg(), reg() | f7 << 5));
        break;
      }
      case 4: case 5: words.push_back(type_i(0x33, reg(), below(8), reg(), reg() | 1 << 5)); break;
      case 6: {
        const uint32_t kinds[] = {0, 1, 2, 4, 5}, f3 = kinds[below(5)], size = 1u << (f3 & 3);
        words.push_back(type_i(0x03, reg(), f3, 31, below(kWords * 4 / size) * size));
        break;
      }
      case 7: {
        const uint32_t f3 = below(3), at = below(kWords * 4 >> f3) << f3;
        words.push_back(0x23 | (at & 31) << 7 | f3 << 12 | 31u << 15 | reg() << 20 | (at >> 5) << 25);
        break;
      }
      case 8: {
        const uint32_t kinds[] = {0, 1, 4, 5, 6, 7}, skip = 4 * (1 + below(4));
        words.push_back(0x63 | skip << 7 | kinds[below(6)] << 12 | reg() << 15 | reg() << 20);
        break;
      }
      default:
        if (below(2)) {
          words.push_back(0x6f | reg() << 7 | 4 * (1 + below(3)) << 20);
        } else if (below(2)) {
          words.push_back(0x17 | reg() << 7 | below(1 << 20) << 12);
        } else {
          // Nothing jumps between the two: who came with an older x30 would go back.
          for (int i = 0; i < 4; i++) words.push_back(0x13);
          words.push_back(0x17 | 30 << 7);
          words.push_back(type_i(0x67, reg(), 0, 30, 8 + 4 * below(3) + below(2)));
        }
    }
  }
  // Whatever jumps at the end lands here; what was stored is looked at.
  for (int i = 0; i < 8; i++) words.push_back(0x13);
  for (uint32_t w = 0; w < kWords; w++) words.push_back(type_i(0x03, 1, 2, 31, 4 * w));
  words.push_back(0x100073);
  if (words.size() * 4 > kData) std::abort();
  words.resize(kMemory);
  for (uint32_t w = 0; w < kWords; w++) words[kData / 4 + w] = uint32_t(random());
  return words;
}

int random_run(uint64_t seed, unsigned count) {
  const std::vector<uint32_t> words = random_program(seed, count);
  Iss iss(words);
  load(words);
  unsigned agreed = 0;
  for (unsigned clock = 0; clock < 40 * count + 10000 && !bench.halted_o; clock++) {
    if (bench.retire_o) {
      const uint32_t at = iss.pc;
      const bool known = iss.step();
      if (!known || bench.retire_pc_o != at || bool(bench.retire_write_o) != iss.wrote ||
          (iss.wrote && bench.retire_data_o != iss.value)) {
        std::printf("at %08x (core: %08x) instruction %08x: wrote %d %08x, wanted %d %08x\n", at, bench.retire_pc_o,
                    words[at / 4], bench.retire_write_o, bench.retire_data_o, iss.wrote, iss.value);
        return 1;
      }
      agreed++;
    }
    edge();
  }
  if (!bench.halted_o || bench.cause_o != 0 || words[iss.pc / 4] != 0x100073) {
    std::printf("no end: cause %d at %08x\n", bench.cause_o, iss.pc);
    return 1;
  }
  std::printf("%u\n", agreed);
  return 0;
}

struct Range {
  uint32_t from, to;
  uint64_t clocks = 0;
};

int run(int count, char **arguments) {
  std::FILE *file = std::fopen(arguments[0], "r");
  if (!file) {
    std::fprintf(stderr, "bench: cannot read %s\n", arguments[0]);
    return 2;
  }
  std::vector<uint32_t> words;
  for (uint32_t word; std::fscanf(file, "%" SCNx32, &word) == 1;) words.push_back(word);
  std::fclose(file);
  if (words.size() > kMemory) {
    std::fprintf(stderr, "bench: %s is larger than the memory\n", arguments[0]);
    return 2;
  }
  words.resize(kMemory);
  const uint64_t most = std::strtoull(arguments[1], nullptr, 10);
  bench.more_clocks_i = std::strtoul(arguments[2], nullptr, 10) - 1;
  std::unique_ptr<Library> library;
  if (arguments[3][0] == '@') library = std::make_unique<Library>(arguments[3] + 1);
  const Sets set(library ? "0" : arguments[3]);
  const unsigned long refuse = std::strtoul(arguments[4], nullptr, 10);
  std::vector<Range> ranges;
  for (int i = 5; i < count; i++) {
    Range range;
    if (std::sscanf(arguments[i], "%" SCNx32 ":%" SCNx32, &range.from, &range.to) == 2) ranges.push_back(range);
  }
  load(words);
  uint64_t clocks = 0, instructions = 0, left = 0, taken = 0;
  uint32_t can = 0, wanted = 0;
  unsigned long sets = 0;
  // Registers as the core has them, for the addresses of what it loads and stores.
  uint32_t x[32] = {}, held[3] = {};
  bool holds = false;
  OutOfOrder outorder(bench.more_clocks_i + 1);
  if (library) library->begin(bench);
  const uint64_t behind = library ? library->begun() : 0;
  while (!bench.halted_o && clocks < most) {
    if (library) library->until(bench, behind + clocks * library->machine_ps);
    bench.eval();
    instructions += bench.retire_o;
    if (bench.retire_o) {
      const uint32_t pc = bench.retire_pc_o, word = words.at(pc / 4 % kMemory);
      if (holds) outorder.retire(held[0], held[1], held[2], pc);
      const int32_t imm = (word & 127) == 0x23 ? (int32_t(word) >> 25) * 32 + int32_t(word >> 7 & 31) : int32_t(word) >> 20;
      held[0] = pc, held[1] = word, held[2] = x[word >> 15 & 31] + imm, holds = true;
      if (bench.retire_write_o) x[word >> 7 & 31] = bench.retire_data_o;
    }
    for (Range &range : ranges) range.clocks += bench.retire_pc_o >= range.from && bench.retire_pc_o < range.to;
    bool ends = left == 1;
    if (library && library->under_way()) {
      ends = library->ended(bench);
      taken++;
      if (ends) can = library->end(bench);
    }
    bench.set_done_i = ends;
    bench.set_refused_i = ends && (sets == refuse || (wanted & ~can) != 0);
    bench.set_can_i = can;
    bench.eval();
    if (left > 0) left--;
    if (bench.set_o) {
      wanted = bench.set_mask_o;
      if (library) {
        library->start(bench, bench.set_list_o, bench.set_partial_o);
      } else {
        // A part leaves the rest as it is.
        can = (bench.set_partial_o ? can : 0) | wanted;
        left = set.clocks(wanted, bench.set_partial_o) + 1;
        taken += left - 1;
      }
      sets++;
    }
    edge();
    clocks++;
  }
  std::printf("%d %" PRIu64 " %" PRIu64 " %lu %" PRIu64 " %" PRIu64 "\n", bench.halted_o ? bench.cause_o : -1, clocks,
              instructions, sets, taken, library ? library->bytes() : 0);
  if (holds) outorder.retire(held[0], held[1], held[2], held[0] + 4);
  std::printf("%" PRIu64, outorder.clocks());
  for (const uint64_t mark : outorder.marks) std::printf(" %" PRIu64, mark);
  std::printf("\n");
  for (const Range &range : ranges) std::printf("%" PRIu64 "\n", range.clocks);
  for (int i = 5; i < count; i++) {
    uint32_t at, n;
    if (std::sscanf(arguments[i], "%" SCNx32 "=%" SCNu32, &at, &n) != 2) continue;
    for (uint32_t w = at / 4; w < at / 4 + n && w < kMemory; w++) {
      bench.look_i = w;
      bench.eval();
      std::printf("%08x ", bench.look_o);
    }
    std::printf("\n");
  }
  return 0;
}

}  // namespace

int main(int count, char **arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  if (what == "random" && count == 4) {
    return random_run(std::strtoull(arguments[2], nullptr, 10), std::strtoul(arguments[3], nullptr, 10));
  }
  if (what == "run" && count >= 7) return run(count - 2, arguments + 2);
  if (what == "load" && count == 4) {
    load({});
    return Library(arguments[2]).write(bench, std::strtoul(arguments[3], nullptr, 10), stdout) ? 0 : 1;
  }
  std::fprintf(stderr, "usage: bench random SEED COUNT | bench run IMAGE CLOCKS UNIT SET REFUSE [FROM:TO …] [AT=WORDS …] | bench load FILE LIST\n");
  return 2;
}
