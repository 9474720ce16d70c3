// SPDX-License-Identifier: Apache-2.0
// A recording of samples made by hand, and what a report says of it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/text.h"
#include "report/report.h"
#include "sink/record_stream.h"
#include "support/temp_folder.h"

namespace fathom {

struct MadeSample {
  // From the root: "name@module|file.c:12" and suffix _[k], _[i], _[j].
  std::vector<std::string> stack = {};
  int64_t weight = 1;
  int64_t pid = 0, tid = 0;  // 0: no thread
  std::string event = "cpu-clock";
  std::string unwind = {};
  int64_t time_ns = 0;
  int64_t rate_hz = 99;
};

class MadeSamples {
 public:
  MadeSamples() : sink_(open_sink("file", folder_ / "journal").value()), out_(*sink_) {
    run_.id = out_.string("id");
    run_.command = out_.string("make -j2");
    run_.start_ns = 0;
    run_.end_ns = 2'000'000'000;
  }

  RecordStream& out() { return out_; }
  Run& run() { return run_; }
  [[nodiscard]] const std::string& path() const { return folder_.path(); }

  void process(int64_t pid, std::string_view name, int64_t start_ns = 0) {
    Process process;
    process.pid = pid;
    process.name = out_.string(name);
    process.start_ns = start_ns;
    out_.add(process);
  }

  void thread(int64_t pid, int64_t tid, std::string_view name) {
    Thread thread;
    thread.pid = pid;
    thread.tid = tid;
    thread.name = out_.string(name);
    out_.add(thread);
  }

  void stacks_probe(int64_t dropped = 0) {
    ProbeStatus probe;
    probe.probe = out_.string("stacks");
    probe.dropped = dropped;
    out_.add(probe);
  }

  void add(const MadeSample& made) {
    Sample sample;
    sample.weight = made.weight;
    sample.event = out_.string(made.event);
    sample.time_ns = made.time_ns;
    sample.rate_hz = made.rate_hz;
    if (made.tid != 0) sample.thread = out_.names().thread(made.pid, made.tid);
    sample.stack = stack_of(made.stack);
    if (!made.unwind.empty()) {
      const DetailItem item{out_.string("unwind"), out_.string(made.unwind)};
      sample.detail = out_.names().detail(std::span(&item, 1));
    }
    out_.add(sample);
  }

  Recording finish() {
    out_.add(run_);
    EXPECT_TRUE(out_.close().ok());
    auto recording = Recording::open(folder_.path());
    EXPECT_TRUE(recording.ok());
    return std::move(recording).value();
  }

 protected:
  // From the root, each as MadeSample has it.
  StackId stack_of(const std::vector<std::string>& frames) {
    StackId stack{};
    for (const std::string& frame : frames) stack = out_.names().stack(stack, frame_of(frame));
    return stack;
  }

 private:
  FrameId frame_of(std::string_view text) {
    Frame frame;
    frame.kind = FrameKind::kNative;
    if (text.ends_with("_[k]")) frame.kind = FrameKind::kKernel;
    if (text.ends_with("_[i]")) frame.kind = FrameKind::kInlined;
    if (text.ends_with("_[j]")) frame.kind = FrameKind::kJava;
    if (frame.kind != FrameKind::kNative) text.remove_suffix(4);
    frame.line = ++line_;  // no two alike: reports take them together
    if (const size_t bar = text.find('|'); bar != std::string_view::npos) {
      const std::string_view place = text.substr(bar + 1);
      const size_t colon = place.find(':');
      frame.file = out_.string(place.substr(0, colon));
      frame.line = static_cast<uint32_t>(parse_number(place.substr(colon + 1)).value());
      text = text.substr(0, bar);
    }
    const size_t at = text.find('@');
    if (at != std::string_view::npos) frame.module = out_.string(text.substr(at + 1));
    frame.symbol = out_.string(text.substr(0, at));
    return out_.names().frame(frame);
  }

  TempFolder folder_;
  std::unique_ptr<Sink> sink_;
  RecordStream out_;
  Run run_;
  uint32_t line_ = 0;
};

// What a report writes.
inline std::string report_text(const Recording& recording, const char* format,
                               ReportOptions options = {}) {
  const TempFolder folder;
  options.out = std::fopen((folder / "report").c_str(), "w");
  const auto written = find_report(format).value()->write(recording, options);
  EXPECT_TRUE(written.ok()) << written.error().message;
  std::fclose(options.out);
  return read_file(folder / "report").value();
}

// Names that break careless writers.
inline std::vector<std::string> hostile_names() {
  return {"<script>alert(1)</script>",
          "a\"b'c&d",
          "]]><svg onload='x()'>",
          "semi;colon",
          "two\nlines\r\t",
          std::string("nul\0byte", 8),
          "\xff\xfe not utf-8 \xc3",
          "\x1b[31mred",
          "\xEF\xBF\xBE noncharacter \xEF\xBF\xBF",
          "日本語の関数 \xE2\x80\xAE flip",
          "operator<< <int>(a, b)",
          "std::map<int, std::vector<long> >::find(int const&) const 17",
          std::string(65536, 'x')};
}

}  // namespace fathom
