/* SPDX-License-Identifier: Apache-2.0
 *
 * What stands at the board's pins: the wire in both directions and the PHY's management. Without a clock of its own: the
 * board's model asks for the next byte, shows it what leaves, and says what the management pins are. */
#ifndef ACE_BOARD_PHY_H
#define ACE_BOARD_PHY_H

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

namespace ace {

using Bytes = std::vector<uint8_t>;

inline uint32_t crc32(const uint8_t* bytes, size_t length) {
  uint32_t crc = ~0u;
  for (size_t i = 0; i < length; i++) {
    crc ^= bytes[i];
    for (int k = 0; k < 8; k++) crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

/* xorshift64*: everything random follows from the seed. */
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 2654435761u + 88172645463325252u) {}
  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 2685821657736338717u;
  }
  uint64_t below(uint64_t n) { return (next() >> 16) % n; }
  bool in_a_million(uint32_t chance) { return below(1000000) < chance; }

 private:
  uint64_t state_;
};

/* A byte on the wire to the board, with the PHY's error beside it. */
struct WireByte {
  uint8_t value;
  bool error;
};

/* Frames to the board. */
class In {
 public:
  explicit In(Random& random) : random_(random) {}
  struct Frame {
    uint64_t number;
    Bytes bytes; /* from the preamble on */
    size_t error_at;
    bool lost;
  };
  uint64_t send(const uint8_t* bytes, size_t length, uint32_t how, size_t error_at);
  size_t waiting() const { return frames_.size(); }
  /* What is on the wire in this clock: false in a gap. */
  bool next(WireByte& byte, uint64_t now, bool ready);

  std::vector<uint64_t> ended;
  uint64_t frames = 0, lost = 0, broken = 0;
  uint32_t lose = 0, breaks = 0;

 private:
  Random& random_;
  std::deque<Frame> frames_;
  size_t at_ = 0;
  int gap_ = 0;
};

/* Frames from the board. */
class Out {
 public:
  explicit Out(Random& random) : random_(random) {}
  struct Frame {
    Bytes bytes;
    uint64_t begun;
  };
  /* A byte clock of the board's transmit side. */
  void clock(bool valid, bool error, uint8_t byte, uint64_t now);
  void cut(); /* by a reset */

  std::deque<Frame> taken;
  uint64_t frames = 0, lost = 0, broken = 0, wrong = 0, close = 0;
  uint32_t lose = 0, breaks = 0;

 private:
  void whole();
  Random& random_;
  Bytes bytes_;
  uint64_t begun_ = 0, gap_ = 1000;
  bool error_ = false;
};

/* MDIO, clause 22 of IEEE 802.3, of a PHY with address 0. */
class Management {
 public:
  Management() { reset(); }
  void reset();
  /* A rising edge of MDC; the bit that the board drives, 1 where it drives none. */
  void rise(bool bit);
  /* What the PHY drives between edges: the pull-up's 1 where it drives nothing. */
  bool drives() const { return drives_; }
  std::array<uint16_t, 32> registers;

 private:
  unsigned ones_, bits_;
  uint32_t word_;
  uint16_t answer_;
  bool drives_;
};

}  // namespace ace
#endif
