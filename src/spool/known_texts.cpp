// SPDX-License-Identifier: Apache-2.0
#include "spool/known_texts.h"

#include <cstdint>

#include "base/text.h"

namespace fathom {

StringId KnownTexts::id_of(std::string_view text) {
  if (renewals_ != out_.renewals()) {
    renewals_ = out_.renewals();
    for (Known& known : known_) known.place = nullptr;
  }
  const uint64_t mixed = reinterpret_cast<uintptr_t>(text.data()) * 0x9e3779b97f4a7c15U;
  Known& known = known_[mixed >> 56];
  if (known.place != text.data() || known.text != text) {
    known.id = out_.string(printable(text));
    known.text = text;
    known.place = text.data();
  }
  return known.id;
}

}  // namespace fathom
