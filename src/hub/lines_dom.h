// SPDX-License-Identifier: Apache-2.0
// One line of lines_in.h that has been parsed already. For files that know simdjson. Any thread.
#pragma once

#include <simdjson.h>

#include <string_view>

#include "base/result.h"
#include "hub/contribution.h"

namespace fathom {

// Why `text` could not be parsed: it is no JSON, or a number in it is beyond 64 bits.
Error why_unread(std::string_view text);

// A benchmark row of an object's fields; a command and its job among them are none.
Status take_row(const simdjson::dom::object& object, const RowOrigin& origin, Contribution& out);
Status take_object(const simdjson::dom::object& object, const RowOrigin& origin, Contribution& out);

}  // namespace fathom
