// SPDX-License-Identifier: Apache-2.0
// Ids of texts that come again and again, with every call of a function and on a file. Whoever
// tells them keeps each in one place: that finds the id without a hash of the text. Belongs to the
// recorder's thread.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "sink/record_stream.h"

namespace fathom {

class KnownTexts {
 public:
  explicit KnownTexts(RecordStream& out) : out_(out) {}
  // That of what is printable of the text.
  StringId id_of(std::string_view text);

 private:
  struct Known {
    const char* place = nullptr;
    std::string text;  // another may have come to lie there
    StringId id;
  };
  RecordStream& out_;
  int64_t renewals_ = 0;
  std::array<Known, 256> known_;
};

}  // namespace fathom
