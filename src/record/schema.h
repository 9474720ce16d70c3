// SPDX-License-Identifier: Apache-2.0
// The one schema: every table and column with its unit and meaning, as data. The codec, the tables
// on disk, SQL, CSV, JSON and docs/formats all read it; nothing else lists columns. To add a
// column, append one line (never reorder or remove: the position is the field number on the wire).
// To add a table, append it to AllRecords and describe it here.
#pragma once

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "record/records.h"

namespace fathom {

// kDelta: stored as the difference to the row before; for times, which rise by little.
enum class Coding { kPlain, kDelta };

template <class Record, class Member>
struct Field {
  const char* name;
  Member Record::*member;
  const char* unit;
  const char* help;
  Coding coding = Coding::kPlain;
  // An earlier column that mostly has the same value: stored as the difference to it in rows that
  // know both.
  Member Record::*base = nullptr;
};
// Clang 14 cannot find this out for an aggregate.
template <class Record, class Member>
Field(const char*, Member Record::*, const char*, const char*) -> Field<Record, Member>;
template <class Record, class Member>
Field(const char*, Member Record::*, const char*, const char*, Coding) -> Field<Record, Member>;
template <class Record, class Member>
Field(const char*, Member Record::*, const char*, const char*, Coding, Member Record::*)
    -> Field<Record, Member>;

template <class Record>
struct TableOf;

// clang-format off
template <> struct TableOf<Run> {
  static constexpr const char* kName = "runs";
  static constexpr const char* kHelp = "One row a run: what ran, where, how it ended, what the recorder cost";
  static constexpr auto kFields = std::tuple{
      Field{"id", &Run::id, "", "sortable run id: UTC start time and a random tail"},
      Field{"label", &Run::label, "", "name the user gave, or the program's"},
      Field{"job", &Run::job, "", "job on a hub"},
      Field{"experiment", &Run::experiment, "", "experiment this run belongs to"},
      Field{"cell", &Run::cell, "", "configuration within the experiment"},
      Field{"repetition", &Run::repetition, "", "repetition of that configuration"},
      Field{"host", &Run::host, "", "host name"},
      Field{"kernel", &Run::kernel, "", "kernel release"},
      Field{"cpu_model", &Run::cpu_model, "", "CPU model as the kernel names it"},
      Field{"cores", &Run::cores, "cores", "online CPUs"},
      Field{"memory_bytes", &Run::memory_bytes, "bytes", "memory of the host"},
      Field{"virtualization", &Run::virtualization, "", "hypervisor if the CPU says there is one, else none"},
      Field{"user", &Run::user, "", "who recorded: user name or id"},
      Field{"command", &Run::command, "", "command line, quoted for a shell"},
      Field{"cwd", &Run::cwd, "", "working folder of the target"},
      Field{"launcher", &Run::launcher, "", "how the target was started or found"},
      Field{"image_digest", &Run::image_digest, "", "container image"},
      Field{"dataset_hash", &Run::dataset_hash, "", "content hash of the mounted data set"},
      Field{"limits", &Run::limits, "", "resource limits asked for"},
      Field{"start_ns", &Run::start_ns, "ns", "start, monotonic"},
      Field{"real_offset_ns", &Run::real_offset_ns, "ns", "add to a monotonic time for nanoseconds since 1970"},
      Field{"hub_offset_ns", &Run::hub_offset_ns, "ns", "add to a monotonic time for the hub's clock"},
      Field{"end_ns", &Run::end_ns, "ns", "end, monotonic; absent: the recorder was killed"},
      Field{"exit_status", &Run::exit_status, "", "exit status of the command"},
      Field{"exit_signal", &Run::exit_signal, "", "signal that ended it"},
      Field{"end_reason", &Run::end_reason, "", "exited, signalled, duration, timeout, interrupted, lost; ended: attached, and not known how"},
      Field{"interval_ns", &Run::interval_ns, "ns", "interval of sampled figures"},
      Field{"user_ns", &Run::user_ns, "ns", "CPU time in user mode of the whole tree"},
      Field{"system_ns", &Run::system_ns, "ns", "CPU time in the kernel of the whole tree"},
      Field{"peak_rss_bytes", &Run::peak_rss_bytes, "bytes", "largest resident set of any one process"},
      Field{"cgroup_peak_bytes", &Run::cgroup_peak_bytes, "bytes", "peak of the run's cgroup, page cache included"},
      Field{"processes", &Run::processes, "count", "processes seen"},
      Field{"threads", &Run::threads, "count", "threads seen, main threads included"},
      Field{"left_running", &Run::left_running, "count", "processes of the tree still alive at the end"},
      Field{"recorder_cpu_ns", &Run::recorder_cpu_ns, "ns", "CPU time of the recorder and its helpers, start and end included"},
      Field{"recorder_rss_bytes", &Run::recorder_rss_bytes, "bytes", "peak resident set of the recorder"},
      Field{"recorder_buffer_bytes", &Run::recorder_buffer_bytes, "bytes", "kernel rings and maps held by probes"},
      Field{"records", &Run::records, "count", "records written"},
      Field{"dropped", &Run::dropped, "count", "records lost anywhere, all probes"},
      Field{"version", &Run::version, "", "version of fathom"},
      Field{"wait_ns", &Run::wait_ns, "ns", "time runnable but waiting for a core, whole tree"},
      Field{"minor_faults", &Run::minor_faults, "count", "page faults served from memory, whole tree"},
      Field{"major_faults", &Run::major_faults, "count", "page faults that read from disk, whole tree"},
      Field{"read_chars", &Run::read_chars, "bytes", "bytes read by system calls, whole tree"},
      Field{"written_chars", &Run::written_chars, "bytes", "bytes written by system calls, whole tree"},
      Field{"disk_read_bytes", &Run::disk_read_bytes, "bytes", "bytes fetched from storage, whole tree"},
      Field{"disk_written_bytes", &Run::disk_written_bytes, "bytes", "bytes sent or due to storage, whole tree"},
      Field{"voluntary_switches", &Run::voluntary_switches, "count", "times a thread gave up the CPU to wait"},
      Field{"involuntary_switches", &Run::involuntary_switches, "count", "times a thread was preempted"},
      Field{"damage", &Run::damage, "", "what a killed recorder, a full disk or a damaged file left out; absent: nothing"},
      Field{"recorder_bpf_ns", &Run::recorder_bpf_ns, "ns", "CPU time of the recorder's BPF programs, in whatever tasks trigger them"},
  };
};

template <> struct TableOf<ProbeStatus> {
  static constexpr const char* kName = "probes";
  static constexpr const char* kHelp = "One row a probe: how it measured, what it saw, what it lost and cost";
  static constexpr auto kFields = std::tuple{
      Field{"probe", &ProbeStatus::probe, "", "name of the probe"},
      Field{"rung", &ProbeStatus::rung, "", "mechanisms in use"},
      Field{"settings", &ProbeStatus::settings, "", "settings in effect"},
      Field{"seen", &ProbeStatus::seen, "count", "events seen"},
      Field{"dropped", &ProbeStatus::dropped, "count", "events known to be lost"},
      Field{"why", &ProbeStatus::why, "", "why events were lost or figures are missing"},
      Field{"cpu_ns", &ProbeStatus::cpu_ns, "ns", "CPU time of the recorder spent in this probe"},
      Field{"memory_bytes", &ProbeStatus::memory_bytes, "bytes", "kernel rings and maps it holds"},
  };
};

template <> struct TableOf<Process> {
  static constexpr const char* kName = "processes";
  static constexpr const char* kHelp = "One row a process of the tree, from its first instruction to its last";
  static constexpr auto kFields = std::tuple{
      Field{"pid", &Process::pid, "", "process id, as the recorder sees it"},
      Field{"ppid", &Process::ppid, "", "process that started it"},
      Field{"name", &Process::name, "", "last command name"},
      Field{"exe", &Process::exe, "", "last executable"},
      Field{"args", &Process::args, "", "arguments, quoted for a shell, cut at 4 KiB"},
      Field{"container", &Process::container, "", "container it runs in"},
      Field{"host", &Process::host, "", "host it runs on, where it is not the run's"},
      Field{"mpi_rank", &Process::mpi_rank, "", "MPI rank"},
      Field{"start_ns", &Process::start_ns, "ns", "start, monotonic", Coding::kDelta},
      Field{"end_ns", &Process::end_ns, "ns", "end, monotonic; absent: still running or not seen"},
      Field{"exit_status", &Process::exit_status, "", "exit status, where it could be seen"},
      Field{"exit_signal", &Process::exit_signal, "", "signal that ended it"},
      Field{"user_ns", &Process::user_ns, "ns", "CPU time in user mode, all threads"},
      Field{"system_ns", &Process::system_ns, "ns", "CPU time in the kernel, all threads"},
      Field{"wait_ns", &Process::wait_ns, "ns", "time runnable but waiting for a core, all threads"},
      Field{"peak_rss_bytes", &Process::peak_rss_bytes, "bytes", "largest resident set"},
      Field{"minor_faults", &Process::minor_faults, "count", "page faults served from memory"},
      Field{"major_faults", &Process::major_faults, "count", "page faults that read from disk"},
      Field{"read_chars", &Process::read_chars, "bytes", "bytes read by system calls, caches and pipes included"},
      Field{"written_chars", &Process::written_chars, "bytes", "bytes written by system calls, pipes included"},
      Field{"disk_read_bytes", &Process::disk_read_bytes, "bytes", "bytes fetched from storage"},
      Field{"disk_written_bytes", &Process::disk_written_bytes, "bytes", "bytes sent or due to storage"},
      Field{"voluntary_switches", &Process::voluntary_switches, "count", "times it gave up the CPU to wait"},
      Field{"involuntary_switches", &Process::involuntary_switches, "count", "times it was preempted"},
      Field{"accounting", &Process::accounting, "", "exit: taken as it ended; wait: by its parent; polled: last look"},
      Field{"cpu_ns", &Process::cpu_ns, "ns", "CPU time, user and kernel mode together, all threads"},
  };
};

template <> struct TableOf<Thread> {
  static constexpr const char* kName = "threads";
  static constexpr const char* kHelp = "One row a thread";
  static constexpr auto kFields = std::tuple{
      Field{"pid", &Thread::pid, "", "its process"},
      Field{"tid", &Thread::tid, "", "thread id"},
      Field{"name", &Thread::name, "", "last name"},
      Field{"start_ns", &Thread::start_ns, "ns", "start, monotonic", Coding::kDelta},
      Field{"end_ns", &Thread::end_ns, "ns", "end, monotonic"},
      Field{"user_ns", &Thread::user_ns, "ns", "CPU time in user mode"},
      Field{"system_ns", &Thread::system_ns, "ns", "CPU time in the kernel"},
      Field{"cpu_ns", &Thread::cpu_ns, "ns", "CPU time, user and kernel mode together"},
  };
};

template <> struct TableOf<Sample> {
  static constexpr const char* kName = "samples";
  static constexpr const char* kHelp = "One row a stack sample";
  static constexpr auto kFields = std::tuple{
      Field{"time_ns", &Sample::time_ns, "ns", "when, monotonic", Coding::kDelta},
      Field{"thread", &Sample::thread, "", "which thread"},
      Field{"cpu", &Sample::cpu, "", "which CPU"},
      Field{"event", &Sample::event, "", "what triggered it"},
      Field{"rate_hz", &Sample::rate_hz, "Hz", "rate asked for; 0: not by rate"},
      Field{"stack", &Sample::stack, "", "stack; see stacks"},
      Field{"weight", &Sample::weight, "ns or events", "what it stands for, in the event's unit"},
      Field{"state", &Sample::state, "", "on-cpu or off-cpu"},
      Field{"reason", &Sample::reason, "", "why off-cpu"},
      Field{"detail", &Sample::detail, "", "more, as JSON"},
  };
};

template <> struct TableOf<Counter> {
  static constexpr const char* kName = "counters";
  static constexpr const char* kHelp = "Calls added up per slice of time, thread, layer, function and file";
  static constexpr auto kFields = std::tuple{
      Field{"slice_ns", &Counter::slice_ns, "ns", "start of the slice, monotonic", Coding::kDelta},
      Field{"slice_length_ns", &Counter::slice_length_ns, "ns", "length of the slice"},
      Field{"thread", &Counter::thread, "", "which thread"},
      Field{"layer", &Counter::layer, "", "sys, c, vfs, block, cuda, …"},
      Field{"name", &Counter::name, "", "function or event"},
      Field{"file", &Counter::file, "", "file, socket or pipe"},
      Field{"count", &Counter::count, "count", "calls that began in the slice"},
      Field{"time_ns", &Counter::time_ns, "ns", "time in them, calls inside included"},
      Field{"self_time_ns", &Counter::self_time_ns, "ns", "time in them, probed calls inside not",
            Coding::kPlain, &Counter::time_ns},
      Field{"bytes", &Counter::bytes, "bytes", "bytes moved"},
      Field{"errors", &Counter::errors, "count", "calls that failed"},
      Field{"latency", &Counter::latency, "count per log2 ns", "histogram: element i counts [2^i, 2^(i+1)) ns"},
      Field{"detail", &Counter::detail, "", "more, as JSON"},
  };
};

template <> struct TableOf<Span> {
  static constexpr const char* kName = "spans";
  static constexpr const char* kHelp = "One row a traced call";
  static constexpr auto kFields = std::tuple{
      Field{"start_ns", &Span::start_ns, "ns", "start, monotonic", Coding::kDelta},
      Field{"duration_ns", &Span::duration_ns, "ns", "how long"},
      Field{"thread", &Span::thread, "", "which thread"},
      Field{"layer", &Span::layer, "", "sys, c, vfs, block, cuda, …"},
      Field{"name", &Span::name, "", "function"},
      Field{"bytes", &Span::bytes, "bytes", "bytes moved"},
      Field{"file", &Span::file, "", "file, socket or pipe"},
      Field{"result", &Span::result, "", "what it returned; negative: the error number",
            Coding::kPlain, &Span::bytes},
      Field{"stack", &Span::stack, "", "stack; see stacks"},
      Field{"correlation", &Span::correlation, "", "joins a host call and its device work"},
      Field{"detail", &Span::detail, "", "more, as JSON"},
      Field{"offset_bytes", &Span::offset_bytes, "bytes", "where in the file it began"},
  };
};

template <> struct TableOf<Gauge> {
  static constexpr const char* kName = "gauges";
  static constexpr const char* kHelp = "Figures over time; those of unit ns, bytes and count that end in _total add up since the start";
  static constexpr auto kFields = std::tuple{
      Field{"time_ns", &Gauge::time_ns, "ns", "when, monotonic", Coding::kDelta},
      Field{"scope", &Gauge::scope, "", "tree, cgroup, host, gpu N, app, app PID, exec or exec N"},
      Field{"name", &Gauge::name, "", "what"},
      Field{"unit", &Gauge::unit, "", "unit of value"},
      Field{"value", &Gauge::value, "see unit", "how much"},
  };
};

template <> struct TableOf<NodeSum> {
  static constexpr const char* kName = "node_sums";
  static constexpr const char* kHelp = "Running sums per symbol and event";
  static constexpr auto kFields = std::tuple{
      Field{"symbol", &NodeSum::symbol, "", "function, offset stripped"},
      Field{"module", &NodeSum::module, "", "binary it is in"},
      Field{"program", &NodeSum::program, "", "program that ran it"},
      Field{"event", &NodeSum::event, "", "what was counted"},
      Field{"unit", &NodeSum::unit, "", "unit of sum"},
      Field{"sum", &NodeSum::sum, "see unit", "how much"},
  };
};

template <> struct TableOf<Row> {
  static constexpr const char* kName = "rows";
  static constexpr const char* kHelp = "Benchmark rows of a job";
  static constexpr auto kFields = std::tuple{
      Field{"job", &Row::job, "", "job"},
      Field{"index", &Row::index, "", "row number"},
      Field{"values", &Row::values, "", "named values, as JSON"},
  };
};

template <> struct TableOf<Mark> {
  static constexpr const char* kName = "marks";
  static constexpr const char* kHelp = "Moments with a text: steps, warnings, what the user marked";
  static constexpr auto kFields = std::tuple{
      Field{"time_ns", &Mark::time_ns, "ns", "when, monotonic", Coding::kDelta},
      Field{"text", &Mark::text, "", "what"},
  };
};

template <> struct TableOf<EventCount> {
  static constexpr const char* kName = "events";
  static constexpr const char* kHelp = "One row an event that was asked for: how often it came in the whole run, or why that is not known";
  static constexpr auto kFields = std::tuple{
      Field{"name", &EventCount::name, "", "event, as asked for; :u behind it where only user mode could be counted"},
      Field{"unit", &EventCount::unit, "", "unit of count: count or ns"},
      Field{"source", &EventCount::source, "", "perf: counted by the kernel; valgrind: simulated"},
      Field{"count", &EventCount::count, "see unit", "how many, scaled up where counters were shared; absent: not counted"},
      Field{"enabled_ns", &EventCount::enabled_ns, "ns", "time it was to be counted, CPUs added up"},
      Field{"running_ns", &EventCount::running_ns, "ns", "time of that it had a counter; less: count is scaled"},
      Field{"why", &EventCount::why, "", "why it is not counted, or not all of it"},
  };
};

template <> struct TableOf<Step> {
  static constexpr const char* kName = "steps";
  static constexpr const char* kHelp = "One row a step of the instructions that a container was given, with its own figures";
  static constexpr auto kFields = std::tuple{
      Field{"name", &Step::name, "", "as the instructions name it"},
      Field{"command", &Step::command, "", "what was executed"},
      Field{"repetition", &Step::repetition, "", "of a step that is repeated, from 1"},
      Field{"start_ns", &Step::start_ns, "ns", "start, monotonic", Coding::kDelta},
      Field{"end_ns", &Step::end_ns, "ns", "end, monotonic; absent: not reached, or not seen to end", Coding::kPlain},
      Field{"exit_status", &Step::exit_status, "", "exit status, if it exited"},
      Field{"exit_signal", &Step::exit_signal, "", "signal that ended it"},
      Field{"timed_out", &Step::timed_out, "", "1: ended at its time limit; absent: not reached"},
      Field{"user_ns", &Step::user_ns, "ns", "CPU time in user mode of all that ran meanwhile"},
      Field{"system_ns", &Step::system_ns, "ns", "CPU time in the kernel of all that ran meanwhile"},
      Field{"throttled_ns", &Step::throttled_ns, "ns", "time that tasks were held back by the CPU limit"},
      Field{"peak_bytes", &Step::peak_bytes, "bytes", "peak memory of the cgroup meanwhile, page cache included"},
      Field{"read_chars", &Step::read_chars, "bytes", "read by system calls"},
      Field{"written_chars", &Step::written_chars, "bytes", "written by system calls"},
      Field{"disk_read_bytes", &Step::disk_read_bytes, "bytes", "fetched from storage, by process accounting"},
      Field{"disk_written_bytes", &Step::disk_written_bytes, "bytes", "sent or due to storage, by process accounting"},
  };
};
// clang-format on

// The order is the table number: append only.
using AllRecords = std::tuple<Run, ProbeStatus, Process, Thread, Sample, Counter, Span, Gauge,
                              NodeSum, Row, Mark, EventCount, Step>;
constexpr size_t kTableCount = std::tuple_size_v<AllRecords>;

template <class Record, size_t I = 0>
constexpr size_t table_number() {
  if constexpr (std::is_same_v<std::tuple_element_t<I, AllRecords>, Record>) {
    return I;
  } else {
    return table_number<Record, I + 1>();
  }
}

// A set of tables, one bit each by table number.
using TableSet = uint32_t;
constexpr TableSet kAllTables = (1U << kTableCount) - 1;
template <class... Records>
constexpr TableSet tables_of() {
  return ((1U << table_number<Records>()) | ...);
}

// A record with a key is journalled again when more is known of it; the last one counts.
template <class Record>
concept Keyed = requires(const Record& record) {
  record.key();
};

// Calls visit(field, number) for each column; numbers start at 2 (1 is the row count on the wire).
template <class Record, class Visit>
constexpr void for_each_field(Visit&& visit) {
  std::apply(
      [&](const auto&... field) {
        uint32_t number = 2;
        (visit(field, number++), ...);
      },
      TableOf<Record>::kFields);
}

// Calls visit.template operator()<Record>() for each table in order.
template <class Visit>
constexpr void for_each_table(Visit&& visit) {
  [&]<size_t... I>(std::index_sequence<I...>) {
    (visit.template operator()<std::tuple_element_t<I, AllRecords>>(), ...);
  }
  (std::make_index_sequence<kTableCount>{});
}

}  // namespace fathom
