// SPDX-License-Identifier: Apache-2.0
// Ids of threads and of texts that come again and again, with every call. Whoever tells a text
// keeps it in one place: that finds its id without a hash. Belongs to the recorder's thread.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "sink/record_stream.h"

namespace fathom {

class KnownNames {
 public:
  explicit KnownNames(RecordStream& out) : out_(out) {}
  // That of what is printable of it.
  StringId text(std::string_view text);
  ThreadId thread(int64_t pid, int64_t tid);

 private:
  struct Known {
    const char* place = nullptr;
    std::string text;  // another may have come to lie there
    StringId id{};
  };
  void forget_if_renewed();

  RecordStream& out_;
  int64_t renewals_ = 0;
  std::array<Known, 256> texts_;
  int64_t last_pid_ = -1, last_tid_ = -1;
  ThreadId last_thread_{};
};

}  // namespace fathom
