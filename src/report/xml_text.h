// SPDX-License-Identifier: Apache-2.0
// Text that is safe in XML and HTML, whatever bytes it was made of. Pure functions: any thread.
#pragma once

#include <string>
#include <string_view>

namespace fathom {

// As content or within quotes: markup escaped, control bytes and what is not UTF-8 made visible,
// at most `columns` wide with "…" where it was cut.
std::string xml_text(std::string_view text, size_t columns);

}  // namespace fathom
