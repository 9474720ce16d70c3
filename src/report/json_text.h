// SPDX-License-Identifier: Apache-2.0
// Pieces of JSON that several reports write. Pure functions: any thread.
#pragma once

#include <string>

#include "record/records.h"

namespace fathom {

// null: not measured.
inline std::string number_json(const Maybe& value) {
  return value ? std::to_string(*value) : "null";
}

}  // namespace fathom
