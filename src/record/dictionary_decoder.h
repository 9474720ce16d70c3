// SPDX-License-Identifier: Apache-2.0
// Reads the dictionary of a frame, checking that every id in it refers to something. Any thread.
#pragma once

#include <protozero/pbf_reader.hpp>

#include "record/dictionary.h"

namespace fathom {

// Fills `out`, whose strings point into the reader's bytes. Says what is wrong, or nullptr. Throws
// what protozero throws.
const char* decode_dictionary(protozero::pbf_reader reader, Dictionary& out);

}  // namespace fathom
