// SPDX-License-Identifier: Apache-2.0
#include "record/time_cut.h"

#include <algorithm>

namespace fathom {
namespace {

template <class Record>
void keep(Rows& rows, const TimeCut& cut, int64_t Record::*time) {
  std::erase_if(rows.of<Record>(), [&](const Record& record) { return !cut.holds(record.*time); });
}

// Lives that have nothing in common with the time.
template <class Record>
void keep_lives(Rows& rows, const TimeCut& cut) {
  std::erase_if(rows.of<Record>(), [&](const Record& record) {
    return record.start_ns >= cut.to_ns || (record.end_ns && *record.end_ns <= cut.from_ns);
  });
}

template <class Record>
bool is_within(const Record& record, const TimeCut& cut) {
  return record.start_ns >= cut.from_ns && record.end_ns && *record.end_ns <= cut.to_ns;
}

void forget(std::initializer_list<Maybe*> figures) {
  for (Maybe* figure : figures) figure->reset();
}

void cut_run(Run& run, const TimeCut& cut) {
  run.start_ns = std::max(run.start_ns, cut.from_ns);
  if (run.end_ns) run.end_ns = std::max(run.start_ns, std::min(*run.end_ns, cut.to_ns));
  forget({&run.user_ns, &run.system_ns, &run.peak_rss_bytes, &run.cgroup_peak_bytes, &run.processes,
          &run.threads, &run.wait_ns, &run.minor_faults, &run.major_faults, &run.read_chars,
          &run.written_chars, &run.disk_read_bytes, &run.disk_written_bytes,
          &run.voluntary_switches, &run.involuntary_switches});
}

void cut_process(Process& process) {
  forget({&process.user_ns, &process.system_ns, &process.wait_ns, &process.peak_rss_bytes,
          &process.minor_faults, &process.major_faults, &process.read_chars, &process.written_chars,
          &process.disk_read_bytes, &process.disk_written_bytes, &process.voluntary_switches,
          &process.involuntary_switches, &process.cpu_ns});
}

}  // namespace

void cut_rows(Rows& rows, const TimeCut& cut) {
  keep(rows, cut, &Sample::time_ns);
  keep(rows, cut, &Gauge::time_ns);
  keep(rows, cut, &Mark::time_ns);
  keep(rows, cut, &Counter::slice_ns);
  keep(rows, cut, &Span::start_ns);
  keep_lives<Process>(rows, cut);
  keep_lives<Thread>(rows, cut);
  for (Run& run : rows.of<Run>()) cut_run(run, cut);
  for (Process& process : rows.of<Process>()) {
    if (!is_within(process, cut)) cut_process(process);
  }
  for (Thread& thread : rows.of<Thread>()) {
    if (!is_within(thread, cut)) forget({&thread.user_ns, &thread.system_ns, &thread.cpu_ns});
  }
}

}  // namespace fathom
