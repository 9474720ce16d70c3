// SPDX-License-Identifier: Apache-2.0
// Makes spans and gauges of what libfathom-cuda.so writes: a span per driver call, with the kernel
// or the direction as its object; memory in use per device and process over time. Belongs to the
// recorder's thread, with the stream it writes to.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "sink/record_stream.h"
#include "spool/known_names.h"
#include "spool/launch_join.h"
#include "spool/spool_reader.h"

namespace fathom {

class CudaRecords final : public SpoolListener {
 public:
  // `joins`: what runs on devices may be recorded, too; calls that start it get numbers.
  CudaRecords(RecordStream& out, bool joins) : out_(out), names_(out), joins_(joins) {}

  void on_call(const SpoolCall& call) override;
  void on_cell(const SpoolCell& cell) override;
  // After spools were read: writes what ran on devices, joined to the calls it came from. What has
  // none waits until the next time, as its call may not have been read yet; unless it is the last.
  void join(bool last);
  [[nodiscard]] int64_t calls() const { return calls_; }
  [[nodiscard]] int64_t leaks() const { return leaks_; }
  [[nodiscard]] int64_t leaked_bytes() const { return leaked_bytes_; }
  // Why there are no times on the device, where they were asked for; empty: nothing speaks against.
  [[nodiscard]] const std::string& no_gpu_times() const { return no_gpu_times_; }
  // Functions that a program called and that are not in the library's list; and those that it
  // looked up and that could not even be counted.
  [[nodiscard]] const std::set<std::string>& only_counted() const { return only_counted_; }
  [[nodiscard]] const std::set<std::string>& not_wrapped() const { return not_wrapped_; }

 private:
  // What ran on a device, with texts of its own.
  struct Work {
    SpoolCall call;
    std::string kind, file;
    int64_t cupti = 0;  // CUPTI's number for the call, of kernels
    bool in_graph = false, waited = false;
  };
  bool take_note(const SpoolCall& call);
  void keep_work(const SpoolCall& call);
  Maybe number_of(const SpoolCall& call);
  void add_work(const Work& work, Maybe correlation);

  RecordStream& out_;
  KnownNames names_;
  bool joins_;
  LaunchJoin launches_;
  std::vector<Work> works_;
  int64_t calls_ = 0, leaks_ = 0, leaked_bytes_ = 0;
  std::set<std::string> only_counted_, not_wrapped_;
  std::string no_gpu_times_;
};

}  // namespace fathom
