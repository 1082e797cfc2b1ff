// SPDX-License-Identifier: Apache-2.0
//
// The paper's processor as a timing model over retired instructions: out of order, four integer ALUs, one unit that
// multiplies and divides, two memory ports, and the reconfigurable unit (section IV). What the paper does not say is what
// SimpleScalar's sim-outorder 3.0 has by default: four instructions fetched, dispatched, issued and committed in a clock,
// a register update unit of 16 entries of which 8 may be loads and stores, a bimodal predictor of 2048 counters, three
// clocks after a branch that was mispredicted; latencies of 1 (ALU, load), 3 (product) and 20 clocks (quotient). Program and
// data of this benchmark fit its caches, so that every access is a hit. Nothing of the model is fitted.
//
// An execution of the unit: four words in and four out over both ports, and its clocks between; it waits for what is
// stored before, and what is loaded or stored behind waits for it.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

class OutOfOrder {
 public:
  explicit OutOfOrder(unsigned unit_clocks) : unit_(4 + unit_clocks), stored_(1 << 14), counters_(2048, 2) {}

  // An instruction, the word that it is, and the one behind it in time.
  void retire(uint32_t pc, uint32_t word, uint32_t address, uint32_t next) {
    const uint32_t op = word & 127, f3 = word >> 12 & 7, rd = word >> 7 & 31;
    const bool load = op == 0x03, store = op == 0x23, branch = op == 0x63;
    const bool unit = op == 0x0b, memory = load || store || unit;
    const bool jump = op == 0x6f || op == 0x67;
    const bool first = !(op == 0x37 || op == 0x17 || op == 0x6f), second = op == 0x33 || store || branch || unit;

    const uint64_t fetched = fetch();
    uint64_t at = std::max(fetched + 1, commits_[count_ % kEntries] + 1);
    if (memory) at = std::max(at, memory_[memories_ % kMemory] + 1);
    const uint64_t dispatched = width(dispatch_, at);
    dispatched_[count_ % kWidth] = dispatched;

    uint64_t ready = dispatched + 1;
    if (first) ready = std::max(ready, registers_[word >> 15 & 31]);
    if (second) ready = std::max(ready, registers_[word >> 20 & 31]);
    if (load) ready = std::max(ready, stored_[address / 4 % stored_.size()]);
    if (load || store) ready = std::max(ready, unit_done_);
    if (unit) ready = std::max(ready, last_stored_);

    unsigned latency = 1;
    Slots *of = &alus_;
    uint64_t *alone = nullptr;
    if (load || store) {
      of = &ports_;
    } else if (unit) {
      of = nullptr, latency = unit_, alone = &unit_done_;
    } else if (op == 0x33 && word >> 25 == 1) {
      of = nullptr, latency = f3 < 4 ? 3 : 20, alone = &multiplier_free_;
    }
    uint64_t issued = ready;
    if (alone) issued = std::max(issued, *alone);
    while (!issues_.free(issued) || (of && !of->free(issued))) issued++;
    issues_.take(issued);
    if (of) of->take(issued);
    const uint64_t done = issued + latency;
    // A product is in a pipeline, a quotient is not.
    if (alone == &multiplier_free_) *alone = latency == 3 ? issued + 1 : issued + latency - 1;
    if (unit) unit_done_ = done;
    if (store) last_stored_ = std::max(last_stored_, stored_[address / 4 % stored_.size()] = done);
    if (rd != 0 && !store && !branch) registers_[rd] = done;

    const uint64_t committed = width(commit_, std::max(done + 1, last_commit_));
    last_commit_ = commits_[count_ % kEntries] = committed;
    if (memory) memory_[memories_++ % kMemory] = committed;
    count_++;
    // rdcycle: csrrs of 0xc00.
    if (op == 0x73 && f3 == 2 && word >> 20 == 0xc00) marks.push_back(committed);

    const bool taken = next != pc + 4;
    if (branch) {
      uint8_t &counter = counters_[pc / 4 % counters_.size()];
      if ((counter >= 2) != taken) fetch_at_ = std::max(fetch_at_, done + 3), fetched_ = 0;
      counter = taken ? std::min(counter + 1, 3) : std::max(counter - 1, 0);
    }
    if ((taken && branch) || jump) fetch_at_++, fetched_ = 0;
  }

  uint64_t clocks() const { return last_commit_; }
  // When the cycle counter was read.
  std::vector<uint64_t> marks;

 private:
  static constexpr unsigned kWidth = 4, kEntries = 16, kMemory = 8, kAhead = 1 << 12;

  // So many of a kind in a clock, of the clocks that may still be asked for.
  struct Slots {
    explicit Slots(unsigned most) : most(most) {}
    unsigned most;
    std::array<uint64_t, kAhead> clock{};
    std::array<uint8_t, kAhead> used{};
    bool free(uint64_t at) const { return clock[at % kAhead] != at || used[at % kAhead] < most; }
    void take(uint64_t at) {
      if (clock[at % kAhead] != at) clock[at % kAhead] = at, used[at % kAhead] = 0;
      used[at % kAhead]++;
    }
  };

  // In order, so many in a clock.
  struct InOrder {
    uint64_t clock = 0;
    unsigned used = 0;
  };
  static uint64_t width(InOrder &of, uint64_t at) {
    if (at > of.clock) of.clock = at, of.used = 0;
    if (of.used == kWidth) of.clock++, of.used = 0;
    of.used++;
    return of.clock;
  }

  uint64_t fetch() {
    // The queue between holds four: the one four before has to be gone.
    const uint64_t gone = dispatched_[count_ % kWidth];
    if (gone > fetch_at_) fetch_at_ = gone, fetched_ = 0;
    if (fetched_ == kWidth) fetch_at_++, fetched_ = 0;
    fetched_++;
    return fetch_at_;
  }

  const unsigned unit_;
  uint64_t count_ = 0, memories_ = 0, fetch_at_ = 0, last_commit_ = 0, last_stored_ = 0, unit_done_ = 0, multiplier_free_ = 0;
  unsigned fetched_ = 0;
  std::array<uint64_t, 32> registers_{};
  std::array<uint64_t, kEntries> commits_{};
  std::array<uint64_t, kMemory> memory_{};
  std::array<uint64_t, kWidth> dispatched_{};
  std::vector<uint64_t> stored_;
  std::vector<uint8_t> counters_;
  InOrder dispatch_, commit_;
  Slots alus_{4}, ports_{2}, issues_{kWidth};
};
