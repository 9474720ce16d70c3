// SPDX-License-Identifier: Apache-2.0
#include "report/pftrace_stacks.h"

#include <algorithm>
#include <protozero/pbf_writer.hpp>

#include "base/text.h"
#include "report/frame_name.h"

namespace fathom {
namespace {

// Field numbers of Perfetto's interned_data.proto and profile_common.proto.
namespace interned_data {
constexpr uint32_t kFunctions = 5, kFrames = 6, kCallstacks = 7, kPaths = 17, kMappings = 19,
                   kTexts = 29;
}
constexpr uint32_t kIid = 1;
constexpr uint32_t kTextOf = 2;
namespace frame_field {
constexpr uint32_t kFunction = 2, kMapping = 3;
}
namespace mapping_field {
constexpr uint32_t kPath = 7;
}
constexpr uint32_t kFramesOfStack = 2;

void add_text(std::string& interned, uint32_t field, uint64_t iid, const std::string& text) {
  protozero::pbf_writer to(interned);
  protozero::pbf_writer entry(to, field);
  entry.add_uint64(kIid, iid);
  entry.add_bytes(kTextOf, text);
}

}  // namespace

void PftraceStacks::begin_batch(const Dictionary& names) {
  names_ = &names;
  of_batch_.assign(names.stacks.size(), 0);
  frames_of_batch_.assign(names.frames.size(), 0);
}

uint64_t PftraceStacks::mapping(const std::string& module, std::string& interned) {
  const auto [place, added] = modules_.try_emplace(module, modules_.size() + 1);
  if (!added) return place->second;
  add_text(interned, interned_data::kPaths, place->second, printable(module));
  protozero::pbf_writer to(interned);
  protozero::pbf_writer entry(to, interned_data::kMappings);
  entry.add_uint64(kIid, place->second);
  entry.add_uint64(mapping_field::kPath, place->second);
  return place->second;
}

uint64_t PftraceStacks::frame(FrameId id, std::string& interned) {
  uint64_t& known = frames_of_batch_[index_of(id)];
  if (known != 0) return known;
  const Frame& frame = names_->frames[index_of(id)];
  const std::string name = frame_name(frame, *names_);
  const auto [function, is_new] = functions_.try_emplace(name, functions_.size() + 1);
  if (is_new) add_text(interned, interned_data::kFunctions, function->second, printable(name));
  const uint64_t module = mapping(std::string(names_->text(frame.module)), interned);
  const auto [place, added] = frames_.try_emplace({function->second, module}, frames_.size() + 1);
  known = place->second;
  if (!added) return known;
  protozero::pbf_writer to(interned);
  protozero::pbf_writer entry(to, interned_data::kFrames);
  entry.add_uint64(kIid, known);
  entry.add_uint64(frame_field::kFunction, function->second);
  entry.add_uint64(frame_field::kMapping, module);
  return known;
}

uint64_t PftraceStacks::tell(const std::vector<uint64_t>& frames, StackId stack,
                             std::string& interned) {
  const auto [place, added] = stacks_.try_emplace(frames, stacks_.size() + 1);
  if (!added) return place->second;
  {
    protozero::pbf_writer to(interned);
    protozero::pbf_writer entry(to, interned_data::kCallstacks);
    entry.add_uint64(kIid, place->second);
    for (const uint64_t frame : frames) entry.add_uint64(kFramesOfStack, frame);
  }
  std::vector<std::string> functions;
  for (StackId at = stack; at != StackId::kNone; at = names_->stacks[index_of(at)].parent)
    functions.push_back(printable(
        frame_name(names_->frames[index_of(names_->stacks[index_of(at)].frame)], *names_)));
  std::reverse(functions.begin(), functions.end());
  add_text(interned, interned_data::kTexts, place->second, join(functions, ";"));
  return place->second;
}

uint64_t PftraceStacks::number(StackId stack, std::string& interned) {
  uint64_t& known = of_batch_[index_of(stack)];
  if (known != 0) return known;
  std::vector<uint64_t> frames;  // the first function first, as Perfetto wants them
  for (StackId at = stack; at != StackId::kNone; at = names_->stacks[index_of(at)].parent)
    frames.push_back(frame(names_->stacks[index_of(at)].frame, interned));
  std::reverse(frames.begin(), frames.end());
  return known = tell(frames, stack, interned);
}

}  // namespace fathom
