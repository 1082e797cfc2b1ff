// SPDX-License-Identifier: Apache-2.0
//
// Who answers the unit's sets. Without a library a set takes as long as somebody says. With one it is carried out: the
// loader's RTL reads the list in the library's memory at its own clock, the port takes a byte at a time at its own, and
// what the unit can do afterwards is that of the configuration whose very bytes the port was given.
#pragma once
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "Vbench.h"

inline std::vector<uint8_t> bytes_of(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "bench: cannot read %s\n", path.c_str());
    std::exit(2);
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

// What sets take, by what they are for: CLOCKS,MASK=CLOCKS,…
struct Sets {
  uint64_t other = 0;
  std::map<uint32_t, uint64_t> known;

  explicit Sets(const char *text) {
    char *end;
    other = std::strtoull(text, &end, 10);
    while (*end == ',') {
      const uint32_t mask = std::strtoul(end + 1, &end, 16);
      if (*end == '=') known[mask] = std::strtoull(end + 1, &end, 10);
    }
  }

  uint64_t clocks(uint32_t mask, bool partial) const {
    const auto found = known.find(mask | uint32_t(partial) << 16);
    return found == known.end() ? other : found->second;
  }
};

// A configuration, as a list of steps makes it of what is there before.
struct Load {
  std::string name, over;
  uint32_t can = 0;
  std::vector<uint8_t> port;
};

// FILE: the loader's memory, picoseconds of a clock of the machine, the loader and the port, the list that takes the
// dictionary, bytes of the buffer in front of the port; a line for each list: its address, what the configuration can
// do, its name, the name of what it is written over ("-": a cleared device) and the file of the port's bytes ("-": not
// known yet).
class Library {
 public:
  uint64_t machine_ps = 1, loader_ps = 1, port_ps = 1;

  explicit Library(const std::string &path) {
    std::ifstream file(path);
    std::string memory, name, over, port;
    uint32_t list, can;
    if (!(file >> memory >> machine_ps >> loader_ps >> port_ps >> dictionary_ >> buffer_)) {
      std::fprintf(stderr, "bench: %s is no library\n", path.c_str());
      std::exit(2);
    }
    while (file >> list >> std::hex >> can >> std::dec >> name >> over >> port) {
      loads_[list] = {name, over, can, port == "-" ? std::vector<uint8_t>() : bytes_of(port)};
    }
    memory_ = bytes_of(memory);
  }

  void begin(Vbench &bench) {
    bench.start_i = 1;
    bench.list_i = dictionary_;
    loader_next_ = port_next_ = 0;
    held_ = "-";
    do {
      step(bench, loader_next_);
    } while (bench.busy_o);
  }

  // When the dictionary was there.
  uint64_t begun() const { return loader_next_; }

  // A set: the device is cleared first, unless it is a partial one.
  void start(Vbench &bench, uint32_t list, bool partial) {
    const auto found = loads_.find(list);
    load_ = found == loads_.end() ? nullptr : &found->second;
    wrong_ = load_ == nullptr || load_->over != (partial ? held_ : "-");
    under_way_ = true;
    taken_ = 0;
    bench.list_i = list;
    bench.start_i = !wrong_;
    held_ = "-";
  }

  // All that happens before this time.
  void until(Vbench &bench, uint64_t time) {
    while (loader_next_ < time) step(bench, loader_next_);
  }

  bool under_way() const { return under_way_; }

  // Whether the set has come to its end.
  bool ended(const Vbench &bench) const {
    return under_way_ && (wrong_ || (!bench.start_i && !bench.busy_o && waiting_.empty()));
  }

  // What the unit can do then; nothing if what the port was given is not that configuration.
  uint32_t end(const Vbench &bench) {
    under_way_ = false;
    if (wrong_ || bench.error_o || taken_ != load_->port.size()) return 0;
    held_ = load_->name;
    return load_->can;
  }

  uint64_t bytes() const { return bytes_; }

  // What a list has the loader write, whatever that is; false if it refuses.
  bool write(Vbench &bench, uint32_t list, std::FILE *out) {
    begin(bench);
    bench.list_i = list;
    bench.start_i = 1;
    do {
      step(bench, loader_next_);
      for (; !waiting_.empty(); waiting_.pop_front()) std::fputc(waiting_.front(), out);
    } while (bench.busy_o);
    return !bench.error_o;
  }

 private:
  struct Answer {
    uint64_t when;
    uint32_t word;
  };

  std::vector<uint8_t> memory_;
  std::map<uint32_t, Load> loads_;
  const Load *load_ = nullptr;
  std::string held_ = "-";
  std::deque<Answer> answers_;
  std::deque<uint8_t> waiting_;
  uint32_t dictionary_ = 0;
  uint64_t buffer_ = 1, loader_next_ = 0, port_next_ = 0, bytes_ = 0;
  size_t taken_ = 0;
  bool under_way_ = false, wrong_ = false;

  void step(Vbench &bench, uint64_t now) {
    for (; port_next_ <= now; port_next_ += port_ps) {
      if (waiting_.empty()) continue;
      wrong_ = wrong_ || load_ == nullptr || taken_ >= load_->port.size() || load_->port[taken_] != waiting_.front();
      waiting_.pop_front();
      taken_++;
      bytes_++;
    }
    loader_next_ += loader_ps;
    // At rest its clock changes nothing.
    if (!bench.start_i && !bench.busy_o) return;
    bench.r_ready_i = 1;
    bench.r_valid_i = !answers_.empty() && answers_.front().when <= now;
    bench.r_data_i = bench.r_valid_i ? answers_.front().word : 0;
    bench.p_ready_i = waiting_.size() < buffer_;
    bench.eval();
    if (bench.r_valid_i) answers_.pop_front();
    if (bench.r_valid_o) {
      uint32_t word = 0;
      for (size_t i = 4, at = size_t(bench.r_address_o) * 4; i-- > 0;) {
        word = word << 8 | (at + i < memory_.size() ? memory_[at + i] : 0);
      }
      answers_.push_back({now + loader_ps, word});
    }
    if (bench.p_valid_o && bench.p_ready_i) waiting_.push_back(bench.p_data_o);
    bench.loader_clk_i = 1;
    bench.eval();
    bench.loader_clk_i = 0;
    bench.start_i = 0;
    bench.eval();
    if (!bench.busy_o) answers_.clear();
  }
};
