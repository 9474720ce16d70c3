// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.h"

#include "base/text.h"
#include "cli/command.h"

namespace fathom {
namespace {

template <class T>
Result<T> naming(std::string_view flag, Result<T> result) {
  if (result.ok()) return result;
  return std::move(result).error().within("--" + std::string(flag));
}

}  // namespace

bool Arguments::has(std::string_view flag) const {
  CHECK(find_flag(*command_, flag) != nullptr);
  return given_.contains(flag);
}

std::vector<std::string> Arguments::texts(std::string_view flag) const {
  const Flag* declared = find_flag(*command_, flag);
  CHECK(declared != nullptr);
  if (const auto found = given_.find(flag); found != given_.end()) return found->second;
  if (declared->fallback != nullptr) return {declared->fallback};
  return {};
}

std::string Arguments::text(std::string_view flag) const {
  const std::vector<std::string> values = texts(flag);
  return values.empty() ? "" : values.back();
}

std::vector<std::string> Arguments::list(std::string_view flag) const {
  std::vector<std::string> items;
  for (const std::string& value : texts(flag)) {
    for (const std::string_view item : split_words(value, ',')) items.emplace_back(item);
  }
  return items;
}

Result<int64_t> Arguments::duration(std::string_view flag) const {
  return naming(flag, parse_duration(text(flag)));
}

Result<int64_t> Arguments::number(std::string_view flag) const {
  return naming(flag, parse_number(text(flag)));
}

Result<double> Arguments::real(std::string_view flag) const {
  return naming(flag, parse_real(text(flag)));
}

std::string Arguments::positional(size_t place) const {
  return place < positionals_.size() ? positionals_[place] : "";
}

void Arguments::add(std::string_view flag, std::vector<std::string> values) {
  given_.insert_or_assign(std::string(flag), std::move(values));
}

}  // namespace fathom
