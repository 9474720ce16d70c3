// SPDX-License-Identifier: Apache-2.0
#include "record/row_text.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"

namespace fathom {

RowText::Cell RowText::format(double value) {
  if (!std::isfinite(value)) return {"", Kind::kNull};
  return {fmt::format("{}", value), Kind::kNumber};
}

RowText::Cell RowText::format(StringId id) const {
  if (id == StringId::kNone) return {"", Kind::kNull};
  return {std::string(names_.text(id)), Kind::kText};
}

RowText::Cell RowText::format(DetailId id) const {
  if (id == DetailId::kNone) return {"", Kind::kNull};
  return {names_.detail_json(id), Kind::kJson};
}

RowText::Cell RowText::format(StackId id) {
  if (id == StackId::kNone) return {"", Kind::kNull};
  if (stack_hashes_.empty()) stack_hashes_ = names_.stack_hashes();
  return {std::to_string(stack_hashes_[index_of(id)]), Kind::kNumber};
}

RowText::Cell RowText::format(const Histogram& histogram) const {
  if (histogram.length == 0) return {"", Kind::kNull};
  std::string text = "[";
  for (uint32_t i = 0; i < histogram.length; ++i) {
    text += (i == 0 ? "" : ",") + std::to_string(rows_.buckets[histogram.offset + i]);
  }
  return {text + "]", Kind::kJson};
}

std::string RowText::json_member(const char* name, const std::string& value, Kind kind,
                                 const char* space) {
  const std::string shown = kind == Kind::kNull   ? "null"
                            : kind == Kind::kText ? json_quote(value)
                                                  : value;
  return json_quote(name) + ":" + space + shown;
}

std::string RowText::csv_cell(const std::string& value, Kind kind) {
  return kind == Kind::kNull ? std::string() : csv_quote(value);
}

}  // namespace fathom
