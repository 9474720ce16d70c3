// SPDX-License-Identifier: Apache-2.0
// What the ids in records stand for: strings, threads, stack frames, stacks and details. Dictionary
// is the plain data (element 0 of each list is "none"); Interner builds one while recording and
// gives equal things equal ids. An Interner belongs to one thread; a Dictionary that no longer
// changes may be read by any.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "record/id_index.h"
#include "record/ids.h"

namespace fathom {

struct ThreadKey {
  int64_t pid = 0;
  int64_t tid = 0;
  bool operator==(const ThreadKey&) const = default;
};

enum class FrameKind : uint8_t { kUnknown, kKernel, kNative, kInlined, kJava, kPython, kGpu };
constexpr FrameKind kLastFrameKind = FrameKind::kGpu;
const char* frame_kind_name(FrameKind kind);

struct Frame {
  StringId symbol{}, module{}, build_id{}, file{};
  uint32_t line = 0;  // 0: not known
  FrameKind kind = FrameKind::kUnknown;
  bool operator==(const Frame&) const = default;
};

struct StackNode {
  StackId parent{};  // the caller; kNone: this is the root
  FrameId frame{};
  bool operator==(const StackNode&) const = default;
};

using DetailValue = std::variant<int64_t, double, StringId>;
struct DetailItem {
  StringId key{};
  DetailValue value;
  bool operator==(const DetailItem&) const = default;
};

struct Dictionary {
  struct Range {
    uint32_t offset = 0;
    uint32_t length = 0;
  };
  std::vector<std::string_view> strings{{}};
  std::vector<ThreadKey> threads{{}};
  std::vector<Frame> frames{{}};
  std::vector<StackNode> stacks{{}};  // a parent comes before its children
  std::vector<Range> details{{}};
  std::vector<DetailItem> detail_items;

  [[nodiscard]] std::string_view text(StringId id) const { return strings[index_of(id)]; }
  [[nodiscard]] std::span<const DetailItem> items(DetailId id) const {
    const Range range = details[index_of(id)];
    return std::span(detail_items).subspan(range.offset, range.length);
  }
  // The items as a JSON object; empty for kNone.
  [[nodiscard]] std::string detail_json(DetailId id) const;
  // Empty again; memory is kept.
  void clear();
  // Ids of all stacks that depend on content alone, so that they agree between frames and between
  // runs.
  [[nodiscard]] std::vector<uint64_t> stack_hashes() const;
};

class Interner {
 public:
  StringId string(std::string_view text);
  ThreadId thread(int64_t pid, int64_t tid);
  FrameId frame(const Frame& frame);
  StackId stack(StackId parent, FrameId frame);
  DetailId detail(std::span<const DetailItem> items);  // at most 64 items count

  [[nodiscard]] const Dictionary& dictionary() const { return dictionary_; }
  [[nodiscard]] std::string_view text(StringId id) const { return dictionary_.text(id); }
  // About what all of it takes.
  [[nodiscard]] size_t bytes() const {
    return text_bytes_ + dictionary_.stacks.size() * 2 * sizeof(StackNode) +
           dictionary_.frames.size() * 2 * sizeof(Frame);
  }

 private:
  std::string_view keep(std::string_view text);

  struct HashOf {
    size_t operator()(std::string_view bytes) const;
    size_t operator()(const ThreadKey& key) const;
    size_t operator()(const Frame& frame) const;
    size_t operator()(const StackNode& node) const;
  };
  Dictionary dictionary_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t block_left_ = 0;
  size_t text_bytes_ = 0;
  char* block_at_ = nullptr;
  std::unordered_map<std::string_view, StringId, HashOf> strings_;
  IdIndex threads_, frames_, stacks_;
  std::unordered_map<std::string, DetailId> details_;
};

}  // namespace fathom
