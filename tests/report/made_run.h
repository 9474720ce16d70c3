// SPDX-License-Identifier: Apache-2.0
// A run made by hand that has some of everything: resources, processes, an application's figures,
// marks, calls, counters, samples and losses.
#pragma once

#include <fmt/format.h>

#include <cmath>

#include "report/made_samples.h"

namespace fathom {

constexpr int64_t kMadeSecond = 1'000'000'000;

class MadeRun : public MadeSamples {
 public:
  void gauge(int64_t time_ns, std::string_view scope, std::string_view name, std::string_view unit,
             double value) {
    out().add(Gauge{time_ns, out().string(scope), out().string(name), out().string(unit), value});
  }

  void mark(int64_t time_ns, std::string_view text) {
    out().add(Mark{time_ns, out().string(text)});
  }

  void bar(int64_t pid, std::string_view name, int64_t start_ns, Maybe end_ns, int64_t cpu_ns) {
    Process process;
    process.pid = pid;
    process.name = out().string(name);
    process.args = out().string(fmt::format("{} --work {}", name, pid));
    process.start_ns = start_ns;
    process.end_ns = end_ns;
    process.user_ns = process.cpu_ns = cpu_ns;
    process.system_ns = 0;
    process.peak_rss_bytes = 1'000'000 * pid;
    if (end_ns) process.exit_status = 0;
    out().add(process);
  }

  void call(std::string_view layer, std::string_view name, std::string_view file, int64_t count,
            Maybe time_ns, Maybe bytes) {
    Counter counter;
    counter.layer = out().string(layer);
    counter.name = out().string(name);
    counter.file = out().string(file);
    counter.count = count;
    counter.time_ns = time_ns;
    counter.bytes = bytes;
    out().add(counter);
  }

  void event(std::string_view name, Maybe count, std::string_view why) {
    EventCount event;
    event.name = out().string(name);
    event.unit = out().string("count");
    event.source = out().string("perf");
    event.count = count;
    event.why = out().string(why);
    out().add(event);
  }

  void resources(int64_t length_ns, int64_t step_ns) {
    double user = 0, system = 0, written = 0;
    for (int64_t at = 0; at <= length_ns; at += step_ns) {
      const double phase = static_cast<double>(at) / static_cast<double>(length_ns);
      const auto step = static_cast<double>(step_ns);
      gauge(at, "tree", "cpu_user_total", "ns", user);
      gauge(at, "tree", "cpu_system_total", "ns", system);
      gauge(at, "tree", "rss", "bytes", 5e8 * (1 - std::cos(6.28 * phase)));
      gauge(at, "tree", "disk_read_total", "bytes", 0);
      gauge(at, "tree", "disk_written_total", "bytes", written);
      gauge(at, "tree", "processes", "count", phase < 0.5 ? 2 : 4);
      gauge(at, "host", "net_received_total", "bytes", 77);
      user += step * (phase < 0.5 ? 0.5 : 1.5);
      system += step * 0.25;
      if (phase > 0.7 && phase < 0.8) written += step * 0.1;
    }
  }

  void facts() {
    run().cores = 2;
    run().host = out().string("made");
    run().kernel = out().string("6.18");
    run().version = out().string("0.1");
    run().exit_status = 0;
    run().end_reason = out().string("exited");
    run().end_ns = 12 * kMadeSecond;
    run().interval_ns = 100'000'000;
    run().user_ns = 12 * kMadeSecond;
    run().system_ns = 3 * kMadeSecond;
    run().recorder_cpu_ns = 24'000'000;
    run().dropped = 17;
    ProbeStatus probe;
    probe.probe = out().string("app");
    probe.rung = out().string("socket");
    probe.seen = 1234;
    probe.dropped = 17;
    probe.why = out().string("17 lines were no figures");
    probe.cpu_ns = 1'500'000;
    out().add(probe);
  }

  void everything() {
    facts();
    resources(12 * kMadeSecond, 100'000'000);
    for (int64_t i = 0; i <= 24; ++i) {
      const int64_t at = i * kMadeSecond / 2;
      gauge(at, "app", "loss", "", 2.5 / static_cast<double>(i + 1));
      gauge(at, "app", "images_total", "images", static_cast<double>(i * i * 10));
      gauge(at, "gpu 0", "memory", "bytes", i < 4 ? 0 : 3e9);
    }
    mark(0, "load the data");
    mark(3 * kMadeSecond, "train");
    mark(9 * kMadeSecond, "check the result against the one before");
    bar(1, "python3", 0, 12 * kMadeSecond, 3 * kMadeSecond);
    bar(2, "loader", kMadeSecond / 5, 3 * kMadeSecond, 2 * kMadeSecond);
    bar(3, "worker", 3 * kMadeSecond, 9 * kMadeSecond, 5 * kMadeSecond);
    bar(4, "worker", 3 * kMadeSecond, 8 * kMadeSecond, 4 * kMadeSecond);
    bar(5, "check", 9 * kMadeSecond, {}, kMadeSecond);
    call("c", "read", "/data/train.bin", 23, 46'000, 94'277);
    call("c", "close", "/data/train.bin", 1, 900, {});
    event("page-faults", 4711, "");
    event("cycles", {}, "this machine has no PMU");
    for (int i = 0; i < 30; ++i)
      add({.stack = {"main@/usr/bin/python3",
                     i % 3 == 0 ? "conv2d@/lib/nn.so" : "relu@/lib/nn.so"}});
  }
};

}  // namespace fathom
