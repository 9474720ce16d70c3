// SPDX-License-Identifier: Apache-2.0
#include "report/frame_name.h"

#include <fmt/format.h>

namespace fathom {

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string unknown_name(std::string_view module) {
  const std::string_view name = base_name(module);
  if (name.empty()) return "[unknown]";
  return name.starts_with('[') ? std::string(name) : "[" + std::string(name) + "]";
}

std::string frame_name(const Frame& frame, const Dictionary& names) {
  const std::string_view symbol = names.text(frame.symbol);
  std::string name = symbol.empty() ? unknown_name(names.text(frame.module)) : std::string(symbol);
  if (frame.file != StringId::kNone)
    name += fmt::format(" ({}:{})", base_name(names.text(frame.file)), frame.line);
  return name;
}

}  // namespace fathom
