/* SPDX-License-Identifier: Apache-2.0
 *
 * The Verilated top of a board with clocks, PHY and wire at its pins. ACE_CORE_FS is half a clock of the slots, in femtoseconds. */
#include "board_model.h"

#include <algorithm>
#include <new>

#include ACE_TOP_HEADER
#include "phy.h"

namespace {
constexpr uint64_t kHalf = 4000000;   /* 125 MHz, in femtoseconds */
constexpr uint64_t kPressed = 200000; /* of a new board, in picoseconds */
constexpr uint64_t kPs = 1000;
}  // namespace

struct ace_board {
  explicit ace_board(uint64_t seed) : random(seed), in(random), out(random), top(&context) {}

  ace::Random random;
  ace::In in;
  ace::Out out;
  ace::Management management;
  VerilatedContext context;
  Vboard top;

  uint64_t now = 0, next_tx = kHalf, next_core = 5 * kHalf / 4, next_rx = 3 * kHalf / 4, rx_half = kHalf - kHalf / 10000;
  uint64_t locked_at = kPressed * kPs;
  unsigned lowest = 0, highest = 127;
  ace::WireByte byte{};
  bool valid = false;
  uint8_t low = 0;
  bool low_valid = false;
  int mdc = 0, sdram = 0;
  uint32_t sdram_changes = 0;
  uint32_t pins = ~0u;
  uint64_t digest = 14695981039346656037u;

  void step();
  void rx();
  void tx();
  void core();
  void look();
};

/* A rising edge brings the lower half of a byte, a falling one the upper half. Data come 2 ns before the edge, as the PHY
 * delays its clock. */
void ace_board::rx() {
  bool rising = !top.rx_clk_i;
  if (rising) valid = in.next(byte, now / kPs, top.phy_rst_no && now >= locked_at);
  uint8_t nibble = valid ? (rising ? byte.value & 15 : byte.value >> 4) : 0;
  bool ctl = valid && !(byte.error && !rising);
  unsigned tap = top.rootp->ACE_TAPS;
  if ((tap < lowest || tap > highest) && valid && random.below(16) == 0) nibble = uint8_t(nibble ^ 1u << random.below(4));
  /* What no clock stands before is looked at before what a clock moves, so that one evaluation has data before the edge. */
  top.rx_data_i = nibble;
  top.rx_ctl_i = ctl;
  top.rx_clk_i = rising;
  top.eval();
}

void ace_board::tx() {
  top.rootp->ACE_OP = !top.rootp->ACE_OP;
  top.eval();
  if (!top.rootp->ACE_LOCK) out.cut(); /* a reset ends a frame */
  /* The PHY looks 2 ns behind the edge, when the pins are as they are now. */
  if (top.tx_clk_o) {
    low = top.tx_data_o;
    low_valid = top.tx_ctl_o;
  } else {
    out.clock(low_valid, low_valid != bool(top.tx_ctl_o), uint8_t(low | top.tx_data_o << 4), now / kPs - kHalf / kPs);
  }
}

void ace_board::core() {
  top.rootp->ACE_OS = !top.rootp->ACE_OS;
  top.eval();
  if (!top.phy_rst_no) management.reset();
  if (top.mdc_o != mdc) {
    mdc = top.mdc_o;
    if (mdc) management.rise(top.mdio_io__en ? top.mdio_io__out : management.drives());
    top.mdio_io = management.drives();
    top.eval();
  }
}

void ace_board::look() {
  uint32_t seen = uint32_t(top.tx_clk_o | top.tx_ctl_o << 1 | top.phy_rst_no << 2 | top.mdc_o << 3 | top.led_no << 4 |
                           top.sdram_clk_o << 5 | top.mdio_io__en << 6);
  if (top.mdio_io__en) seen |= uint32_t(top.mdio_io__out) << 7;
  /* Data pins are looked at while no byte is on them. */
  if (!top.tx_ctl_o) seen |= uint32_t(top.tx_data_o) << 8;
  if (top.sdram_clk_o != sdram) {
    sdram = top.sdram_clk_o;
    sdram_changes++;
  }
  if (seen == pins) return;
  pins = seen;
  for (uint64_t part : {now, uint64_t(seen)}) digest = (digest ^ part) * 1099511628211u;
}

void ace_board::step() {
  now = std::min({next_tx, next_core, next_rx});
  bool lock = now >= locked_at;
  if (lock != bool(top.rootp->ACE_LOCK)) {
    top.rootp->ACE_LOCK = lock;
    top.eval();
  }
  if (now == next_rx) {
    next_rx += rx_half;
    rx();
  }
  if (now == next_tx) {
    next_tx += kHalf;
    tx();
  }
  if (now == next_core) {
    next_core += ACE_CORE_FS;
    core();
  }
  look();
}

extern "C" {

uint32_t ace_board_abi(void) { return ACE_BOARD_ABI; }

ace_board *ace_board_new(uint64_t seed) {
  auto *board = new (std::nothrow) ace_board(seed);
  if (board) {
    board->top.mdio_io = 1;
    board->top.eval();
  }
  return board;
}

void ace_board_free(ace_board *board) {
  if (board) board->top.final();
  delete board;
}

uint64_t ace_board_send(ace_board *board, const uint8_t *bytes, size_t length, uint32_t how, size_t error_at) {
  return board->in.send(bytes, length, how, error_at);
}

uint64_t ace_board_ended(const ace_board *board, uint64_t number) {
  return number >= 1 && number <= board->in.ended.size() ? board->in.ended[number - 1] : 0;
}

size_t ace_board_waiting(const ace_board *board) { return board->in.waiting(); }

size_t ace_board_take(ace_board *board, uint8_t *bytes, size_t room, uint64_t *begun) {
  if (board->out.taken.empty()) return 0;
  const auto &frame = board->out.taken.front();
  size_t length = frame.bytes.size();
  std::copy_n(frame.bytes.begin(), std::min(length, room), bytes);
  if (begun) *begun = frame.begun;
  board->out.taken.pop_front();
  return length;
}

uint64_t ace_board_run(ace_board *board, uint64_t picoseconds, int until_frame) {
  uint64_t begin = board->now, end = begin + picoseconds * kPs;
  while (board->now < end && !(until_frame && !board->out.taken.empty())) board->step();
  return (board->now - begin) / kPs;
}

uint64_t ace_board_now(const ace_board *board) { return board->now / kPs; }

void ace_board_eye(ace_board *board, unsigned lowest, unsigned highest) {
  board->lowest = lowest;
  board->highest = highest;
}

void ace_board_wire(ace_board *board, uint32_t in_lost, uint32_t in_broken, uint32_t out_lost, uint32_t out_broken) {
  board->in.lose = in_lost;
  board->in.breaks = in_broken;
  board->out.lose = out_lost;
  board->out.breaks = out_broken;
}

void ace_board_skew(ace_board *board, int32_t ppm) {
  ppm = std::clamp(ppm, -1000, 1000);
  board->rx_half = uint64_t(int64_t(kHalf) - int64_t(kHalf) * ppm / 1000000);
}

uint16_t ace_board_mdio(const ace_board *board, unsigned number) { return board->management.registers[number & 31]; }

void ace_board_reset(ace_board *board, uint64_t picoseconds) { board->locked_at = board->now + picoseconds * kPs; }

void ace_board_count(const ace_board *board, ace_board_counts *counts) {
  const auto &in = board->in;
  const auto &out = board->out;
  *counts = {in.frames, in.lost, in.broken, out.frames, out.lost, out.broken, out.wrong, out.close,
             board->top.rootp->ACE_TAPS, uint32_t(!board->top.led_no), uint32_t(!board->top.phy_rst_no),
             board->sdram_changes};
}

uint64_t ace_board_pins(const ace_board *board) { return board->digest; }
}
