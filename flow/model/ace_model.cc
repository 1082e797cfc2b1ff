// SPDX-License-Identifier: Apache-2.0
//
// Whole frames in and out of a Verilated slot. Generic over the Verilated class: ACE_TOP names it, ACE_TOP_HEADER
// is its header. The slot registers both streams, so its outputs depend on the clock alone and are read after
// a rising edge without another evaluation; new inputs are applied together with the next rising edge.

#pragma GCC visibility push(default)  // everything else in this object is hidden
#include "ace_model.h"
#pragma GCC visibility pop

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

#include "verilated.h"

#include ACE_TOP_HEADER

namespace {

// The flow reads it off the Verilated class: what of it outlives a clock.
constexpr ace_model_item kItems[] = {
#include "items.inc"
};

// Clocks in reset; more than one, so that cells with a synchronous reset are reset as well.
constexpr int kResetClocks = 4;
constexpr uint64_t kMaxClocks = uint64_t{1} << 20;

// xorshift64*: enough to stall a stream, cheap enough to be asked in every clock.
class Random {
 public:
  explicit Random(uint64_t seed) : state_{seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du} {
    if (state_ == 0) state_ = 1;
  }
  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1du;
  }
  bool chance(uint32_t of_65536) { return (next() >> 48) < of_65536; }

 private:
  uint64_t state_;
};

// What the LUTs of the slot that is being made hold: they ask for it once, when the slot is initialised.
struct Contents {
  const ace_model_lut *luts;
  size_t n;
  size_t found = 0;
  bool missing = false;
};
thread_local Contents *contents = nullptr;

}  // namespace

// Called by init_lut.sv and kept_lut4.sv with a path that begins with the names of instance and top.
extern "C" int ace_model_contents(const char *path, int init) {
  if (contents == nullptr || contents->n == 0) return init;
  std::string_view name{path};
  name.remove_prefix(std::min(name.size(), sizeof ACE_PREFIX - 1));
  for (size_t i = 0; i < contents->n; ++i) {
    if (name == contents->luts[i].name) {
      ++contents->found;
      return contents->luts[i].contents;
    }
  }
  contents->missing = true;
  return init;
}

struct ace_model {
  VerilatedContext context;
  std::unique_ptr<ACE_TOP> top;
  uint64_t clocks = 0;
  std::vector<uint8_t> response;  // the one that is coming; kept for its memory

  explicit ace_model(Contents &wanted) {
    context.threads(1);
    context.randReset(0);
    // An assertion that fails ends the call, not the process.
    context.fatalOnError(false);
    top = std::make_unique<ACE_TOP>(&context, "slot");
    top->clk_i = 0;
    top->rst_ni = 1;
    contents = &wanted;
    top->eval();
    contents = nullptr;
    reset();
  }
  ~ace_model() {
    enter();
    top->final();
    top.reset();
    Verilated::threadContextp(Verilated::defaultContextp());
  }

  // One rising edge with the inputs as they are.
  void clock() {
    top->clk_i = 1;
#ifdef ACE_ROOT_EVAL
    // The flow found that this model watches the edges of clk_i and rst_ni alone and has no class objects. Then
    // the evaluation needs none of the locks and queues around it, and forgetting that the clock was high spares
    // the evaluation of the falling edge.
    ACE_ROOT_EVAL(top->rootp);
    top->rootp->__Vtrigprevexpr___TOP__clk_i__0 = 0;
#else
    top->eval();
    top->clk_i = 0;
    top->eval();
#endif
    ++clocks;
  }

  // Assertions and scopes ask the context of the thread, which may be another model's, or that of one that is gone.
  void enter() { Verilated::threadContextp(&context); }

  void reset() {
    enter();
    top->clk_i = 0;
    top->s_axis_tvalid = 0;
    top->s_axis_tlast = 0;
    top->s_axis_tdata = 0;
    top->m_axis_tready = 0;
    top->rst_ni = 0;
    top->eval();
    for (int i = 0; i < kResetClocks; ++i) clock();
    top->clk_i = 0;
    top->rst_ni = 1;
    top->eval();
    clocks = 0;
  }

  size_t drive(const uint8_t *todo, size_t n, const uint64_t *beats, const uint8_t *last, size_t beats_n,
               uint64_t noise, uint8_t *seen, uint64_t *data);

  // What an assertion says goes to standard output; afterwards the slot is as good as new.
  int asserted() {
    reset();
    context.errorCount(0);
    context.gotError(false);
    context.gotFinish(false);
    return ACE_MODEL_ASSERTION;
  }

  template <bool Stalls>
  int run(ace_model_frame *frames, size_t n, const ace_model_options &options);
};

template <bool Stalls>
int ace_model::run(ace_model_frame *frames, size_t n, const ace_model_options &options) {
  enter();
  ACE_TOP &t = *top;
  Verilated::threadContextp(&context);  // where a failing assertion of this thread belongs
  Random random{options.seed};
  const uint64_t max_idle = options.max_clocks != 0 ? options.max_clocks : kMaxClocks;
  const uint64_t reset_at = options.reset_after != 0 ? clocks + options.reset_after : UINT64_MAX;

  size_t in = 0;        // frame that is being sent
  size_t answered = 0;  // frames that have their response
  size_t oldest = 0;    // the first frame that has none yet
  const uint8_t *next = frames[0].request;
  const uint8_t *end = next + frames[0].request_len;
  bool first_beat = true;
  // Whose response is coming is known from its last beat alone.
  size_t space = 0;
  for (size_t i = 0; i < n; ++i) space = std::max(space, frames[i].response_cap);
  response.clear();
  uint64_t first_out = 0;
  bool offered = false;
  uint64_t last_beat = clocks;

  while (answered < n) {
    if (clocks >= reset_at) {
      reset();
      return ACE_MODEL_RESET;
    }
    // An offered beat stays until it is taken, as AXI4-Stream demands.
    if (!offered && in < n && !(Stalls && random.chance(options.in_stall))) {
      uint64_t beat;
      std::memcpy(&beat, next, sizeof beat);
      t.s_axis_tdata = beat;
      t.s_axis_tlast = end - next == 8;
      t.s_axis_tvalid = 1;
      offered = true;
    }
    const bool ready = !(Stalls && random.chance(options.out_stall));
    t.m_axis_tready = ready;

    const bool sent = offered && t.s_axis_tready;
    const bool received = ready && t.m_axis_tvalid;
    if (sent) {
      ace_model_frame &f = frames[in];
      if (first_beat) f.first_in = clocks;
      first_beat = false;
      next += 8;
      if (next == end) {
        first_beat = true;
        if (++in < n) {
          next = frames[in].request;
          end = next + frames[in].request_len;
        }
      }
    }
    if (received) {
      if (response.empty()) first_out = clocks;
      if (response.size() + 8 > space) {
        reset();
        return ACE_MODEL_NO_SPACE;
      }
      const uint64_t beat = t.m_axis_tdata;
      response.resize(response.size() + 8);
      std::memcpy(&response[response.size() - 8], &beat, sizeof beat);
      if (t.m_axis_tlast) {
        // The first frame of this tag that has been sent and not answered; without one the tag is wrong, and
        // the frame that has waited longest gets it to see that.
        const size_t sent_frames = std::min(n, first_beat ? in : in + 1);
        size_t whose = oldest;
        for (size_t i = oldest; i < sent_frames; ++i) {
          if (frames[i].response_len == 0 && std::memcmp(frames[i].request + 4, &response[response.size() - 4], 2) == 0) {
            whose = i;
            break;
          }
        }
        ace_model_frame &f = frames[whose];
        if (response.size() > f.response_cap) {
          reset();
          return ACE_MODEL_NO_SPACE;
        }
        std::memcpy(f.response, response.data(), response.size());
        f.response_len = response.size();
        f.first_out = first_out;
        f.last_out = clocks;
        response.clear();
        ++answered;
        while (oldest < n && frames[oldest].response_len != 0) ++oldest;
      }
    }
    if (sent || received) {
      last_beat = clocks;
    } else if (clocks - last_beat > max_idle) {
      reset();
      return ACE_MODEL_SILENT;
    }
    clock();
    if (context.gotError()) return asserted();
    if (sent) {
      t.s_axis_tvalid = 0;
      offered = false;
    }
  }
  t.m_axis_tready = 0;
  return ACE_MODEL_OK;
}

size_t ace_model::drive(const uint8_t *todo, size_t n, const uint64_t *beats, const uint8_t *last, size_t beats_n,
                        uint64_t noise, uint8_t *seen, uint64_t *data) {
  enter();
  ACE_TOP &t = *top;
  Verilated::threadContextp(&context);
  Random random{noise};
  size_t taken = 0;
  bool offered = false;
  bool held = false;
  t.s_axis_tvalid = 0;
  for (size_t i = 0; i < n; ++i) {
    const uint64_t garbage = random.next();
    const bool hold_now = (todo[i] & ACE_MODEL_HOLD) != 0;
    if (hold_now) {
      offered = false;
    } else if ((todo[i] & ACE_MODEL_OFFER) != 0 && taken < beats_n) {
      offered = true;
    }
    t.s_axis_tvalid = offered;
    t.s_axis_tdata = offered ? beats[taken] : garbage;
    t.s_axis_tlast = offered ? last[taken] != 0 : garbage & 1;
    t.m_axis_tready = (todo[i] & ACE_MODEL_TAKE) != 0;
    if (hold_now != held) {
      t.clk_i = 0;
      t.rst_ni = !hold_now;
      t.eval();
      held = hold_now;
    }
    if (seen != nullptr) {
      seen[i] = (t.s_axis_tready ? ACE_MODEL_S_TREADY : 0) | (t.m_axis_tvalid ? ACE_MODEL_M_TVALID : 0) |
                (t.m_axis_tlast ? ACE_MODEL_M_TLAST : 0);
    }
    if (data != nullptr) data[i] = t.m_axis_tdata;
    const bool sent = offered && t.s_axis_tready;
    clock();
    if (context.gotError()) {
      asserted();
      return SIZE_MAX;
    }
    if (sent) {
      ++taken;
      offered = false;
    }
  }
  t.s_axis_tvalid = 0;
  t.m_axis_tready = 0;
  if (held) {
    t.clk_i = 0;
    t.rst_ni = 1;
    t.eval();
  }
  return taken;
}

extern "C" {

uint32_t ace_model_abi(void) { return ACE_MODEL_ABI; }

int ace_model_new(ace_model **model, const ace_model_lut *luts, size_t n) {
  Contents wanted{luts, n};
  try {
    auto made = std::make_unique<ace_model>(wanted);
    if (wanted.missing || wanted.found != n) return ACE_MODEL_OTHER_LUTS;
    *model = made.release();
    return ACE_MODEL_OK;
  } catch (const std::bad_alloc &) {
    return ACE_MODEL_NO_MEMORY;
  }
}

void ace_model_free(ace_model *model) { delete model; }

void ace_model_reset(ace_model *model) { model->reset(); }

uint64_t ace_model_clocks(const ace_model *model) { return model->clocks; }

int ace_model_run(ace_model *model, ace_model_frame *frames, size_t n, const ace_model_options *options) {
  for (size_t i = 0; i < n; ++i) {
    frames[i].response_len = 0;
    frames[i].first_in = frames[i].first_out = frames[i].last_out = 0;
    if (frames[i].request_len == 0 || frames[i].request_len % 8 != 0) return ACE_MODEL_BAD_FRAME;
  }
  if (n == 0) return ACE_MODEL_OK;
  static constexpr ace_model_options kNone{};
  const ace_model_options &o = options != nullptr ? *options : kNone;
  const bool stalls = o.in_stall != 0 || o.out_stall != 0;
  return stalls ? model->run<true>(frames, n, o) : model->run<false>(frames, n, o);
}

size_t ace_model_drive(ace_model *model, const uint8_t *todo, size_t clocks, const uint64_t *beats,
                       const uint8_t *last, size_t n, uint64_t noise, uint8_t *seen, uint64_t *data) {
  return model->drive(todo, clocks, beats, last, n, noise, seen, data);
}

size_t ace_model_items(const ace_model_item **items) {
  *items = kItems;
  return std::size(kItems);
}

void ace_model_state(const ace_model *model, uint8_t *state) {
  const auto *root = reinterpret_cast<const uint8_t *>(model->top->rootp);
  for (const ace_model_item &item : kItems) {
    std::memcpy(state, root + item.offset, item.bytes);
    state += item.bytes;
  }
}

}  // extern "C"
