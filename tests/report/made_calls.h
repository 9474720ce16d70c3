// SPDX-License-Identifier: Apache-2.0
// A recording of calls made by hand: single rows, or a file of them.
#pragma once

#include <fstream>
#include <sstream>

#include "report/made_samples.h"
#include "support/folders.h"

namespace fathom {

// A file of calls, or what a report says of one.
inline std::string calls_path(const std::string& name) {
  return test_data() + "/io_report/" + name;
}

struct MadeCall {
  std::string name = {};
  std::string file = {};
  int64_t at_ns = 0;  // start of the call, or of the slice
  int64_t calls = 1;
  Maybe time_ns = {}, self_ns = {}, bytes = {}, errors = {};
  std::vector<int64_t> latency = {};
  int64_t slice_ns = 1'000'000'000;
  std::string layer = "c";
  int64_t pid = 1, tid = 1;
  std::vector<std::string> stack = {};  // of a span; as MadeSample has it
};

class MadeCalls : public MadeSamples {
 public:
  void io_probe(int64_t dropped = 0, std::string_view why = {}, std::string_view settings = {}) {
    ProbeStatus probe;
    probe.probe = out().string("io");
    probe.dropped = dropped;
    probe.why = out().string(why);
    probe.settings = out().string(settings);
    out().add(probe);
  }

  void counter(const MadeCall& made) {
    Counter counter;
    counter.slice_ns = made.at_ns;
    counter.slice_length_ns = made.slice_ns;
    counter.count = made.calls;
    counter.time_ns = made.time_ns;
    counter.self_time_ns = made.self_ns;
    counter.bytes = made.bytes;
    counter.errors = made.errors;
    name(made, counter);
    counter.latency = out().histogram(made.latency);
    out().add(counter);
  }

  // time_ns is how long it took; errors: it failed so many times, that is once or not.
  void span(const MadeCall& made) {
    Span span;
    span.start_ns = made.at_ns;
    span.duration_ns = made.time_ns.value_or(0);
    span.bytes = made.bytes;
    span.result = made.errors.value_or(0) > 0 ? -5 : made.bytes.value_or(0);
    span.stack = stack_of(made.stack);
    name(made, span);
    out().add(span);
  }

  // A line each, "-" for what is absent:
  //   process PID NAME · thread PID TID NAME · probe DROPPED WHY
  //   counter|span PID TID LAYER NAME AT_MS CALLS TIME_NS SELF_NS BYTES ERRORS FILE
  //   LATENCY,LATENCY,…
  void read(const std::string& path) {
    std::ifstream in(path);
    std::string line;
    while (std::getline(in, line)) {
      std::istringstream words(line);
      std::string kind;
      words >> kind;
      if (kind.empty() || kind[0] == '#') continue;
      read_line(kind, words);
    }
  }

 private:
  template <class Record>
  void name(const MadeCall& made, Record& record) {
    if (made.tid != 0) record.thread = out().names().thread(made.pid, made.tid);
    record.layer = out().string(made.layer);
    record.name = out().string(made.name);
    record.file = out().string(made.file);
  }

  static Maybe number(std::istream& words) {
    std::string word;
    words >> word;
    return word == "-" ? Maybe() : Maybe(std::stoll(word));
  }

  static std::string rest(std::istream& words) {
    std::string text;
    std::getline(words >> std::ws, text);
    return text == "-" ? "" : text;
  }

  void read_line(const std::string& kind, std::istream& words) {
    if (kind == "process") {
      const int64_t pid = number(words).value();
      process(pid, rest(words));
    } else if (kind == "thread") {
      const int64_t pid = number(words).value();
      const int64_t tid = number(words).value();
      thread(pid, tid, rest(words));
    } else if (kind == "probe") {
      const int64_t dropped = number(words).value();
      io_probe(dropped, rest(words));
    } else {
      const MadeCall made = read_call(words);
      ASSERT_TRUE(kind == "counter" || kind == "span") << kind;
      if (kind == "counter") counter(made);
      if (kind == "span") span(made);
    }
  }

  static MadeCall read_call(std::istream& words) {
    MadeCall made;
    made.pid = number(words).value();
    made.tid = number(words).value();
    double at_ms = 0;
    words >> made.layer >> made.name >> at_ms;
    made.at_ns = static_cast<int64_t>(at_ms * 1e6);
    made.calls = number(words).value();
    made.time_ns = number(words);
    made.self_ns = number(words);
    made.bytes = number(words);
    made.errors = number(words);
    words >> made.file;
    const std::string latency = rest(words);
    if (made.file == "-") made.file.clear();
    for (const std::string_view count : split_words(latency, ','))
      made.latency.push_back(std::stoll(std::string(count)));
    return made;
  }
};

}  // namespace fathom
