// SPDX-License-Identifier: Apache-2.0
//
// RV32IM as its manual has it, an instruction at a time: what the core is held against.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

class Iss {
 public:
  explicit Iss(std::vector<uint32_t> words) : memory_(std::move(words)) {}

  uint32_t pc = 0;
  uint32_t x[32] = {};
  // Of the last instruction: whether it wrote a register, and what.
  bool wrote = false;
  uint32_t value = 0;

  // False if there is no such instruction.
  bool step() {
    const uint32_t i = memory_.at(pc / 4), a = x[i >> 15 & 31], b = x[i >> 20 & 31], rd = i >> 7 & 31;
    const int32_t imm_i = int32_t(i) >> 20, imm_s = (int32_t(i) >> 25) * 32 + int32_t(rd);
    const uint32_t f3 = i >> 12 & 7, f7 = i >> 25;
    uint32_t next = pc + 4, result = 0;
    bool write = true;
    switch (i & 127) {
      case 0x37: result = i & ~0xfffu; break;
      case 0x17: result = pc + (i & ~0xfffu); break;
      case 0x6f:
        result = next;
        next = pc + ((int32_t(i) >> 31) * 0x100000 | int32_t(i & 0xff000) | int32_t(i >> 9 & 0x800) |
                     int32_t(i >> 20 & 0x7fe));
        break;
      case 0x67:
        result = next;
        next = (a + imm_i) & ~1u;
        break;
      case 0x63: {
        const int32_t offset = (int32_t(i) >> 31) * 0x1000 | int32_t(i << 4 & 0x800) | int32_t(i >> 20 & 0x7e0) |
                               int32_t(i >> 7 & 0x1e);
        const bool less = f3 & 2 ? a < b : int32_t(a) < int32_t(b);
        const bool holds = f3 & 4 ? less : a == b;
        if (holds != bool(f3 & 1)) next = pc + offset;
        write = false;
        break;
      }
      case 0x03: {
        const uint32_t at = a + imm_i, word = memory_.at(at / 4) >> at % 4 * 8;
        result = f3 == 0 ? int8_t(word) : f3 == 1 ? int16_t(word) : f3 == 4 ? uint8_t(word) : f3 == 5 ? uint16_t(word) : word;
        break;
      }
      case 0x23: {
        const uint32_t at = a + imm_s, mask = (f3 == 0 ? 0xffu : f3 == 1 ? 0xffffu : ~0u) << at % 4 * 8;
        uint32_t &word = memory_.at(at / 4);
        word = (word & ~mask) | (b << at % 4 * 8 & mask);
        write = false;
        break;
      }
      case 0x13: result = simple(f3, a, uint32_t(imm_i), f3 == 5 && i >> 30 & 1); break;
      case 0x33: result = f7 == 1 ? multiply(f3, a, b) : simple(f3, a, b, i >> 30 & 1); break;
      default: return false;
    }
    wrote = write && rd != 0;
    value = result;
    if (wrote) x[rd] = result;
    pc = next;
    return true;
  }

 private:
  std::vector<uint32_t> memory_;

  static uint32_t simple(uint32_t f3, uint32_t a, uint32_t b, bool other) {
    switch (f3) {
      case 0: return other ? a - b : a + b;
      case 1: return a << (b & 31);
      case 2: return int32_t(a) < int32_t(b);
      case 3: return a < b;
      case 4: return a ^ b;
      case 5: return other ? uint32_t(int32_t(a) >> (b & 31)) : a >> (b & 31);
      case 6: return a | b;
      default: return a & b;
    }
  }

  static uint32_t multiply(uint32_t f3, uint32_t a, uint32_t b) {
    const int64_t sa = int32_t(a), sb = int32_t(b);
    switch (f3) {
      case 0: return a * b;
      case 1: return uint64_t(sa * sb) >> 32;
      case 2: return uint64_t(sa * int64_t(b)) >> 32;
      case 3: return uint64_t(a) * b >> 32;
      case 4: return b == 0 ? ~0u : uint32_t(sa / sb);
      case 5: return b == 0 ? ~0u : a / b;
      case 6: return b == 0 ? a : uint32_t(sa % sb);
      default: return b == 0 ? a : a % b;
    }
  }
};
