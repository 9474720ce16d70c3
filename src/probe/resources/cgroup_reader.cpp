// SPDX-License-Identifier: Apache-2.0
#include "probe/resources/cgroup_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/proc_system.h"
#include "probe/resources/cgroup_text.h"

namespace fathom {
namespace {

constexpr int64_t kNsPerUs = 1000;
constexpr int64_t kCloseNs = 50'000;  // a counter and its time are read within this time
constexpr int kMaxAttempts = 4;
constexpr int64_t kChargeBytes = 64 * 4096;

Maybe times(const Maybe& value, int64_t factor) {
  return value ? Maybe(*value * factor) : std::nullopt;
}

// Sums name=value over the devices of io.stat.
Maybe sum_of(std::string_view text, std::string_view name) {
  Maybe sum;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (const Maybe value = find_number(text.substr(0, end), name)) sum = sum.value_or(0) + *value;
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return sum;
}

void add(Maybe& sum, const Maybe& more) {
  if (more) sum = sum.value_or(0) + *more;
}

Maybe stalled_ns(const RereadFile& file) {
  const auto pressure = parse_pressure(file.read());
  return pressure.ok() ? Maybe(pressure.value().some_ns) : std::nullopt;
}

// The file in the unified tree if it is there, else the one in a version-1 tree.
RereadFile either(const std::string& unified, const char* name, const std::string& v1,
                  const char* name_v1) {
  if (!unified.empty()) {
    if (RereadFile file(unified + name); file.valid()) return file;
  }
  return v1.empty() ? RereadFile() : RereadFile(v1 + name_v1);
}

RereadFile in(const std::string& folder, const char* name) {
  return folder.empty() ? RereadFile() : RereadFile(folder + name);
}

}  // namespace

StallReader::StallReader()
    : cpu_("/proc/pressure/cpu"), io_("/proc/pressure/io"), memory_("/proc/pressure/memory") {}

Stalls StallReader::read() {
  const auto rose = [](const RereadFile& file, Maybe& before) {
    const Maybe now = stalled_ns(file);
    const bool same = now && now == before;
    before = now;
    return !same;
  };
  return {rose(cpu_, cpu_ns_), rose(io_, io_ns_), rose(memory_, memory_ns_)};
}

CgroupReader::CgroupReader(const Cgroup& cgroup)
    : cpu_stat_(in(cgroup.unified(), "/cpu.stat")),
      io_stat_(in(cgroup.unified(), "/io.stat")),
      pids_(either(cgroup.unified(), "/pids.current", cgroup.pids(), "/pids.current")),
      cpu_pressure_(in(cgroup.unified(), "/cpu.pressure")),
      io_pressure_(in(cgroup.unified(), "/io.pressure")),
      memory_pressure_(in(cgroup.unified(), "/memory.pressure")),
      blkio_v1_(in(cgroup.blkio(), "/blkio.throttle.io_service_bytes_recursive")),
      ours_(cgroup.is_ours()) {
  const bool shared = cgroup.limited().size() == 1 && cgroup.limited()[0].shared;
  const std::string unified = shared ? cgroup.limited()[0].memory : cgroup.unified();
  const std::string memory = shared ? cgroup.limited()[0].memory : cgroup.memory();
  memory_ = either(unified, "/memory.current", memory, "/memory.usage_in_bytes");
  peak_ = either(unified, "/memory.peak", memory, "/memory.max_usage_in_bytes");
  events_ = either(unified, "/memory.events", memory, "/memory.oom_control");
  memory_stat_ = either(unified, "/memory.stat", memory, "/memory.stat");
  swap_ = in(unified, "/memory.swap.current");
  // The limit is that of the container's own cgroup.
  const std::string limit = cgroup.limited().size() == 1 ? cgroup.limited()[0].memory : memory;
  hits_ = either(unified, "/memory.events", limit.empty() ? memory : limit, "/memory.failcnt");
  // With a limit of memory and swap together, its failures are counted apart.
  hits_swap_ = in(limit.empty() ? memory : limit, "/memory.memsw.failcnt");
  own_usage_ = in(limit.empty() ? memory : limit, "/memory.usage_in_bytes");
  own_peak_ = in(limit.empty() ? memory : limit, "/memory.max_usage_in_bytes");
  own_limit_ = in(limit.empty() ? memory : limit, "/memory.limit_in_bytes");
  for (const Cgroup::Limited& limited : cgroup.limited()) {
    using Below = ThrottleReader::Below;
    const Below below = limited.of_recorder ? Below::kExcluded : Below::kIncluded;
    limited_.push_back(
        {ThrottleReader(limited.cpu, below), in(limited.memory, "/memory.oom_control"), {}, {}});
  }
  if (shared)
    peak_above_ =
        either(cgroup.unified(), "/memory.peak", cgroup.memory(), "/memory.max_usage_in_bytes");
  // Version 2 resets the peak of the descriptor, version 1 that of all readers.
  std::string own = unified.empty() ? "" : unified + "/memory.peak";
  if (access(own.c_str(), F_OK) != 0)
    own = ours_ && !shared ? memory + "/memory.max_usage_in_bytes" : "";
  if (!own.empty()) peak_own_ = Fd(open(own.c_str(), O_RDWR | O_CLOEXEC));
  peak_first_ = number_of(peak_.read());
  if (cpu_stat_.valid()) return;
  usage_v1_ = in(cgroup.cpuacct(), "/cpuacct.usage");
  user_v1_ = in(cgroup.cpuacct(), "/cpuacct.usage_user");
  system_v1_ = in(cgroup.cpuacct(), "/cpuacct.usage_sys");
}

void CgroupReader::begin() {
  for (Limited& limited : limited_) {
    limited.throttle.begin();
    limited.first_oom_kills = find_number(limited.events.read(), "oom_kill");
  }
  first_oom_kills_ = find_number(events_.read(), "oom_kill");
  first_hits_ = limit_hits();
  (void)at_limit();
  peak_first_ = number_of(peak_.read());
  if (::pwrite(peak_own_.get(), "0\n", 2, 0) != 2) peak_own_.reset();
  peak_before_ = step_peak_ = std::nullopt;
}

// Only the container's own cgroup has these; what it had last stays when it is removed.
void CgroupReader::read_limited(CgroupFigures& figures) {
  if (!limited_.empty()) figures.throttled_ns = std::nullopt;
  for (Limited& limited : limited_) {
    const Throttling throttling = limited.throttle.read();
    add(figures.periods, throttling.periods);
    add(figures.throttled_periods, throttling.throttled_periods);
    add(figures.throttled_ns, throttling.throttled_ns);
    if (const Maybe kills = find_number(limited.events.read(), "oom_kill"))
      limited.oom_kills = *kills - limited.first_oom_kills.value_or(0);
    add(figures.oom_kills, limited.oom_kills);
  }
  if (const Maybe kills = find_number(events_.read(), "oom_kill"); kills && !figures.oom_kills)
    figures.oom_kills = *kills - first_oom_kills_.value_or(0);
}

Maybe CgroupReader::limit_hits() const {
  const std::string_view text = hits_.read();
  Maybe hits = find_number(text, "max");
  if (hits)
    *hits += find_number(text, "high").value_or(0);
  else
    hits = number_of(text);
  if (hits) *hits += number_of(hits_swap_.read()).value_or(0);
  return hits;
}

// Linux 6.18 does not count failures of the limit of memory and swap together, and engines set it
// to the limit of memory, so that failcnt stays 0. Charges come in batches of 64 pages.
Maybe CgroupReader::at_limit() {
  const Maybe limit = number_of(own_limit_.read());
  const Maybe usage = number_of(own_usage_.read()), peak = number_of(own_peak_.read());
  if (!limit || !usage) return std::nullopt;
  const auto reaches = [&](const Maybe& bytes) { return bytes && *bytes > *limit - kChargeBytes; };
  const bool peak_rose = peak > std::exchange(own_peak_last_, peak);
  return reaches(usage) || (peak_rose && reaches(peak)) ? 1 : 0;
}

void CgroupReader::note_end() {
  CgroupFigures figures;
  end_noted_ = number_of(memory_.read()).has_value();
  read_memory(figures);
  for (Limited& limited : limited_) {
    (void)limited.throttle.read();
    if (const Maybe kills = find_number(limited.events.read(), "oom_kill"))
      limited.oom_kills = *kills - limited.first_oom_kills.value_or(0);
  }
}

// The kernel's peak since the last call, which begins the next interval.
Maybe CgroupReader::take_interval_peak() {
  if (!peak_own_.valid()) return std::nullopt;
  char text[32];
  const ssize_t got = ::pread(peak_own_.get(), text, sizeof text, 0);
  if (got <= 0 || ::pwrite(peak_own_.get(), "0\n", 2, 0) != 2) return std::nullopt;
  return number_of(std::string_view(text, static_cast<size_t>(got)));
}

void CgroupReader::read_peak(CgroupFigures& figures) {
  const Maybe peak = number_of(peak_.read());
  const Maybe interval = take_interval_peak();
  figures.interval_peak_bytes = interval;
  if (interval) {
    peak_before_ = std::max(peak_before_, interval);
    if (step_peak_) step_peak_ = std::max(step_peak_, interval);
  }
  if (peak_own_.valid()) {
    figures.peak_memory_bytes = peak_before_;
  } else if (peak && (peak > peak_first_ || ours_)) {
    figures.peak_memory_bytes = peak;
  }
  if (!ours_) figures.lifetime_peak_bytes = peak_first_;
}

void CgroupReader::begin_step() {
  CgroupFigures figures;
  read_peak(figures);
  step_peak_ = peak_own_.valid() ? number_of(memory_.read()) : std::nullopt;
  step_first_ = number_of(peak_.read());
}

// A peak that cannot be reset is the step's if it rose during it.
Maybe CgroupReader::step_peak() {
  CgroupFigures figures;
  read_peak(figures);
  if (peak_own_.valid()) return step_peak_;
  const Maybe peak = number_of(peak_.read());
  return peak > step_first_ ? peak : std::nullopt;
}

bool CgroupReader::has_run() {
  asked_.emplace();
  read_cpu(*asked_);
  const bool same = asked_->usage_ns && asked_->usage_ns == ran_;
  ran_ = asked_->usage_ns;
  return !same;
}

// The time is that of the counter: a reading that was interrupted is repeated.
void CgroupReader::read_cpu(CgroupFigures& figures) const {
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    const int64_t before_ns = monotonic_ns();
    const std::string_view text = cpu_stat_.valid() ? cpu_stat_.read() : usage_v1_.read();
    const int64_t after_ns = monotonic_ns();
    figures.time_ns = before_ns + (after_ns - before_ns) / 2;
    figures.usage_ns =
        cpu_stat_.valid() ? times(find_number(text, "usage_usec"), kNsPerUs) : number_of(text);
    figures.user_ns = times(find_number(text, "user_usec"), kNsPerUs);
    figures.system_ns = times(find_number(text, "system_usec"), kNsPerUs);
    figures.throttled_ns = times(find_number(text, "throttled_usec"), kNsPerUs);
    if (after_ns - before_ns < kCloseNs) break;
  }
  if (cpu_stat_.valid()) return;
  figures.user_ns = number_of(user_v1_.read());
  figures.system_ns = number_of(system_v1_.read());
}

// Of a cgroup that was removed, what was read last.
void CgroupReader::read_memory(CgroupFigures& figures) {
  CgroupFigures now;
  now.memory_bytes = number_of(memory_.read());
  if (now.memory_bytes) {
    const std::string_view stat = memory_stat_.read();
    const auto find = [&](const char* v1, const char* v2) {
      const Maybe found = find_number(stat, v1);
      return found ? found : find_number(stat, v2);
    };
    if (const Maybe droppable = find("total_inactive_file", "inactive_file"))
      now.working_set_bytes = std::max<int64_t>(0, *now.memory_bytes - *droppable);
    now.anonymous_bytes = find("total_rss", "anon");
    now.shared_bytes = find("total_shmem", "shmem");
    const Maybe file = find("total_cache", "file");
    if (file && now.shared_bytes) now.cache_bytes = std::max<int64_t>(0, *file - *now.shared_bytes);
    now.swap_bytes = swap_.valid() ? number_of(swap_.read()) : find_number(stat, "total_swap");
    if (const Maybe hits = limit_hits()) now.limit_hits = *hits - first_hits_.value_or(0);
    now.at_limit = at_limit();
    read_peak(now);
    memory_last_ = now;
  } else if (!end_noted_ && peak_above_.valid()) {
    memory_last_.peak_memory_bytes =
        std::max(memory_last_.peak_memory_bytes, number_of(peak_above_.read()));
  }
  figures.memory_bytes = memory_last_.memory_bytes;
  figures.working_set_bytes = memory_last_.working_set_bytes;
  figures.anonymous_bytes = memory_last_.anonymous_bytes;
  figures.shared_bytes = memory_last_.shared_bytes;
  figures.cache_bytes = memory_last_.cache_bytes;
  figures.swap_bytes = memory_last_.swap_bytes;
  figures.limit_hits = memory_last_.limit_hits;
  figures.at_limit = memory_last_.at_limit;
  figures.peak_memory_bytes = memory_last_.peak_memory_bytes;
  figures.interval_peak_bytes = memory_last_.interval_peak_bytes;
  figures.lifetime_peak_bytes = memory_last_.lifetime_peak_bytes;
}

void CgroupReader::read_blocks(CgroupFigures& figures) const {
  const std::string_view io = io_stat_.read();
  figures.read_bytes = sum_of(io, "rbytes");
  figures.written_bytes = sum_of(io, "wbytes");
  if (!blkio_v1_.valid()) return;
  // Version 1 charges the writeback of page cache to the root: what was written is not known here.
  const std::string_view blocks = blkio_v1_.read_all();
  figures.read_bytes = sum_of(blocks, "Read").value_or(0);  // a device comes with its first use
}

CgroupFigures CgroupReader::read_often() {
  CgroupFigures figures;
  read_cpu(figures);
  read_memory(figures);
  return figures;
}

CgroupFigures CgroupReader::read(const Stalls& stalls) {
  CgroupFigures figures;
  if (asked_)
    figures = *std::exchange(asked_, std::nullopt);
  else
    read_cpu(figures);
  read_memory(figures);
  figures.pids = number_of(pids_.read());
  read_blocks(figures);
  read_limited(figures);
  if (stalls.cpu || !cpu_pressure_ns_) cpu_pressure_ns_ = stalled_ns(cpu_pressure_);
  if (stalls.io || !io_pressure_ns_) io_pressure_ns_ = stalled_ns(io_pressure_);
  if (stalls.memory || !memory_pressure_ns_) memory_pressure_ns_ = stalled_ns(memory_pressure_);
  figures.cpu_pressure_ns = cpu_pressure_ns_;
  figures.io_pressure_ns = io_pressure_ns_;
  figures.memory_pressure_ns = memory_pressure_ns_;
  return figures;
}

}  // namespace fathom
