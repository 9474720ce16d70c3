// SPDX-License-Identifier: Apache-2.0
#include "report/panel_specs.h"

namespace fathom {
namespace {

constexpr double kPerCore = 1e-9, kPercent = 1e-7;  // from ns per second

constexpr PanelSpec kPanels[] = {
    {"CPU",
     "cores",
     kPerCore,
     {{{"used", "tree", "cpu_user_total", "cpu_system_total"},
       {"in the kernel", "tree", "cpu_system_total"}}}},
    {"CPU of the cgroup",
     "cores",
     kPerCore,
     {{{"used", "cgroup", "cpu_user_total", "cpu_system_total"},
       {"in the kernel", "cgroup", "cpu_system_total"}}},
     true},
    {"Memory",
     "bytes",
     1,
     {{{"resident at readings", "tree", "rss"},
       {"cgroup at readings, page cache included", "cgroup", "memory"}}}},
    {"Disk",
     "bytes/s",
     1,
     {{{"read", "tree", "disk_read_total"},
       {"written, as pages become dirty", "tree", "disk_written_total"}}}},
    {"Read and write calls",
     "bytes/s",
     1,
     {{{"read", "tree", "read_chars_total"}, {"written", "tree", "written_chars_total"}}}},
    {"Network of the container",
     "bytes/s",
     1,
     {{{"received", "cgroup", "net_received_total"}, {"sent", "cgroup", "net_sent_total"}}}},
    {"Network of the host",
     "bytes/s",
     1,
     {{{"received", "host", "net_received_total"}, {"sent", "host", "net_sent_total"}}},
     true},
    {"Pressure",
     "%",
     kPercent,
     {{{"short of CPU", "cgroup", "pressure_cpu_some_total"},
       {"of I/O", "cgroup", "pressure_io_some_total"},
       {"of memory", "cgroup", "pressure_memory_some_total"}}}},
    {"Pressure on the host",
     "%",
     kPercent,
     {{{"short of CPU", "host", "pressure_cpu_some_total"},
       {"of I/O", "host", "pressure_io_some_total"},
       {"of memory", "host", "pressure_memory_some_total"}}},
     true},
    {"Tasks", "count", 1, {{{"threads", "tree", "threads"}, {"processes", "tree", "processes"}}}},
};

}  // namespace

std::span<const PanelSpec> panel_specs() { return kPanels; }

}  // namespace fathom
