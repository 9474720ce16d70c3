// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "sink/file_sink.h"
#include "sink/sink.h"

namespace fathom {
namespace {

constexpr std::array kSinks = {
    SinkInfo{"file", "a journal on local disk, synced once a second", open_file_sink},
};

}  // namespace

std::span<const SinkInfo> all_sinks() { return kSinks; }

Result<std::unique_ptr<Sink>> open_sink(std::string_view name, const std::string& where) {
  for (const SinkInfo& sink : kSinks) {
    if (name == sink.name) return sink.open(where);
  }
  return Error{Code::kNotFound, "no sink is named " + std::string(name)};
}

}  // namespace fathom
