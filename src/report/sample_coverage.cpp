// SPDX-License-Identifier: Apache-2.0
#include "report/sample_coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "base/clock.h"
#include "base/text.h"
#include "report/label_lines.h"
#include "report/sample_owners.h"
#include "report/stacks_status.h"

namespace fathom {
namespace {

// How far the clock of samples and that of the kernel's accounting may differ: time that a virtual
// machine's host takes away counts in one of them only.
constexpr double kClockTolerance = 0.02;
constexpr size_t kMaxListed = 4;
constexpr int64_t kShortPeriods = 5;  // a process that is shorter may be missing because of that

// CPU time and samples of a run, program, process or thread.
struct Part {
  CoverageGap gap;
  Maybe cpu_ns;  // absent: not known
};

// How many standard deviations a normal value exceeds with the probability.
double normal_quantile(double probability) {
  double low = 0, high = 40;
  while (high - low > 1e-6) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::sqrt(2.0)) / 2 > probability ? low : high) = middle;
  }
  return high;
}

class CoverageComparison {
 public:
  CoverageComparison(const Collected& tables, const SampledClock& clock)
      : tables_(tables), owners_(tables), period_ns_(clock.period_ns) {
    found_.event = clock.event;
    found_.user_only = clock.user_only;
  }

  SampleCoverage compare(const SampleSums& sums) {
    add_run();
    for (const Process& process : tables_.rows.of<Process>()) add_process(process);
    for (auto& [name, part] : programs_) bound_by_system_time(part);
    for (const Thread& thread : tables_.rows.of<Thread>()) add_thread(thread);
    for (const SampleSum& sum : sums.sums())
      if (sums.text(sum.event) == found_.event) add_sum(sum, sums);
    if (samples_ > 0) period_ns_ = static_cast<double>(found_.sampled_ns) / samples_;
    find_gaps();
    return std::move(found_);
  }

 private:
  // The part of a CPU time that samples can represent.
  [[nodiscard]] Maybe time_of(const Maybe& user_ns, const Maybe& all_ns) const {
    return found_.user_only ? user_ns : all_ns;
  }

  void add_run() {
    const Run& run = tables_.rows.of<Run>().front();
    run_.cpu_ns = run.user_ns;
    if (run.user_ns && run.system_ns && !found_.user_only)
      run_.cpu_ns = *run.user_ns + *run.system_ns;
    system_ns_ = run.system_ns;
  }

  void add_process(const Process& process) {
    const Maybe cpu_ns = time_of(process.user_ns, process.cpu_ns);
    Part& part = processes_[process.pid];
    part.gap.level = CoverageLevel::kProcess;
    part.gap.name = tables_.text(process.name);
    part.gap.pid = process.pid;
    if (cpu_ns) part.cpu_ns = part.cpu_ns.value_or(0) + *cpu_ns;
    if (process.name == StringId::kNone) return;
    Part& program = programs_[part.gap.name];
    program.gap.level = CoverageLevel::kProgram;
    program.gap.name = part.gap.name;
    ++program.gap.processes;
    if (cpu_ns) program.cpu_ns = program.cpu_ns.value_or(0) + *cpu_ns;
    all_times_[part.gap.name] += process.cpu_ns.value_or(0);
  }

  // User time of short processes is not known, but what all of the run's system time does not
  // explain of their CPU time.
  void bound_by_system_time(Part& program) {
    if (!found_.user_only || !system_ns_) return;
    const int64_t least_ns = all_times_[program.gap.name] - *system_ns_;
    if (least_ns <= program.cpu_ns.value_or(0)) return;
    program.cpu_ns = least_ns;
    program.gap.is_minimum = true;
  }

  void add_thread(const Thread& thread) {
    Part& part = threads_[{thread.pid, thread.tid}];
    part.gap.level = CoverageLevel::kThread;
    part.gap.name = owners_.thread({thread.pid, thread.tid});
    part.gap.pid = thread.pid;
    part.gap.tid = thread.tid;
    if (const Maybe cpu_ns = time_of(thread.user_ns, thread.cpu_ns))
      part.cpu_ns = part.cpu_ns.value_or(0) + *cpu_ns;
  }

  void add_sum(const SampleSum& sum, const SampleSums& sums) {
    const auto add = [&](Part& part) { part.gap.sampled_ns += sum.weight; };
    found_.sampled_ns += sum.weight;
    samples_ += static_cast<double>(sum.samples);
    add(run_);
    if (sum.thread == ThreadId::kNone) return;
    const ThreadKey& key = sums.names().threads[index_of(sum.thread)];
    if (const auto at = processes_.find(key.pid); at != processes_.end()) add(at->second);
    if (const auto at = threads_.find({key.pid, key.tid}); at != threads_.end()) add(at->second);
    const auto at = programs_.find(owners_.process(key.pid, sum.time_ns));
    if (at != programs_.end()) add(at->second);
  }

  // Samples of a timer are at most as uneven as a Poisson process.
  [[nodiscard]] bool lacks_time(Part& part, double deviations) const {
    const auto cpu_ns = static_cast<double>(*part.cpu_ns);
    const double half = deviations * std::sqrt(cpu_ns * period_ns_) + kClockTolerance * cpu_ns;
    part.gap.cpu_ns = *part.cpu_ns;
    part.gap.expected_low_ns = std::max(0.0, cpu_ns - half);
    part.gap.expected_high_ns = cpu_ns + half;
    return static_cast<double>(part.gap.sampled_ns) < part.gap.expected_low_ns;
  }

  template <class Parts>
  void count(const Parts& parts) {
    for (const auto& [key, part] : parts) found_.compared += part.cpu_ns ? 1 : 0;
  }

  void find_gaps() {
    found_.compared = run_.cpu_ns ? 1 : 0;
    count(programs_);
    count(processes_);
    count(threads_);
    if (found_.compared == 0) return;
    const double deviations =
        normal_quantile((1 - kCoverageConfidence) / 2 / static_cast<double>(found_.compared));
    const auto add = [&](Part& part) {
      if (part.cpu_ns && lacks_time(part, deviations)) found_.gaps.push_back(part.gap);
    };
    for (auto& [name, part] : programs_) add(part);
    const std::vector<CoverageGap> programs = found_.gaps;
    const auto is_listed = [&](int64_t pid) {
      const std::string name = owners_.process(pid, INT64_MAX);
      return std::any_of(programs.begin(), programs.end(),
                         [&](const CoverageGap& gap) { return gap.name == name; });
    };
    for (auto& [pid, part] : processes_)
      if (!is_listed(pid)) add(part);
    for (auto& [key, part] : threads_)
      if (!is_listed(key.first)) add(part);
    if (programs.empty()) add(run_);
    std::stable_sort(found_.gaps.begin(), found_.gaps.end(),
                     [](const CoverageGap& a, const CoverageGap& b) {
                       return a.cpu_ns - a.sampled_ns > b.cpu_ns - b.sampled_ns;
                     });
  }

  const Collected& tables_;
  SampleOwners owners_;
  double period_ns_ = 0, samples_ = 0;
  SampleCoverage found_;
  Part run_;
  Maybe system_ns_;
  std::map<std::string, Part> programs_;
  std::map<std::string, int64_t> all_times_;  // user and system, by program
  std::map<int64_t, Part> processes_;         // by pid
  std::map<std::pair<int64_t, int64_t>, Part> threads_;
};

std::string gap_name(const CoverageGap& gap) {
  switch (gap.level) {
    case CoverageLevel::kRun:
      return "all of the run";
    case CoverageLevel::kProgram:
      return printable(gap.name) +
             (gap.processes > 1 ? fmt::format(" ({}×)", format_count(gap.processes)) : "");
    case CoverageLevel::kProcess:
      return fmt::format("process {} ({})", gap.pid, printable(gap.name));
    case CoverageLevel::kThread:
      return fmt::format("thread {} ({})", gap.tid, printable(gap.name));
  }
  return {};
}

std::string limit_text(double time_ns) { return format_duration_ns(std::llround(time_ns)); }

// Each process that is missing is so short that a sampling period may be the reason.
bool are_short(const SampleCoverage& coverage, double period_ns) {
  return std::all_of(coverage.gaps.begin(), coverage.gaps.end(), [&](const CoverageGap& gap) {
    return gap.processes > 0 && static_cast<double>(gap.cpu_ns / gap.processes) <
                                    static_cast<double>(kShortPeriods) * period_ns;
  });
}

}  // namespace

const char* coverage_level_name(CoverageLevel level) {
  switch (level) {
    case CoverageLevel::kRun:
      return "run";
    case CoverageLevel::kProgram:
      return "program";
    case CoverageLevel::kProcess:
      return "process";
    case CoverageLevel::kThread:
      return "thread";
  }
  return "";
}

std::optional<SampleCoverage> sample_coverage(const Collected& tables, const SampleSums& sums) {
  const std::vector<Run>& runs = tables.rows.of<Run>();
  if (runs.empty() || !runs.front().end_ns || runs.front().damage != StringId::kNone) return {};
  const auto clock = sampled_clock(tables);
  if (!clock) return {};
  SampleCoverage coverage = CoverageComparison(tables, *clock).compare(sums);
  if (coverage.compared == 0) return {};
  coverage.period_ns = clock->period_ns;
  return coverage;
}

std::vector<std::string> coverage_words(const SampleCoverage& coverage) {
  if (coverage.gaps.empty()) return {};
  std::vector<std::string> parts;
  for (const CoverageGap& gap : coverage.gaps) {
    if (parts.size() == kMaxListed) break;
    parts.push_back(fmt::format("{}: {} sampled of {}{} {}CPU time (expected {} to {})",
                                gap_name(gap), format_duration_ns(gap.sampled_ns),
                                gap.is_minimum ? "at least " : "", format_duration_ns(gap.cpu_ns),
                                coverage.user_only ? "user " : "", limit_text(gap.expected_low_ns),
                                limit_text(gap.expected_high_ns)));
  }
  if (coverage.gaps.size() > kMaxListed)
    parts.push_back(fmt::format("{} more", coverage.gaps.size() - kMaxListed));
  std::string meaning =
      "Samples underrepresent these: their shares are too low, and those of others too high";
  if (are_short(coverage, coverage.period_ns))
    meaning +=
        ". A task that is shorter than a sampling period is not sampled, except as root: "
        "record as root, or with a higher --freq";
  parts.push_back(meaning);
  return parts;
}

}  // namespace fathom
