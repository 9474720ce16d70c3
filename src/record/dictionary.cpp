// SPDX-License-Identifier: Apache-2.0
#include "record/dictionary.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cmath>
#include <cstring>

#include "base/text.h"

namespace fathom {
namespace {

constexpr size_t kBlockBytes = 64 << 10;
constexpr size_t kMaxDetailItems = 64;

template <class Pod>
uint64_t hash_pod(const Pod& pod, uint64_t seed = 0) {
  return XXH3_64bits_withSeed(&pod, sizeof pod, seed);
}

uint64_t hash_text(std::string_view text, uint64_t seed) {
  return XXH3_64bits_withSeed(text.data(), text.size(), seed);
}

}  // namespace

const char* frame_kind_name(FrameKind kind) {
  static constexpr std::array kNames = {"unknown", "kernel", "native", "inlined",
                                        "java",    "python", "gpu"};
  return kNames[static_cast<size_t>(kind)];
}

std::string Dictionary::detail_json(DetailId id) const {
  if (id == DetailId::kNone) return {};
  std::string json = "{";
  for (const DetailItem& item : items(id)) {
    if (json.size() > 1) json += ',';
    json += json_quote(text(item.key)) + ':';
    if (const auto* number = std::get_if<int64_t>(&item.value)) {
      json += std::to_string(*number);
    } else if (const auto* real = std::get_if<double>(&item.value)) {
      // A real stays one: "1.0" and not "1", which would be read back as an integer.
      const std::string digits = fmt::format("{}", *real);
      json += !std::isfinite(*real) ? "null" : digits;
      if (digits.find_first_of(".ein") == std::string::npos) json += ".0";
    } else {
      json += json_quote(text(std::get<StringId>(item.value)));
    }
  }
  return json + '}';
}

void Dictionary::clear() {
  strings.resize(1);
  threads.resize(1);
  frames.resize(1);
  stacks.resize(1);
  details.resize(1);
  detail_items.clear();
}

std::vector<uint64_t> Dictionary::stack_hashes() const {
  std::vector<uint64_t> frame_hashes(frames.size());
  for (size_t i = 1; i < frames.size(); ++i) {
    const Frame& frame = frames[i];
    uint64_t hash = hash_text(text(frame.symbol), 0);
    for (const StringId part : {frame.module, frame.build_id, frame.file})
      hash = hash_text(text(part), hash);
    const std::array<uint64_t, 2> rest = {frame.line, static_cast<uint64_t>(frame.kind)};
    frame_hashes[i] = hash_pod(rest, hash);
  }
  std::vector<uint64_t> hashes(stacks.size());
  for (size_t i = 1; i < stacks.size(); ++i) {
    const std::array<uint64_t, 2> pair = {hashes[index_of(stacks[i].parent)],
                                          frame_hashes[index_of(stacks[i].frame)]};
    hashes[i] = hash_pod(pair);
  }
  return hashes;
}

size_t Interner::HashOf::operator()(std::string_view bytes) const { return hash_text(bytes, 0); }
size_t Interner::HashOf::operator()(const ThreadKey& key) const { return hash_pod(key); }
size_t Interner::HashOf::operator()(const StackNode& node) const { return hash_pod(node); }
size_t Interner::HashOf::operator()(const Frame& frame) const {
  const std::array<uint32_t, 6> parts = {static_cast<uint32_t>(frame.symbol),
                                         static_cast<uint32_t>(frame.module),
                                         static_cast<uint32_t>(frame.build_id),
                                         static_cast<uint32_t>(frame.file),
                                         frame.line,
                                         static_cast<uint32_t>(frame.kind)};
  return hash_pod(parts);
}

std::string_view Interner::keep(std::string_view text) {
  if (text.size() > block_left_) {
    const size_t size = std::max(kBlockBytes, text.size());
    blocks_.push_back(std::make_unique<char[]>(size));
    block_at_ = blocks_.back().get();
    block_left_ = size;
  }
  std::memcpy(block_at_, text.data(), text.size());
  const std::string_view kept(block_at_, text.size());
  block_at_ += text.size();
  block_left_ -= text.size();
  text_bytes_ += text.size();
  return kept;
}

StringId Interner::string(std::string_view text) {
  if (text.empty()) return StringId::kNone;
  if (const auto found = strings_.find(text); found != strings_.end()) return found->second;
  const std::string_view kept = keep(text);
  const auto id = static_cast<StringId>(dictionary_.strings.size());
  dictionary_.strings.push_back(kept);
  strings_.emplace(kept, id);
  return id;
}

ThreadId Interner::thread(int64_t pid, int64_t tid) {
  return static_cast<ThreadId>(threads_.intern(dictionary_.threads, ThreadKey{pid, tid}, HashOf()));
}

FrameId Interner::frame(const Frame& frame) {
  return static_cast<FrameId>(frames_.intern(dictionary_.frames, frame, HashOf()));
}

StackId Interner::stack(StackId parent, FrameId frame) {
  return static_cast<StackId>(
      stacks_.intern(dictionary_.stacks, StackNode{parent, frame}, HashOf()));
}

DetailId Interner::detail(std::span<const DetailItem> items) {
  if (items.empty()) return DetailId::kNone;
  items = items.first(std::min(items.size(), kMaxDetailItems));
  std::string key;
  for (const DetailItem& item : items) {
    uint64_t bits = 0;
    std::visit([&](const auto& value) { std::memcpy(&bits, &value, sizeof value); }, item.value);
    fmt::format_to(std::back_inserter(key), "{}:{}:{};", index_of(item.key), item.value.index(),
                   bits);
  }
  const auto [entry, added] =
      details_.try_emplace(std::move(key), static_cast<DetailId>(dictionary_.details.size()));
  if (added) {
    dictionary_.details.push_back({static_cast<uint32_t>(dictionary_.detail_items.size()),
                                   static_cast<uint32_t>(items.size())});
    dictionary_.detail_items.insert(dictionary_.detail_items.end(), items.begin(), items.end());
  }
  return entry->second;
}

}  // namespace fathom
