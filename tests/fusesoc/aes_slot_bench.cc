// SPDX-License-Identifier: Apache-2.0
//
// A block of FIPS 197, appendix C.1, through aes_slot as FuseSoC builds it: docs/slot.md, "Worked examples".
#include <cstdint>
#include <cstdio>
#include <vector>

#include "Vaes_slot.h"
#include "verilated.h"

namespace {

// Byte 0 of a beat is tdata[7:0].
uint64_t beat(uint64_t as_written) { return __builtin_bswap64(as_written); }

const std::vector<uint64_t> kRequest = {
    0x0111021001000000, 0x1000000000000000, 0x0001020304050607,
    0x08090a0b0c0d0e0f, 0x0011223344556677, 0x8899aabbccddeeff,
};
const std::vector<uint64_t> kResponse = {0x69c4e0d86a7b0430, 0xd8cdb78070b4c55a, 0x1000000001000000};
const int kMostClocks = 2000;

}  // namespace

int main(int argc, char** argv) {
  Verilated::commandArgs(argc, argv);
  Vaes_slot slot;
  auto clock = [&slot] {
    slot.clk_i = 1;
    slot.eval();
    slot.clk_i = 0;
    slot.eval();
  };
  slot.clk_i = 0;
  slot.rst_ni = 0;
  slot.s_axis_tvalid = 0;
  slot.m_axis_tready = 1;
  slot.eval();
  clock();
  slot.rst_ni = 1;
  size_t sent = 0, got = 0;
  for (int now = 0; now < kMostClocks && got < kResponse.size(); ++now) {
    slot.s_axis_tvalid = sent < kRequest.size();
    slot.s_axis_tdata = sent < kRequest.size() ? beat(kRequest[sent]) : 0;
    slot.s_axis_tlast = sent + 1 == kRequest.size();
    slot.eval();
    const bool taken = slot.s_axis_tvalid && slot.s_axis_tready;
    if (slot.m_axis_tvalid) {
      if (slot.m_axis_tdata != beat(kResponse[got])) {
        std::printf("beat %zu: %016llx, %016llx wanted\n", got,
                    static_cast<unsigned long long>(beat(slot.m_axis_tdata)),
                    static_cast<unsigned long long>(kResponse[got]));
        return 1;
      }
      ++got;
    }
    clock();
    sent += taken;
  }
  if (got < kResponse.size()) {
    std::printf("%zu beats taken and %zu answered in %d clocks\n", sent, got, kMostClocks);
    return 1;
  }
  std::printf("aes_slot answers FIPS 197, C.1\n");
  return 0;
}
