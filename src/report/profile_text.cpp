// SPDX-License-Identifier: Apache-2.0
#include "report/profile_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/text_style.h"
#include "import/folded_reader.h"
#include "report/label_lines.h"
#include "report/share_interval.h"

namespace fathom {
namespace {

constexpr size_t kLeastName = 8;  // columns beside a source line

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string rates_text(const Profile& profile) {
  std::string text;
  for (const uint32_t rate : profile.rates_hz)
    text += (text.empty() ? " at " : ", ") + format_count(rate);
  if (text.empty()) return text;
  return text + " Hz" + (profile.obtained.empty() ? "" : " (" + profile.obtained + ")");
}

// "run of 15 s", "from 2 s to 3 s of a run of 15 s".
std::string part_text(const Profile& profile) {
  std::string text;
  if (profile.from_ns) text = "from " + format_duration_ns(*profile.from_ns);
  if (profile.to_ns) text += (text.empty() ? "to " : " to ") + format_duration_ns(*profile.to_ns);
  if (!profile.duration_ns) return text;
  return text + (text.empty() ? "run of " : " of a run of ") +
         format_duration_ns(*profile.duration_ns);
}

// Where " (hello.c:12)" begins at the end of a name.
size_t line_at(std::string_view name) {
  const size_t at = name.rfind(" (");
  const size_t colon = name.rfind(':');
  if (at == std::string_view::npos || colon == std::string_view::npos || colon < at ||
      !name.ends_with(')')) {
    return std::string_view::npos;
  }
  const std::string_view digits = name.substr(colon + 1, name.size() - colon - 2);
  const bool number = !digits.empty() && std::all_of(digits.begin(), digits.end(), is_digit);
  return number ? at : std::string_view::npos;
}

std::string joined(const std::vector<std::string>& parts) { return join(parts, kDot); }

}  // namespace

std::vector<std::string> profile_facts(const Profile& profile) {
  std::string samples =
      format_count(profile.total.samples) + (profile.total.samples == 1 ? " sample" : " samples");
  if (!profile.event.empty() && profile.event != kFoldedEvent)
    samples += " of " + printable(profile.event);
  std::string rates = rates_text(profile);
  if (rates.empty() && profile.event == kFoldedEvent) rates = ", rate not known";
  std::vector<std::string> facts = {samples + rates};
  if (profile.unit != WeightUnit::kSamples)
    facts.push_back(weight_text(profile, profile.total.weight) + " in all");
  if (std::string part = part_text(profile); !part.empty()) facts.push_back(std::move(part));
  return facts;
}

std::vector<std::string> profile_notes(const Profile& profile) {
  std::vector<std::string> notes;
  if (profile.coverage) {
    for (std::string& words : coverage_words(*profile.coverage)) notes.push_back(std::move(words));
  }
  if (profile.quality) notes.push_back("Stacks: " + quality_text(*profile.quality));
  if (const Weight own = own_weight(profile); own.weight > 0) {
    notes.push_back(fmt::format("Of these {} in Fathom's own code, which is [fathom]",
                                share_text(profile.share(own.weight), profile.total)));
  }
  if (!profile.other_events.empty()) {
    std::string list;
    for (const std::string& event : profile.other_events)
      list += (list.empty() ? "" : ", ") + printable(event);
    notes.push_back("Also recorded: " + list + " (choose with --event)");
  }
  if (!profile.joined.empty()) notes.push_back(profile.joined);
  if (!profile.left_out.empty())
    notes.push_back("Left out, without a sample of it: " + profile.left_out);
  if (!profile.in_step.empty())
    notes.push_back("In step with a sampling rate, shares mislead: " + profile.in_step);
  if (profile.lacks_lines) notes.emplace_back("No source lines: record them with --lines");
  if (!profile.damage.empty()) notes.push_back("Missing: " + profile.damage);
  return notes;
}

std::string profile_heading(const Profile& profile, const ReportOptions& options) {
  const auto line = [&](Style style, std::string_view text) {
    return styled(style, fit(text, options.columns), options.colours) + "\n";
  };
  std::string text =
      line(Style::kHeading, profile.command) + line(Style::kPlain, joined(profile_facts(profile)));
  for (const std::string& note : profile_notes(profile)) text += line(Style::kFaint, note);
  if (profile.quality) {
    for (const std::string& word : quality_words(*profile.quality))
      text += line(Style::kFaint, "  " + word);
  }
  return text + "\n";
}

std::string weight_text(const Profile& profile, int64_t weight) {
  switch (profile.unit) {
    case WeightUnit::kNanoseconds:
      return format_duration_ns(weight);
    case WeightUnit::kEvents:
      return format_count(weight) + " " + printable(profile.event);
    case WeightUnit::kSamples:
      break;
  }
  return format_count(weight) + (weight == 1 ? " sample" : " samples");
}

std::string_view kind_text(const Function& function) {
  if (function.is_process) return "process";
  switch (function.kind) {
    case FrameKind::kKernel:
      return "kernel";
    case FrameKind::kInlined:
      return "inlined";
    case FrameKind::kJava:
      return "java";
    case FrameKind::kPython:
      return "python";
    case FrameKind::kGpu:
      return "gpu";
    case FrameKind::kNative:
    case FrameKind::kUnknown:
      break;
  }
  return {};
}

std::string_view module_name(std::string_view module) {
  return module.substr(module.rfind('/') + 1);
}

std::string shorten_name(std::string_view name) {
  if (name.find("operator") != std::string_view::npos) return std::string(name);
  std::string out;
  std::string open;  // the brackets that are to be closed
  for (const char c : name) {
    if (c == '<' || c == '(') {
      if (open.empty()) out += std::string(1, c) + "…";
      open += c == '<' ? '>' : ')';
    } else if (c == '>' || c == ')') {
      if (open.empty() || open.back() != c) return std::string(name);
      open.pop_back();
      if (open.empty()) out += c;
    } else if (open.empty()) {
      out += c;
    }
  }
  return open.empty() ? out : std::string(name);
}

std::string fit_name(std::string_view printable_name, size_t columns) {
  if (display_width(printable_name) <= columns) return std::string(printable_name);
  const size_t at = std::min(line_at(printable_name), printable_name.size());
  const std::string_view line = printable_name.substr(at);
  const size_t width = display_width(line);
  if (line.empty() || width + kLeastName > columns)
    return fit(shorten_name(printable_name), columns);
  return fit_name(printable_name.substr(0, at), columns - width) + std::string(line);
}

}  // namespace fathom
