// SPDX-License-Identifier: Apache-2.0
#include "report/pftrace_report.h"

#include <algorithm>
#include <map>
#include <set>
#include <protozero/pbf_writer.hpp>

#include "base/saturate.h"
#include "report/call_totals.h"
#include "report/pftrace_stacks.h"

namespace fathom {
namespace {

// Field numbers of Perfetto's trace schema, which is public and does not change.
namespace trace {
constexpr uint32_t kPacket = 1;
}
namespace packet {
constexpr uint32_t kTimestamp = 8, kSequence = 10, kEvent = 11, kInterned = 12, kFlags = 13,
                   kClock = 58, kDescriptor = 60;
}
namespace track {
constexpr uint32_t kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8;
}
namespace process {
constexpr uint32_t kPid = 1, kName = 6;
}
namespace thread {
constexpr uint32_t kPid = 1, kTid = 2, kName = 5;
}
namespace event {
constexpr uint32_t kAnnotation = 4, kType = 9, kTrack = 11, kCategory = 22, kName = 23, kValue = 30,
                   kFlow = 47, kCallstack = 56;
constexpr int32_t kBegin = 1, kEnd = 2, kInstant = 3, kCount = 4;
}  // namespace event
namespace annotation {
constexpr uint32_t kInt = 4, kString = 6, kName = 10, kKnownString = 17;
}

constexpr uint32_t kOneSequence = 1, kMonotonic = 3, kIncrementalStateCleared = 1,
                   kNeedsIncrementalState = 2;
constexpr uint64_t kCounterTracks = uint64_t{1} << 63;

class Packets {
 public:
  explicit Packets(std::FILE* out) : out_(out) {}

  [[nodiscard]] bool empty() const { return first_; }

  template <class Fill>
  Status add(Fill&& fill) {
    std::string body, bytes;
    protozero::pbf_writer writer(body);
    fill(writer);
    writer.add_uint32(packet::kSequence, kOneSequence);
    writer.add_uint32(packet::kFlags,
                      (first_ ? kIncrementalStateCleared : 0) | kNeedsIncrementalState);
    first_ = false;
    protozero::pbf_writer(bytes).add_message(trace::kPacket, body);
    return print_to(out_, bytes);
  }

  template <class Fill>
  Status add_event(int64_t time_ns, int32_t type, uint64_t on, Fill&& fill) {
    return add([&](protozero::pbf_writer& to) {
      to.add_uint64(packet::kTimestamp, static_cast<uint64_t>(std::max<int64_t>(time_ns, 0)));
      to.add_uint32(packet::kClock, kMonotonic);
      protozero::pbf_writer event(to, packet::kEvent);
      event.add_int32(event::kType, type);
      event.add_uint64(event::kTrack, on);
      fill(event);
    });
  }

 private:
  std::FILE* out_;
  bool first_ = true;
};

class Tracks {
 public:
  Tracks(Packets& packets, const Collected& tables) : packets_(packets) {
    for (const Process& process : tables.rows.of<Process>())
      processes_[process.pid] = tables.text(process.name);
    for (const Thread& thread : tables.rows.of<Thread>())
      threads_[{thread.pid, thread.tid}] = tables.text(thread.name);
  }

  // The track of a thread, told when it is first asked for.
  Result<uint64_t> of_thread(const ThreadKey& key) {
    const uint64_t uuid = static_cast<uint64_t>(key.pid) << 32 | static_cast<uint32_t>(key.tid);
    const uint64_t parent = static_cast<uint64_t>(key.pid) << 32 | UINT32_MAX;
    if (told_.insert(parent).second) TRY(tell_process(key.pid, parent));
    if (!told_.insert(uuid).second) return uuid;
    TRY(packets_.add([&](protozero::pbf_writer& to) {
      protozero::pbf_writer track(to, packet::kDescriptor);
      track.add_uint64(track::kUuid, uuid);
      track.add_uint64(track::kParent, parent);
      protozero::pbf_writer thread(track, track::kThread);
      thread.add_int32(thread::kPid, static_cast<int32_t>(key.pid));
      thread.add_int32(thread::kTid, static_cast<int32_t>(key.tid));
      const auto name = threads_.find({key.pid, key.tid});
      if (name != threads_.end()) thread.add_string(thread::kName, name->second);
    }));
    return uuid;
  }

  // Requests that begin and end in different tasks overlap: a track for as many as do at a time.
  Result<uint64_t> of_request(const std::string& layer, int64_t start_ns, int64_t end_ns) {
    std::vector<int64_t>& lanes = lanes_[layer];
    const auto free = std::find_if(lanes.begin(), lanes.end(), [&](int64_t busy_until_ns) {
      return busy_until_ns <= start_ns;
    });
    const auto lane = static_cast<size_t>(free - lanes.begin());
    if (free == lanes.end()) lanes.push_back(0);
    lanes[lane] = end_ns;
    return of_name(layer + " " + std::to_string(lane + 1), false);
  }

  Result<uint64_t> of_layer(const std::string& layer) {
    return of_name(layer + " bytes in a slice", true);
  }

 private:
  Result<uint64_t> of_name(const std::string& name, bool counts) {
    const auto known = layers_.find(name);
    if (known != layers_.end()) return known->second;
    const uint64_t uuid = kCounterTracks | layers_.size();
    layers_.emplace(name, uuid);
    TRY(packets_.add([&](protozero::pbf_writer& to) {
      protozero::pbf_writer track(to, packet::kDescriptor);
      track.add_uint64(track::kUuid, uuid);
      track.add_string(track::kName, name);
      if (counts) track.add_message(track::kCounter, std::string());
    }));
    return uuid;
  }

  Status tell_process(int64_t pid, uint64_t uuid) {
    return packets_.add([&](protozero::pbf_writer& to) {
      protozero::pbf_writer track(to, packet::kDescriptor);
      track.add_uint64(track::kUuid, uuid);
      protozero::pbf_writer process(track, track::kProcess);
      process.add_int32(process::kPid, static_cast<int32_t>(pid));
      process.add_string(process::kName, processes_[pid]);
    });
  }

  Packets& packets_;
  std::map<int64_t, std::string> processes_;
  std::map<std::pair<int64_t, int64_t>, std::string> threads_;
  std::map<std::string, uint64_t> layers_;
  std::map<std::string, std::vector<int64_t>> lanes_;  // when each is free again
  std::set<uint64_t> told_;
};

// Of what ran on a device: which, and in which of its streams; kernels of one may overlap.
std::string stream_of(const Span& span, const Dictionary& names) {
  std::string device = "?", stream = "?";
  if (span.detail == DetailId::kNone) return "gpu";
  for (const DetailItem& item : names.items(span.detail)) {
    const StringId* value = std::get_if<StringId>(&item.value);
    if (value == nullptr) continue;
    if (names.text(item.key) == "device") device = names.text(*value);
    if (names.text(item.key) == "stream") stream = names.text(*value);
  }
  return "gpu " + device + " stream " + stream;
}

bool is_request(std::string_view layer) {
  return layer == "block" || layer == "io_uring" || layer == "jbd2";
}

Status write_span(const Span& span, const Dictionary& names, Packets& packets, Tracks& tracks,
                  PftraceStacks& stacks) {
  int64_t end_ns = span.start_ns;
  add_saturating(end_ns, std::max<int64_t>(span.duration_ns, 0));
  const std::string layer(names.text(span.layer));
  const bool on_device = layer == "gpu";
  TRY_ASSIGN(
      const uint64_t track,
      on_device || is_request(layer)
          ? tracks.of_request(on_device ? stream_of(span, names) : layer, span.start_ns, end_ns)
          : tracks.of_thread(names.threads[index_of(span.thread)]));
  const auto note = [](protozero::pbf_writer& event, const char* name, auto&& fill) {
    protozero::pbf_writer to(event, event::kAnnotation);
    to.add_string(annotation::kName, name);
    fill(to);
  };
  uint64_t stack = 0;
  if (span.stack != StackId::kNone) {
    std::string interned;
    stack = stacks.number(span.stack, interned);
    if (!interned.empty())
      TRY(packets.add(
          [&](protozero::pbf_writer& to) { to.add_message(packet::kInterned, interned); }));
  }
  const bool lasts = end_ns > span.start_ns;
  const int32_t type = lasts ? event::kBegin : event::kInstant;
  TRY(packets.add_event(span.start_ns, type, track, [&](protozero::pbf_writer& event) {
    event.add_string(event::kCategory, layer);
    const StringId name = on_device && span.file != StringId::kNone ? span.file : span.name;
    event.add_string(event::kName, std::string(names.text(name)));
    if (span.correlation) event.add_fixed64(event::kFlow, static_cast<uint64_t>(*span.correlation));
    if (span.file != StringId::kNone)
      note(event, "file", [&](protozero::pbf_writer& to) {
        to.add_string(annotation::kString, std::string(names.text(span.file)));
      });
    if (span.bytes)
      note(event, "bytes",
           [&](protozero::pbf_writer& to) { to.add_int64(annotation::kInt, *span.bytes); });
    if (stack == 0) return;
    // Newer Perfettos show callstacks of slices, older ones the text.
    event.add_uint64(event::kCallstack, stack);
    note(event, "stack",
         [&](protozero::pbf_writer& to) { to.add_uint64(annotation::kKnownString, stack); });
  }));
  if (!lasts) return {};
  return packets.add_event(end_ns, event::kEnd, track, [](protozero::pbf_writer&) {});
}

}  // namespace

Status write_pftrace_report(const Recording& recording, const ReportOptions& options) {
  TRY_ASSIGN(const auto tables, collect(recording, tables_of<Process, Thread>()));
  Packets packets(options.out);
  Tracks tracks(packets, *tables);
  std::map<std::pair<std::string, int64_t>, int64_t> moved;
  TRY(recording.read(tables_of<Counter>(), [&](const Batch& batch) -> Status {
    for (const Counter& counter : batch.rows.of<Counter>()) {
      if (counter.bytes)
        add_saturating(moved[{std::string(batch.dictionary.text(counter.layer)), counter.slice_ns}],
                       *counter.bytes);
    }
    return {};
  }));
  for (const auto& [key, bytes] : moved) {
    TRY_ASSIGN(const uint64_t track, tracks.of_layer(key.first));
    const int64_t value = bytes;
    TRY(packets.add_event(key.second, event::kCount, track, [value](protozero::pbf_writer& event) {
      event.add_int64(event::kValue, value);
    }));
  }
  PftraceStacks stacks;
  const Status written = recording.read(tables_of<Span>(), [&](const Batch& batch) -> Status {
    stacks.begin_batch(batch.dictionary);
    // Outer calls begin first.
    std::vector<const Span*> spans;
    for (const Span& span : batch.rows.of<Span>()) spans.push_back(&span);
    std::stable_sort(spans.begin(), spans.end(), [](const Span* a, const Span* b) {
      return a->start_ns != b->start_ns ? a->start_ns < b->start_ns
                                        : a->duration_ns > b->duration_ns;
    });
    for (const Span* span : spans)
      TRY(write_span(*span, batch.dictionary, packets, tracks, stacks));
    return {};
  });
  if (written.ok() && packets.empty()) return no_calls_error(recording);
  return written;
}

}  // namespace fathom
