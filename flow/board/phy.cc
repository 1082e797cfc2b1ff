/* SPDX-License-Identifier: Apache-2.0 */
#include "phy.h"

#include <algorithm>

#include "board_model.h"

namespace ace {

namespace {
constexpr size_t kPreamble = 8, kLeast = 60, kFcs = 4, kGap = 12;
}

uint64_t In::send(const uint8_t* bytes, size_t length, uint32_t how, size_t error_at) {
  Frame frame{ended.size() + 1, {}, how == ACE_BOARD_ERROR ? error_at : SIZE_MAX, false};
  ended.push_back(0);
  if (how == ACE_BOARD_RAW) {
    frame.bytes.assign(bytes, bytes + length);
  } else {
    frame.bytes.assign(kPreamble - 1, 0x55);
    frame.bytes.push_back(0xD5);
    frame.bytes.insert(frame.bytes.end(), bytes, bytes + length);
    frame.bytes.resize(std::max(frame.bytes.size(), kPreamble + kLeast), 0);
    uint32_t crc = crc32(frame.bytes.data() + kPreamble, frame.bytes.size() - kPreamble);
    for (int i = 0; i < 4; i++) frame.bytes.push_back(uint8_t(crc >> (8 * i)));
    frame.lost = random_.in_a_million(lose);
    if (random_.in_a_million(breaks) && !frame.lost) {
      size_t at = kPreamble + random_.below(frame.bytes.size() - kPreamble);
      frame.bytes[at] = uint8_t(frame.bytes[at] ^ 1u << random_.below(8));
      broken++;
    }
  }
  if (frame.lost) lost++;
  frames_.push_back(frame);
  return ended.size();
}

bool In::next(WireByte& byte, uint64_t now, bool ready) {
  if (gap_) {
    gap_--;
    return false;
  }
  if (frames_.empty() || (at_ == 0 && !ready)) return false;
  Frame& frame = frames_.front();
  bool there = at_ < frame.bytes.size() && !frame.lost;
  if (there) byte = {frame.bytes[at_], at_ == frame.error_at};
  if (++at_ >= frame.bytes.size()) {
    if (!frame.lost) {
      frames++;
      ended[frame.number - 1] = now;
    }
    at_ = 0;
    gap_ = kGap;
    frames_.pop_front();
  }
  return there;
}

void Out::clock(bool valid, bool error, uint8_t byte, uint64_t now) {
  if (valid) {
    if (bytes_.empty()) {
      begun_ = now;
      error_ = false;
      if (gap_ < kGap) close++;
    }
    error_ |= error;
    bytes_.push_back(byte);
    gap_ = 0;
    return;
  }
  gap_++;
  if (!bytes_.empty()) whole();
  bytes_.clear();
}

void Out::cut() {
  bytes_.clear();
  gap_ = 1000;
}

void Out::whole() {
  static const Bytes preamble{0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0xD5};
  bool right = bytes_.size() >= kPreamble + kLeast + kFcs && std::equal(preamble.begin(), preamble.end(), bytes_.begin());
  if (right) {
    size_t length = bytes_.size() - kPreamble - kFcs;
    uint32_t crc = crc32(bytes_.data() + kPreamble, length), there = 0;
    for (size_t i = 0; i < kFcs; i++) there |= uint32_t(bytes_[kPreamble + length + i]) << (8 * i);
    right = crc == there && !error_ && length <= 1514;
  }
  if (!right) {
    wrong++;
    return;
  }
  frames++;
  if (random_.in_a_million(lose)) {
    lost++;
  } else if (random_.in_a_million(breaks)) {
    broken++; /* the host's adapter drops it */
  } else {
    taken.push_back({Bytes(bytes_.begin() + kPreamble, bytes_.end() - kFcs), begun_});
  }
}

void Management::reset() {
  registers = {0x1140, 0x7949, 0x0362, 0x5e6a};
  ones_ = bits_ = 0;
  word_ = answer_ = 0;
  drives_ = true;
}

void Management::rise(bool bit) {
  drives_ = true;
  if (bits_ == 0) {
    /* A start is a 0 behind 32 ones. */
    if (!bit && ones_ >= 32) {
      bits_ = 1;
      word_ = 0;
    }
    ones_ = bit ? ones_ + 1 : 0;
    return;
  }
  word_ = word_ << 1 | bit;
  bits_++;
  bool reads = false;
  if (bits_ >= 14) {
    uint32_t head = word_ >> (bits_ - 14); /* 01, operation, PHY, register */
    bool ours = (head >> 5 & 31) == 0 && (head >> 12 & 3) == 1;
    unsigned operation = head >> 10 & 3, number = head & 31;
    if (bits_ == 14) answer_ = registers[number];
    reads = ours && operation == 2;
    if (bits_ == 32 && ours && operation == 1) registers[number] = uint16_t(word_);
  }
  /* Behind the turnaround's first bit a 0, and 16 bits. */
  if (reads && bits_ == 15) drives_ = false;
  if (reads && bits_ >= 16 && bits_ < 32) drives_ = answer_ >> (31 - bits_) & 1;
  if (bits_ == 32) bits_ = ones_ = 0;
}

}  // namespace ace
