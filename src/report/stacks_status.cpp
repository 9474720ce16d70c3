// SPDX-License-Identifier: Apache-2.0
#include "report/stacks_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "report/label_lines.h"
#include "report/unwind_quality.h"

namespace fathom {
namespace {

constexpr std::string_view kAt = " at ", kHz = " Hz", kObtained = " obtained";
constexpr std::string_view kUserOnly = ", user code only";
constexpr std::string_view kUsualEvent = "cpu-clock";
constexpr int64_t kHigherHz = 999, kHighestHz = 9'999;

// What the probe reported of one event: "cpu-clock at 99, 499 Hz, 98.9, 497.2 obtained in 12.3 s
// CPU time", "cpu-clock at 99 Hz, user code only", "page-faults, each one".
struct EventSettings {
  std::string_view event, rates;  // without the words around them
  std::string_view obtained;      // "98.9, 497.2 obtained in 12.3 s CPU time"
  bool user_only = false;
};

EventSettings parse_settings(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const size_t at = text.find(kAt), hz = text.find(kHz);
  if (at == std::string_view::npos || hz == std::string_view::npos || hz < at)
    return {.event = text.substr(0, text.find(',')), .rates = {}, .obtained = {}};
  EventSettings found{.event = text.substr(0, at),
                      .rates = text.substr(at + kAt.size(), hz - at - kAt.size()),
                      .obtained = {}};
  text.remove_prefix(hz + kHz.size());
  if (text.starts_with(kUserOnly)) {
    found.user_only = true;
    text.remove_prefix(kUserOnly.size());
  }
  if (text.starts_with(", ") && text.find(kObtained) != std::string_view::npos)
    found.obtained = text.substr(2);
  return found;
}

std::vector<EventSettings> settings_of(const Collected& tables, const ProbeStatus& probe) {
  std::vector<EventSettings> all;
  for (const std::string_view part : split_words(tables.text(probe.settings), ';'))
    all.push_back(parse_settings(part));
  return all;
}

const ProbeStatus* find_probe(const Collected& tables) {
  for (const ProbeStatus& probe : tables.rows.of<ProbeStatus>()) {
    if (tables.text(probe.probe) == kStacksProbe) return &probe;
  }
  return nullptr;
}

std::vector<int64_t> numbers(std::string_view rates) {
  std::vector<int64_t> all;
  for (const std::string_view word : split_words(rates, ',')) {
    const std::string_view digits = word.substr(std::min(word.find_first_not_of(' '), word.size()));
    int64_t rate = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), rate);
    all.push_back(rate);
  }
  return all;
}

int64_t highest(std::string_view rates) {
  int64_t most = 0;
  for (const int64_t rate : numbers(rates)) most = std::max(most, rate);
  return most;
}

std::string asked_text(const std::vector<EventSettings>& all) {
  if (all.size() == 1 && all[0].event == kUsualEvent && !all[0].rates.empty())
    return fmt::format("at {} Hz", printable(all[0].rates));
  std::string text;
  for (const EventSettings& one : all) {
    text += (text.empty() ? "of " : ", ") + printable(one.event);
    if (!one.rates.empty()) text += fmt::format(" at {} Hz", printable(one.rates));
  }
  return text;
}

}  // namespace

std::optional<StacksStatus> stacks_status(const Collected& tables) {
  const ProbeStatus* probe = find_probe(tables);
  if (probe == nullptr) return std::nullopt;
  StacksStatus status;
  const std::vector<EventSettings> all = settings_of(tables, *probe);
  status.asked = asked_text(all);
  for (const EventSettings& one : all)
    status.highest_hz = std::max(status.highest_hz, highest(one.rates));
  status.taken = probe->seen;
  for (const Run& run : tables.rows.of<Run>()) {
    if (run.user_ns && run.system_ns) status.cpu_ns = *run.user_ns + *run.system_ns;
  }
  return status;
}

std::optional<SampledClock> sampled_clock(const Collected& tables) {
  const ProbeStatus* probe = find_probe(tables);
  if (probe == nullptr) return std::nullopt;
  for (const EventSettings& one : settings_of(tables, *probe)) {
    const std::string_view name = one.event.substr(0, one.event.find(':'));
    const std::string_view modifier = one.event.substr(name.size());
    if (name != "cpu-clock" && name != "task-clock") continue;
    if (!modifier.empty() && modifier != ":u") continue;
    int64_t all_hz = 0;
    for (const int64_t rate : numbers(one.rates)) all_hz += rate;
    if (all_hz <= 0) continue;
    return SampledClock{std::string(one.event), one.user_only || !modifier.empty(),
                        1e9 / static_cast<double>(all_hz)};
  }
  return std::nullopt;
}

std::string obtained_rates(const Collected& tables, const std::string& event) {
  const ProbeStatus* probe = find_probe(tables);
  if (probe == nullptr) return {};
  for (const EventSettings& one : settings_of(tables, *probe)) {
    if (one.event == event && !one.obtained.empty()) return std::string(one.obtained);
  }
  return {};
}

std::string no_samples_text(const StacksStatus& status) {
  const std::string asked = status.asked.empty() ? "" : " " + status.asked;
  if (status.taken == 0) return "no samples" + asked;
  return "none of " + plural(status.taken, "sample", "samples") + asked + " is left";
}

Error no_samples_error(const std::string& path, const StacksStatus& status) {
  Error error{Code::kNotFound, path + " holds no stack samples, though the probe stacks ran: " +
                                   no_samples_text(status)};
  const std::string used =
      status.cpu_ns ? "the program used " + format_duration_ns(*status.cpu_ns) + " of CPU: " : "";
  if (status.taken > 0) {
    error.hint = "what is missing, and why: fathom report " + path;
  } else if (status.highest_hz > 0 && status.highest_hz < kHighestHz) {
    error.hint = fmt::format("{}sample it more often with: fathom run --probe stacks --freq {}",
                             used, status.highest_hz < kHigherHz ? kHigherHz : kHighestHz);
  } else {
    error.hint = used + "record it for longer, or more of the work it does";
  }
  return error;
}

}  // namespace fathom
