// SPDX-License-Identifier: Apache-2.0
// How every page of ours begins: nothing from outside is let in, and of what is inside only this
// script and this style run.
#pragma once

#include <string>
#include <string_view>

namespace fathom {

// Up to and with <body>. `mark` says that we made it; the title is text.
std::string page_head(std::string_view mark, std::string_view script, std::string_view style,
                      std::string_view title);

}  // namespace fathom
