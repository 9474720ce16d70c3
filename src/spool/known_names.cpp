// SPDX-License-Identifier: Apache-2.0
#include "spool/known_names.h"

#include <cstdint>

#include "base/text.h"

namespace fathom {

void KnownNames::forget_if_renewed() {
  if (renewals_ == out_.renewals()) return;
  renewals_ = out_.renewals();
  for (Known& known : texts_) known.place = nullptr;
  last_pid_ = last_tid_ = -1;
}

StringId KnownNames::text(std::string_view text) {
  forget_if_renewed();
  const uint64_t mixed = reinterpret_cast<uintptr_t>(text.data()) * 0x9e3779b97f4a7c15U;
  Known& known = texts_[mixed >> 56];
  if (known.place != text.data() || known.text != text) {
    known.id = out_.string(printable(text));
    known.text = text;
    known.place = text.data();
  }
  return known.id;
}

ThreadId KnownNames::thread(int64_t pid, int64_t tid) {
  forget_if_renewed();
  if (pid != last_pid_ || tid != last_tid_) {
    last_thread_ = out_.names().thread(pid, tid);
    last_pid_ = pid;
    last_tid_ = tid;
  }
  return last_thread_;
}

}  // namespace fathom
