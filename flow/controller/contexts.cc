// SPDX-License-Identifier: Apache-2.0
//
// The decoder of small streams of rtl/loader in simulation:
//   contexts TABLES STREAM FRAMES SEED STALL
// takes the tables of the first file and decodes the second one, of which the third says, in a line each, the place of
// a frame in its column and how many frames before it are left out; it prints the frames. Bytes and room stall with
// chance STALL of 65536 each. Standard error is the number of clocks from the stream's beginning on. Exits with 0 if
// all frames came, 1 if it refused tables or stream, 2 if a file or an argument cannot be used, 3 if nothing moved for
// a long time.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "Vcontexts.h"
#include "verilated.h"

namespace {

constexpr uint64_t kPatience = 1 << 12;  // clocks in which nothing moves
constexpr uint32_t kClear = 1 << 13, kActive = 1 << 12, kDictionary = 1 << 11, kLast = 1 << 10;
constexpr uint32_t kValid = 1 << 9, kBehind = 1 << 8;
constexpr uint32_t kNext = 4, kDone = 2, kError = 1;

std::vector<uint8_t> read(const char *path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", path);
    std::exit(2);
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 6) {
    std::fprintf(stderr, "contexts TABLES STREAM FRAMES SEED STALL\n");
    return 2;
  }
  const std::vector<uint8_t> tables = read(argv[1]), stream = read(argv[2]);
  std::vector<std::pair<int, int>> frames;
  {
    std::ifstream file(argv[3]);
    int column, gap;
    while (file >> column >> gap) frames.emplace_back(column, gap);
  }
  uint64_t state = std::strtoull(argv[4], nullptr, 10) * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du;
  const uint32_t stall = std::strtoul(argv[5], nullptr, 10);
  const auto stalls = [&] {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return stall != 0 && ((state * 0x2545f4914f6cdd1du) >> 48) < stall;
  };

  VerilatedContext context;
  Vcontexts top{&context};
  std::vector<uint8_t> out;
  uint64_t bits = 0, clocks = 0;
  int count = 0, first_bits = FILL_BITS;
  const auto put = [&](uint32_t value, int width) {
    bits = bits << width | value;
    for (count += width; count >= 8; count -= 8) out.push_back(bits >> (count - 8));
  };
  // Gives the bytes until it is done; the number of them that were taken tells which comes next.
  const auto run = [&](const std::vector<uint8_t> &bytes, bool dictionary) {
    std::size_t at = 0, frame = 0;
    uint64_t moved = clocks = 0;
    bool offered = false;
    top.s_i = 0;
    for (int clear = 2; clear >= 0; --clear) {
      top.req_i = (clear != 0 ? kClear : kActive) | (dictionary ? kDictionary : 0);
      if (clear == 0) break;
      top.clk_i = 0;
      top.eval();
      top.clk_i = 1;
      top.eval();
    }
    while (true) {
      const bool last = !dictionary && frame + 1 >= frames.size();
      top.req_i = kActive | (dictionary ? kDictionary : 0) | (last ? kLast : 0);
      if (frame < frames.size()) {
        top.column_i = frames[frame].first;
        top.gap_i = frames[frame].second;
      }
      // A byte that was offered stays.
      if (!offered) offered = !stalls();
      top.s_i = !offered ? 0 : kValid | (at < bytes.size() ? bytes[at] : kBehind);
      top.m_room_i = !stalls();
      top.clk_i = 0;
      top.eval();
      const bool taken = offered && top.s_ready_o;
      const uint32_t said = top.rsp_o, cell = top.m_o;
      if (said & kError) return 1;
      if (cell >> 27 & 1) {
        const int kind = cell >> 24 & 7;
        if (first_bits != 0) put(0, first_bits), first_bits = 0;
        const uint32_t high = cell >> 12 & 0xfff, low = cell & 0xfff;
        // Head, Pair, One, Two, Low.
        static constexpr int kWidth[] = {1, 12, 12, 2, 1};
        put(high, kWidth[kind]);
        if (kind == 1) put(low, 12);
        if (kind == 4) first_bits = FILL_BITS;
      }
      if (said & kDone) return 0;
      if (!dictionary && said & kNext) ++frame;
      if (taken) ++at, offered = false;
      if (taken || said & kNext || cell >> 27 & 1) moved = clocks;
      if (clocks - moved > kPatience) return 3;
      top.clk_i = 1;
      top.eval();
      ++clocks;
    }
  };
  int code = run(tables, true);
  if (code == 0 && !frames.empty()) code = run(stream, false);
  std::fwrite(out.data(), 1, out.size(), stdout);
  std::fprintf(stderr, "%llu\n", static_cast<unsigned long long>(clocks));
  return code;
}
