// SPDX-License-Identifier: Apache-2.0
//
// A Verilated slot that writes what every signal does: ace_model.cc takes it in place of the Verilated class. Two steps
// of time are a clock. The file is named after the process, which knows where it belongs when the slot is gone.
#ifndef ACE_TRACED_H
#define ACE_TRACED_H

#include <unistd.h>

#include <cstdint>
#include <string>

#include "Vslot.h"
#include ACE_TRACE_HEADER

class Traced : public Vslot {
 public:
  Traced(VerilatedContext *context, const char *name) : Vslot{watched(context), name} {
    trace(&file_, 99);
    file_.open((ACE_TRACE_PLACE + std::to_string(getpid())).c_str());
  }
  ~Traced() { file_.close(); }

  void eval() {
    Vslot::eval();
    file_.dump(time_++);
  }

 private:
  static VerilatedContext *watched(VerilatedContext *context) {
    context->traceEverOn(true);
    return context;
  }

  ACE_TRACE_CLASS file_;
  uint64_t time_ = 0;
};

#endif
