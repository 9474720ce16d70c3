// SPDX-License-Identifier: Apache-2.0
#include "probe/event_rings.h"

#include <sys/ioctl.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <queue>

#include "base/proc_system.h"

namespace fathom {
namespace {

// The last bytes of every record but a sample: kCommonSampleType in the kernel's order.
struct Trailer {
  uint32_t pid, tid;
  uint64_t time_ns;
  uint32_t cpu, reserved;
  uint64_t identifier;
};
struct TaskRecord {  // FORK and EXIT
  perf_event_header header;
  uint32_t pid, parent, tid, parent_tid;
};
struct CommRecord {
  perf_event_header header;
  uint32_t pid, tid;
  char name[1];
};
struct MapRecord {  // MMAP2
  perf_event_header header;
  uint32_t pid, tid;
  uint64_t start, length, file_offset;
  uint32_t major_number, minor_number;
  uint64_t inode, generation;
  uint32_t protection, flags;
  char path[1];
};
struct LostRecord {
  perf_event_header header;
  uint64_t identifier, lost;
};
// SAMPLE, its first fields.
struct SampleStart {
  perf_event_header header;
  uint64_t identifier;
  uint32_t pid, tid;
  uint64_t time_ns;
};

// The text from `at` to its NUL, not into the trailer.
std::string_view text_of(const perf_event_header& header, size_t at) {
  if (header.size < at + sizeof(Trailer)) return {};
  const char* text = reinterpret_cast<const char*>(&header) + at;
  return {text, strnlen(text, header.size - at - sizeof(Trailer))};
}

template <class Record>
const Record* as(const perf_event_header& header) {
  return header.size >= sizeof(Record) ? reinterpret_cast<const Record*>(&header) : nullptr;
}

bool read_map(const perf_event_header& header, TaskChange& change) {
  const auto* record = as<MapRecord>(header);
  if (record == nullptr) return false;
  change.kind = TaskChange::Kind::kMap;
  change.pid = record->pid;
  change.tid = record->tid;
  MapEvent& map = change.map;
  map.pid = record->pid;
  map.start = record->start;
  map.length = record->length;
  map.file_offset = record->file_offset;
  map.device = makedev(record->major_number, record->minor_number);
  map.inode = record->inode;
  map.path = text_of(header, offsetof(MapRecord, path));
  map.time_ns = change.time_ns;
  return true;
}

bool read_name(const perf_event_header& header, TaskChange& change) {
  const auto* record = as<CommRecord>(header);
  if (record == nullptr) return false;
  const bool exec = (header.misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
  change.kind = exec ? TaskChange::Kind::kExec : TaskChange::Kind::kName;
  change.pid = record->pid;
  change.tid = record->tid;
  change.name = text_of(header, offsetof(CommRecord, name));
  return true;
}

bool read_task(const perf_event_header& header, TaskChange& change) {
  const auto* record = as<TaskRecord>(header);
  if (record == nullptr) return false;
  const bool fork = header.type == PERF_RECORD_FORK;
  change.kind = fork ? TaskChange::Kind::kFork : TaskChange::Kind::kExit;
  change.pid = record->pid;
  change.tid = record->tid;
  change.parent = record->parent;
  return true;
}

// Of the same size on every CPU: what a user may lock is for all of them together.
Result<std::vector<PerfRing>> map_all(const std::vector<std::vector<Fd>>& events,
                                      size_t data_bytes) {
  std::vector<PerfRing> rings;
  for (const std::vector<Fd>& of_cpu : events) {
    TRY_ASSIGN(PerfRing ring, PerfRing::map(of_cpu.front().get(), data_bytes, data_bytes));
    rings.push_back(std::move(ring));
  }
  return rings;
}

}  // namespace

size_t ring_bytes_of(size_t all, size_t least, size_t most) {
  const auto cpus = online_cpus();
  const size_t count = cpus.ok() ? std::max<size_t>(1, cpus.value().size()) : 1;
  return std::clamp(std::bit_floor(all / count), least, most);
}

size_t changes_ring_bytes() {
  return ring_bytes_of(size_t{16} << 20, size_t{256} << 10, size_t{2} << 20);
}

perf_event_attr common_attr() {
  perf_event_attr attr{};
  attr.sample_type = kCommonSampleType;
  attr.sample_id_all = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.exclude_hv = 1;
  attr.exclude_idle = 1;
  attr.exclude_guest = 1;
  return attr;
}

Result<EventRings> EventRings::open(const SampledScope& scope, size_t data_bytes,
                                    size_t least_bytes) {
  perf_event_attr attr = common_attr();
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.exclude_kernel = 1;
  attr.mmap = attr.mmap2 = attr.task = attr.comm = attr.comm_exec = 1;
  attr.watermark = 1;  // of 0 bytes: half of whatever size the ring gets
  TRY_ASSIGN(const std::vector<int> cpus, online_cpus());
  std::vector<std::vector<Fd>> events;
  for (const int cpu : cpus) {
    TRY_ASSIGN(events.emplace_back(), scope.open(attr, cpu));
  }
  auto mapped = map_all(events, data_bytes);
  for (; !mapped.ok() && data_bytes / 2 >= least_bytes; mapped = map_all(events, data_bytes))
    data_bytes /= 2;
  if (!mapped.ok()) return std::move(mapped).error();
  EventRings rings;
  for (size_t i = 0; i < cpus.size(); ++i) {
    Ring& ring = rings.rings_.emplace_back(
        Ring{cpus[i], std::move(events[i]), std::move(mapped.value()[i])});
    for (size_t n = 1; n < ring.events.size(); ++n) {
      TRY(redirect(ring.events[n].get(), ring));
    }
  }
  return rings;
}

Status EventRings::redirect(int event_fd, const Ring& ring) {
  if (ioctl(event_fd, PERF_EVENT_IOC_SET_OUTPUT, ring.events.front().get()) != 0)
    return errno_error("share a ring");
  return {};
}

void EventRings::add_event(int event_fd, uint32_t sampler) {
  uint64_t number = 0;
  if (sampler != 0 && ioctl(event_fd, PERF_EVENT_IOC_ID, &number) == 0) samplers_[number] = sampler;
}

uint32_t EventRings::sampler_of(const perf_event_header& sample) const {
  if (samplers_.empty()) return 0;
  const auto* start = as<SampleStart>(sample);
  const auto found = start == nullptr ? samplers_.end() : samplers_.find(start->identifier);
  return found == samplers_.end() ? 0 : found->second;
}

void EventRings::take(const perf_event_header& header, SampleListener& listener) {
  TaskChange change;
  change.time_ns = record_time_ns(header);
  bool told = false;
  switch (header.type) {
    case PERF_RECORD_MMAP2:
      told = read_map(header, change);
      break;
    case PERF_RECORD_COMM:
      told = read_name(header, change);
      break;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
      told = read_task(header, change);
      break;
    case PERF_RECORD_LOST:
      if (const auto* record = as<LostRecord>(header)) lost_ += static_cast<int64_t>(record->lost);
      break;
    case PERF_RECORD_THROTTLE:
      ++throttled_;
      break;
    default:
      break;
  }
  if (told) listener.on_change(change);
}

std::vector<int> EventRings::wake_fds() const {
  std::vector<int> fds;
  for (const Ring& ring : rings_) fds.push_back(ring.events.front().get());
  return fds;
}

int64_t EventRings::mapped_bytes() const {
  int64_t sum = 0;
  for (const Ring& ring : rings_) sum += static_cast<int64_t>(ring.ring.mapped_bytes());
  return sum;
}

int64_t record_time_ns(const perf_event_header& header) {
  if (header.type == PERF_RECORD_SAMPLE) {
    const auto* sample = as<SampleStart>(header);
    return sample == nullptr ? 0 : static_cast<int64_t>(sample->time_ns);
  }
  if (header.size < sizeof(header) + sizeof(Trailer)) return 0;
  Trailer trailer{};
  std::memcpy(&trailer, reinterpret_cast<const char*>(&header) + header.size - sizeof(trailer),
              sizeof(trailer));
  return static_cast<int64_t>(trailer.time_ns);
}

void merge_streams(std::span<TimedStream* const> streams, SampleListener& listener,
                   int64_t until_ns) {
  using Head = std::pair<int64_t, TimedStream*>;
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  const auto look = [&](TimedStream* stream) {
    const int64_t time_ns = stream->next_ns();
    if (time_ns < until_ns) heads.emplace(time_ns, stream);
  };
  for (TimedStream* stream : streams) {
    stream->begin();
    look(stream);
  }
  while (!heads.empty()) {
    TimedStream* stream = heads.top().second;
    heads.pop();
    stream->deliver(listener);
    look(stream);
  }
  for (TimedStream* stream : streams) stream->end();
}

}  // namespace fathom
