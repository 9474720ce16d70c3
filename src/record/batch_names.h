// SPDX-License-Identifier: Apache-2.0
// The names and threads of one batch in the dictionary of somebody who adds up many: each id is
// translated at most once, whatever the number of rows. Belongs to one thread, and lives no longer
// than the batch.
#pragma once

#include <vector>

#include "record/dictionary.h"

namespace fathom {

class BatchNames {
 public:
  BatchNames(const Dictionary& from, Interner& to)
      : from_(from),
        to_(to),
        strings_(from.strings.size(), kUnsetString),
        threads_(from.threads.size(), kUnsetThread) {
    threads_[0] = ThreadId::kNone;
  }

  StringId string(StringId id) {
    StringId& known = strings_[index_of(id)];
    if (known == kUnsetString) known = to_.string(from_.text(id));
    return known;
  }

  ThreadId thread(ThreadId id) {
    ThreadId& known = threads_[index_of(id)];
    if (known == kUnsetThread) {
      const ThreadKey& key = from_.threads[index_of(id)];
      known = to_.thread(key.pid, key.tid);
    }
    return known;
  }

 private:
  static constexpr StringId kUnsetString{UINT32_MAX};
  static constexpr ThreadId kUnsetThread{UINT32_MAX};

  const Dictionary& from_;
  Interner& to_;
  std::vector<StringId> strings_;
  std::vector<ThreadId> threads_;
};

}  // namespace fathom
