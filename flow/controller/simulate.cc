// SPDX-License-Identifier: Apache-2.0
//
// The loader of rtl/loader in simulation:
//   loader MEMORY SEED STALL LIST...
// carries out the lists at byte addresses LIST of the file MEMORY, one after the other until one is refused, and prints
// what the configuration port is given. Port, memory and its answers stall with chance STALL of 65536 each, and then
// words take up to 8 clocks. Standard error is the number of clocks of the last list. Exits with 0 if the last list
// ended, 1 if the loader refused one, 2 if a file or an argument cannot be used, 3 if nothing moved for a long time.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iterator>
#include <vector>

#include "Vloader.h"
#include "verilated.h"

namespace {

constexpr uint64_t kPatience = 1 << 16;  // clocks without a byte: more than a dictionary takes
constexpr uint64_t kWordClocks = 8;

class Random {
 public:
  explicit Random(uint64_t seed) : state_{seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du} {}
  uint32_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<uint32_t>((state_ * 0x2545f4914f6cdd1du) >> 48);
  }

 private:
  uint64_t state_;
};

struct Answer {
  uint64_t when;
  uint32_t word;
};

}  // namespace

int main(int argc, char **argv) {
  if (argc < 5) {
    std::fprintf(stderr, "loader MEMORY SEED STALL LIST...\n");
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", argv[1]);
    return 2;
  }
  const std::vector<char> memory{std::istreambuf_iterator<char>(file), {}};
  Random random{std::strtoull(argv[2], nullptr, 10)};
  const uint32_t stall = std::strtoul(argv[3], nullptr, 10);
  const auto stalls = [&] { return stall != 0 && random.next() < stall; };

  VerilatedContext context;
  Vloader top{&context};
  const auto edge = [&] {
    top.clk_i = 1;
    top.eval();
    top.clk_i = 0;
    top.eval();
  };
  top.rst_ni = 0;
  top.clk_i = 0;
  for (int i = 0; i < 4; ++i) edge();
  top.rst_ni = 1;
  std::vector<uint8_t> port;
  std::deque<Answer> answers;
  uint64_t clocks = 0;
  for (int list = 4; list < argc && !top.error_o; ++list) {
    top.list_i = std::strtoul(argv[list], nullptr, 10);
    top.start_i = 1;
    uint64_t moved = clocks = 0;
    do {
      top.r_ready_i = !stalls();
      top.r_valid_i = !answers.empty() && answers.front().when <= clocks && !stalls();
      top.r_data_i = top.r_valid_i ? answers.front().word : random.next();
      top.p_ready_i = !stalls();
      top.eval();
      if (top.r_valid_i) answers.pop_front();
      if (top.r_valid_o && top.r_ready_i) {
        uint32_t word = 0;
        for (int i = 3; i >= 0; --i) {
          const size_t at = size_t{top.r_address_o} * 4 + i;
          word = word << 8 | (at < memory.size() ? static_cast<uint8_t>(memory[at]) : 0xa5u);
        }
        answers.push_back({clocks + 1 + (stall != 0 ? random.next() % kWordClocks : 0), word});
      }
      if (top.p_valid_o && top.p_ready_i) {
        port.push_back(top.p_data_o);
        moved = clocks;
      }
      edge();
      top.start_i = 0;
      ++clocks;
      if (clocks - moved > kPatience) {
        std::fprintf(stderr, "nothing moves\n");
        return 3;
      }
    } while (top.busy_o);
    for (Answer &answer : answers) answer.when = 0;
  }
  std::fwrite(port.data(), 1, port.size(), stdout);
  std::fprintf(stderr, "%llu\n", static_cast<unsigned long long>(clocks));
  return top.error_o ? 1 : 0;
}
