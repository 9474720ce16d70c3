// SPDX-License-Identifier: Apache-2.0
// One line of lines_in.h that has been parsed already. For files that know simdjson. Any thread.
#pragma once

#include <simdjson.h>

#include "base/result.h"
#include "hub/contribution.h"

namespace fathom {

Status take_object(const simdjson::dom::object& object, const RowOrigin& origin, Contribution& out);

}  // namespace fathom
