// SPDX-License-Identifier: Apache-2.0
#include "report/report_table.h"

#include <fmt/format.h>

#include "base/text.h"

namespace fathom {

std::string shown_note(size_t shown, size_t all, std::string_view by) {
  if (shown == all) return fmt::format("By {}.", by);
  return fmt::format("The first {} of {}, by {}.", format_count(shown), format_count(all), by);
}

}  // namespace fathom
