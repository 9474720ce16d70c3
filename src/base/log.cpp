// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <string>

#include "base/text_style.h"

namespace fathom {
namespace {

struct Style {
  const char* label;
  const char* colour;
};
constexpr std::array<Style, 5> kStyles = {{{"error", "\x1b[1;31m"},
                                           {"warning", "\x1b[1;33m"},
                                           {"hint", "\x1b[36m"},
                                           {"info", ""},
                                           {"debug", "\x1b[2m"}}};

std::atomic<LogLevel> most_verbose_level{LogLevel::kInfo};

}  // namespace

void set_log_level(LogLevel most_verbose) { most_verbose_level = most_verbose; }

void log_line(LogLevel level, std::string_view text) {
  if (level > most_verbose_level.load(std::memory_order_relaxed)) return;
  const bool colours = colours_wanted(STDERR_FILENO);
  const Style& style = kStyles[static_cast<size_t>(level)];
  const std::string line = colours ? fmt::format("fathom: {}{}:\x1b[0m {}\n", style.colour, style.label, text)
                                   : fmt::format("fathom: {}: {}\n", style.label, text);
  (void)!write(STDERR_FILENO, line.data(), line.size());
}

void log_failure(const Error& error, LogLevel level) {
  log_line(level, error.message);
  if (!error.hint.empty()) log_line(LogLevel::kHint, error.hint);
}

}  // namespace fathom
