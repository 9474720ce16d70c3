// SPDX-License-Identifier: Apache-2.0
// Makes spans and gauges of what libfathom-cuda.so writes: a span per driver call, with the kernel
// or the direction as its object; memory in use per device and process over time. Belongs to the
// recorder's thread, with the stream it writes to.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "sink/record_stream.h"
#include "spool/spool_reader.h"

namespace fathom {

class CudaRecords final : public SpoolListener {
 public:
  explicit CudaRecords(RecordStream& out) : out_(out) {}

  void on_call(const SpoolCall& call) override;
  void on_cell(const SpoolCell& cell) override;
  [[nodiscard]] int64_t calls() const { return calls_; }
  [[nodiscard]] int64_t leaks() const { return leaks_; }
  [[nodiscard]] int64_t leaked_bytes() const { return leaked_bytes_; }
  // Why there are no times on the device, where they were asked for; empty: nothing speaks against.
  [[nodiscard]] const std::string& no_gpu_times() const { return no_gpu_times_; }
  // Functions that a program looked up and that are not in the library's list.
  [[nodiscard]] const std::set<std::string>& not_wrapped() const { return not_wrapped_; }

 private:
  bool take_note(const SpoolCall& call);
  void add_device_span(const SpoolCall& call);

  RecordStream& out_;
  int64_t calls_ = 0, leaks_ = 0, leaked_bytes_ = 0;
  std::set<std::string> not_wrapped_;
  std::string no_gpu_times_;
};

}  // namespace fathom
