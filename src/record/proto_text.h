// SPDX-License-Identifier: Apache-2.0
// The payload of a frame as a .proto file, made from schema.h. docs/formats/fathom.proto is this
// text.
#pragma once

#include <string>

namespace fathom {

std::string schema_proto();

}  // namespace fathom
