// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include <fmt/format.h>

namespace fathom {

std::string sum_key(std::string_view symbol, std::string_view program, std::string_view event) {
  std::string key;
  key.reserve(symbol.size() + program.size() + event.size() + 2);
  key.append(symbol).append(1, '\0').append(program).append(1, '\0').append(event);
  return key;
}

SumName split_sum_key(std::string_view key) {
  const size_t first = std::min(key.find('\0'), key.size());
  const std::string_view rest = key.substr(std::min(first + 1, key.size()));
  const size_t second = std::min(rest.find('\0'), rest.size());
  return {key.substr(0, first), rest.substr(0, second),
          rest.substr(std::min(second + 1, rest.size()))};
}

Status check_new_job(int64_t id, const std::string& description) {
  if (id != 0 && (id < kFirstJob || id > kLastJob))
    return Error{Code::kInvalid, fmt::format("{} is no job id", id),
                 fmt::format("ids are {} to {}", kFirstJob, kLastJob)};
  if (description.size() > kMostDescriptionBytes)
    return Error{Code::kInvalid,
                 fmt::format("the description is longer than {} bytes", kMostDescriptionBytes)};
  return {};
}

std::string removed_event(int64_t id) { return fmt::format("{{\"job\":{},\"removed\":true}}", id); }

Error no_such_job(int64_t id) {
  return Error{Code::kNotFound, fmt::format("there is no job {}", id),
               fmt::format("create it first: fathom job create {0}, or profiling-controller "
                           "--cmd CREATE --jobid {0}",
                           id)};
}

Result<std::unique_ptr<Store>> open_store(const std::string& address) {
  const std::string scheme = address.substr(0, address.find(':'));
  std::string known;
  for (const StoreInfo& store : all_stores()) {
    if (scheme == store.scheme) return store.open(address);
    known += (known.empty() ? "" : ", ") + std::string(store.scheme);
  }
  return Error{Code::kInvalid, "no store is named " + scheme,
               "there are " + known + ": redis://127.0.0.1:6379/0"};
}

}  // namespace fathom
