// SPDX-License-Identifier: Apache-2.0
#include "base/text_style.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>

namespace fathom {
namespace {

std::atomic<bool> forbidden{false};

bool is_set(const char* name) {
  const char* value = getenv(name);
  return value != nullptr && *value != '\0';
}

}  // namespace

void forbid_colours() { forbidden = true; }

bool colours_wanted(int fd) {
  if (forbidden || is_set("NO_COLOR") || isatty(fd) == 0) return false;
  const char* terminal = getenv("TERM");
  return terminal != nullptr && std::string_view(terminal) != "dumb";
}

std::string styled(Style style, std::string_view text, bool colours) {
  constexpr std::array<std::string_view, 7> kCodes = {"", "1", "36", "2", "32", "33", "31"};
  const std::string_view code = kCodes[static_cast<size_t>(style)];
  if (!colours || code.empty()) return std::string(text);
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

}  // namespace fathom
