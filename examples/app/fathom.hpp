// SPDX-License-Identifier: Apache-2.0
//
// fathom.h for C++: the same promises, and times that measure themselves.
//
//   fathom::number("queue_length", queue.size(), "items");
//   { fathom::Timer timer("step"); step(); }          seconds, when the scope ends
//   { fathom::Rate rate("frames"); draw(); }          1 / seconds
//   fathom::mark("epoch 3");
#pragma once

#include <string>
#include <utility>

#include "fathom.h"

namespace fathom {

inline void number(const std::string& name, double value, const std::string& unit = "") noexcept {
  fathom_number(name.c_str(), value, unit.c_str());
}

inline void mark(const std::string& text) noexcept { fathom_mark(text.c_str()); }

// Tells `report` how long it lived.
template <void (*report)(const char*, double)>
class Measured {
 public:
  explicit Measured(std::string name) : name_(std::move(name)) {}
  ~Measured() { report(name_.c_str(), fathom_now() - start_); }
  Measured(const Measured&) = delete;
  Measured& operator=(const Measured&) = delete;

 private:
  std::string name_;
  double start_ = fathom_now();
};

using Timer = Measured<fathom_timer>;
using Rate = Measured<fathom_rate>;

}  // namespace fathom
