// SPDX-License-Identifier: Apache-2.0
// Log lines on stderr, for edges only: libraries return errors. Levels: error, warning, hint, info,
// debug. Colours only on a terminal. Any thread; one write(2) a line.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "base/result.h"

namespace fathom {

enum class LogLevel { kError, kWarning, kHint, kInfo, kDebug };

// kJson: {"time":…,"level":…,"message":…}, one a line, for machines.
enum class LogForm { kText, kJson };

void set_log_level(LogLevel most_verbose);
void set_log_form(LogForm form);
void log_line(LogLevel level, std::string_view text);

template <class... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::kError, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::kWarning, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void log_hint(fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::kHint, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::kInfo, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void log_debug(fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::kDebug, fmt::format(format, std::forward<Args>(args)...));
}

// The error and, on its own line, the hint.
void log_failure(const Error& error, LogLevel level = LogLevel::kError);

}  // namespace fathom
