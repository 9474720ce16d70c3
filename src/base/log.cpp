// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <string>

#include "base/clock.h"
#include "base/text.h"
#include "base/text_style.h"

namespace fathom {
namespace {

struct Label {
  const char* text;
  const char* colour;
};
constexpr std::array<Label, 5> kLabels = {{{"error", "\x1b[1;31m"},
                                           {"warning", "\x1b[1;33m"},
                                           {"hint", "\x1b[36m"},
                                           {"info", ""},
                                           {"debug", "\x1b[2m"}}};

std::atomic<LogLevel> most_verbose_level{LogLevel::kInfo};
std::atomic<LogForm> log_form{LogForm::kText};

std::string json_line(const char* level, std::string_view text) {
  return fmt::format("{{\"time\":{:.3f},\"level\":\"{}\",\"message\":{}}}\n",
                     static_cast<double>(clock_ns(CLOCK_REALTIME)) / 1e9, level, json_quote(text));
}

}  // namespace

void set_log_level(LogLevel most_verbose) { most_verbose_level = most_verbose; }

void set_log_form(LogForm form) { log_form = form; }

void log_line(LogLevel level, std::string_view text) {
  if (level > most_verbose_level.load(std::memory_order_relaxed)) return;
  const bool colours = colours_wanted(STDERR_FILENO);
  const Label& label = kLabels[static_cast<size_t>(level)];
  const std::string line =
      log_form == LogForm::kJson ? json_line(label.text, text)
      : colours ? fmt::format("fathom: {}{}:\x1b[0m {}\n", label.colour, label.text, text)
                : fmt::format("fathom: {}: {}\n", label.text, text);
  (void)!write(STDERR_FILENO, line.data(), line.size());
}

void log_failure(const Error& error, LogLevel level) {
  log_line(level, error.message);
  if (!error.hint.empty()) log_line(LogLevel::kHint, error.hint);
}

}  // namespace fathom
