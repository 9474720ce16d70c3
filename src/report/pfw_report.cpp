// SPDX-License-Identifier: Apache-2.0
#include "report/pfw_report.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/saturate.h"
#include "record/batch_names.h"
#include "report/call_totals.h"
#include "report/pfw_line.h"

namespace fathom {
namespace {

constexpr std::string_view kEvents = "counters";  // that were only counted: no calls

// The first slice, and the first look at the host, are before the program begins.
int64_t since(int64_t time_ns, int64_t start_ns) {
  return std::max<int64_t>(difference_saturating(time_ns, start_ns), 0);
}

// Writes the head of the file before the first event.
class EventWriter {
 public:
  EventWriter(const PfwLines& lines, std::FILE* out) : lines_(lines), out_(out) {}

  Status write(std::string_view event) {
    if (empty_) TRY(print_to(out_, lines_.head()));
    empty_ = false;
    return print_to(out_, event);
  }
  [[nodiscard]] bool empty() const { return empty_; }

 private:
  const PfwLines& lines_;
  std::FILE* out_;
  bool empty_ = true;
};

// Counters of one slice, thread, function and file, which may have come in several rows.
class SliceSums {
 public:
  void add(const Batch& batch) {
    BatchNames names(batch.dictionary, names_);
    for (const Counter& counter : batch.rows.of<Counter>()) {
      if (batch.dictionary.text(counter.layer) == kEvents) continue;
      Sum& sum = sums_[{counter.slice_ns, names.thread(counter.thread), names.string(counter.layer),
                        names.string(counter.name), names.string(counter.file)}];
      add_saturating(sum.count, counter.count);
      add_saturating(sum.time_ns, counter.time_ns);
      add_saturating(sum.bytes, counter.bytes);
    }
  }

  Status write(PfwLines& lines, int64_t start_ns, EventWriter& out) const {
    for (const auto& [key, sum] : sums_) {
      const auto& [slice_ns, thread, layer, name, file] = key;
      PfwCall call;
      const ThreadKey& who = names_.dictionary().threads[index_of(thread)];
      call.pid = who.pid;
      call.tid = who.tid;
      call.layer = names_.text(layer);
      call.name = names_.text(name);
      call.file = names_.text(file);
      call.at_ns = since(slice_ns, start_ns);
      call.count = sum.count;
      call.time_ns = sum.time_ns;
      call.bytes = sum.bytes;
      TRY(out.write(lines.counter(call)));
    }
    return {};
  }

 private:
  struct Sum {
    int64_t count = 0;
    Maybe time_ns, bytes;
  };
  Interner names_;
  std::map<std::tuple<int64_t, ThreadId, StringId, StringId, StringId>, Sum> sums_;
};

Status write_spans(const Batch& batch, PfwLines& lines, int64_t start_ns, EventWriter& out) {
  const Dictionary& names = batch.dictionary;
  for (const Span& span : batch.rows.of<Span>()) {
    PfwCall call;
    const ThreadKey& who = names.threads[index_of(span.thread)];
    call.pid = who.pid;
    call.tid = who.tid;
    call.layer = names.text(span.layer);
    call.name = names.text(span.name);
    call.file = names.text(span.file);
    call.at_ns = difference_saturating(span.start_ns, start_ns);
    call.time_ns = span.duration_ns;
    call.bytes = span.bytes;
    TRY(out.write(lines.call(call)));
  }
  return {};
}

Status write_gauges(const Batch& batch, PfwLines& lines, int64_t start_ns, EventWriter& out) {
  const Dictionary& names = batch.dictionary;
  for (const Gauge& gauge : batch.rows.of<Gauge>()) {
    if (names.text(gauge.scope) != "host") continue;
    TRY(out.write(lines.gauge(names.text(gauge.name), names.text(gauge.unit),
                              since(gauge.time_ns, start_ns), gauge.value)));
  }
  return {};
}

}  // namespace

Status write_pfw_report(const Recording& recording, const ReportOptions& options) {
  TRY_ASSIGN(const auto tables, collect(recording, tables_of<Run>()));
  const std::vector<Run>& runs = tables->rows.of<Run>();
  const int64_t start_ns = runs.empty() ? 0 : runs.front().start_ns;
  PfwLines lines(options.generation,
                 runs.empty() ? "" : std::string(tables->text(runs.front().host)));
  EventWriter out(lines, options.out);
  SliceSums sums;
  TRY(recording.read(tables_of<Counter>(), [&](const Batch& batch) -> Status {
    sums.add(batch);
    return {};
  }));
  TRY(sums.write(lines, start_ns, out));
  TRY(recording.read(tables_of<Span>(),
                     [&](const Batch& batch) { return write_spans(batch, lines, start_ns, out); }));
  if (options.generation >= 2) {
    TRY(recording.read(tables_of<Gauge>(), [&](const Batch& batch) {
      return write_gauges(batch, lines, start_ns, out);
    }));
  }
  if (out.empty()) return no_calls_error(recording);
  return print_to(options.out, lines.tail());
}

}  // namespace fathom
