// SPDX-License-Identifier: Apache-2.0
// Whether and how text is coloured: only on a terminal, never with NO_COLOR or --no-color. Set once
// by main before other threads start; asking is for any thread.
#pragma once

#include <string>
#include <string_view>

namespace fathom {

// Off for good, whatever the terminal says. The environment stays as it is: a program that is being
// run must not see a NO_COLOR that its user did not set.
void forbid_colours();
bool colours_wanted(int fd);

enum class Style { kPlain, kHeading, kName, kFaint, kGood, kWarning, kBad };
// The text in the style, or as it is when `colours` is false.
std::string styled(Style style, std::string_view text, bool colours);

}  // namespace fathom
