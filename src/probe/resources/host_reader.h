// SPDX-License-Identifier: Apache-2.0
// Gauges of the whole machine, beside the tree's, so that a busy neighbour is seen. Keeps its files
// open. Belongs to one thread.
#pragma once

#include <array>
#include <string>
#include <unordered_map>

#include "base/reread.h"
#include "probe/resources/gauge_writer.h"

namespace fathom {

class HostReader {
 public:
  HostReader();
  void write(GaugeWriter& gauges);

 private:
  struct PressureFile {
    RereadFile file;
    std::string some, full;  // names of the gauges
  };
  void write_cpu(GaugeWriter& gauges) const;
  void write_memory(GaugeWriter& gauges) const;
  void write_disk(GaugeWriter& gauges);
  void write_net(GaugeWriter& gauges) const;

  RereadFile stat_, meminfo_, diskstats_, net_;
  std::array<PressureFile, 3> pressure_;
  std::unordered_map<std::string, bool> holds_data_;  // by device
};

}  // namespace fathom
