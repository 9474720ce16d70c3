// SPDX-License-Identifier: Apache-2.0
// What GPUs say of themselves through NVML, which is loaded where it is and never needed. Belongs
// to the recorder's thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sink/record_stream.h"

namespace fathom {

// One figure that NVML gives as a number.
struct GpuFigure {
  const char* function;
  int selector;  // -1: none
  const char* name;
  const char* unit;
  double scale;
};

class GpuGauges {
 public:
  GpuGauges() = default;
  ~GpuGauges();
  GpuGauges(const GpuGauges&) = delete;
  GpuGauges& operator=(const GpuGauges&) = delete;

  void open();
  void look(int64_t now_ns, RecordStream& out);
  [[nodiscard]] int64_t devices() const { return static_cast<int64_t>(devices_.size()); }
  // Why there is nothing; empty: there is.
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  using Device = void*;
  struct LinkSum {
    int64_t time_us = 0;  // 0: not read yet
    uint64_t kib = 0;
  };
  template <class Function>
  Function* function(const char* name) const;
  void look_at(size_t number, int64_t now_ns, RecordStream& out) const;
  void look_at_figure(const GpuFigure& figure, size_t number, int64_t now_ns,
                      RecordStream& out) const;
  void look_at_processes(size_t number, int64_t now_ns, RecordStream& out) const;
  void look_at_links(size_t number, int64_t now_ns, RecordStream& out);

  void* library_ = nullptr;
  std::vector<Device> devices_;
  std::vector<std::array<LinkSum, 2>> links_;  // sent and received
  int64_t last_pcie_ns_ = 0;
  size_t pcie_turn_ = 0;
  std::string why_ = "not looked for";
};

}  // namespace fathom
