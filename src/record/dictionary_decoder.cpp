// SPDX-License-Identifier: Apache-2.0
#include "record/dictionary_decoder.h"

#include <array>

#include "record/frame.h"
#include "record/frame_layout.h"
#include "record/packed_column.h"

namespace fathom {
namespace {

using namespace frame_layout;

class DictionaryDecoder {
 public:
  explicit DictionaryDecoder(Dictionary& out) : out_(out) {}

  const char* decode(protozero::pbf_reader& reader) {
    while (reader.next() && wrong_ == nullptr) {
      const uint32_t field = reader.tag();
      if (field > kDetailValues) {
        reader.skip();
      } else if (!holds_bytes(reader)) {
        malformed("a column of another type");
      } else if (field == kStrings) {
        const protozero::data_view text = reader.get_view();
        out_.strings.emplace_back(text.data(), text.size());
        if (out_.strings.size() > kMaxListLength + 1) malformed("too many strings");
      } else {
        columns_[field] = PackedColumn(reader.get_view());
      }
    }
    read_threads();
    read_frames();
    read_stacks();
    read_details();
    return wrong_;
  }

 private:
  void malformed(const char* what) {
    if (wrong_ == nullptr) wrong_ = what;
  }

  // How many elements a list has, that its columns agree on. A column of zeros may be left out.
  size_t length_of(std::initializer_list<uint32_t> fields) {
    size_t length = 0;
    for (const uint32_t field : fields) length = std::max(length, columns_[field].count());
    if (length <= kMaxListLength) return length;
    malformed("a list is too long");
    return 0;
  }

  template <class Take>
  void read(uint32_t field, size_t count, Take&& take) {
    if (columns_[field].empty() || wrong_ != nullptr) return;
    if (!columns_[field].read(count, take)) malformed(kColumnIsCut);
  }

  template <class Id>
  Id checked(uint64_t value, size_t count) {
    if (value < count) return static_cast<Id>(value);
    malformed("an id that is not in the dictionary");
    return Id::kNone;
  }
  StringId string(uint64_t value) { return checked<StringId>(value, out_.strings.size()); }

  void read_threads() {
    auto& threads = out_.threads;
    const size_t count = length_of({kThreadPids, kThreadTids});
    threads.resize(1 + count);
    read(kThreadPids, count, [&](size_t i, uint64_t v) { threads[i + 1].pid = unzigzag(v); });
    read(kThreadTids, count, [&](size_t i, uint64_t v) { threads[i + 1].tid = unzigzag(v); });
  }

  void read_frames() {
    auto& frames = out_.frames;
    const size_t count = length_of(
        {kFrameSymbols, kFrameModules, kFrameBuildIds, kFrameFiles, kFrameLines, kFrameKinds});
    frames.resize(1 + count);
    const auto read_text = [&](uint32_t field, StringId Frame::*member) {
      read(field, count, [&](size_t i, uint64_t v) { frames[i + 1].*member = string(v); });
    };
    read_text(kFrameSymbols, &Frame::symbol);
    read_text(kFrameModules, &Frame::module);
    read_text(kFrameBuildIds, &Frame::build_id);
    read_text(kFrameFiles, &Frame::file);
    read(kFrameLines, count,
         [&](size_t i, uint64_t v) { frames[i + 1].line = static_cast<uint32_t>(v); });
    read(kFrameKinds, count, [&](size_t i, uint64_t v) {
      constexpr auto kLast = static_cast<uint64_t>(kLastFrameKind);
      frames[i + 1].kind = v <= kLast ? static_cast<FrameKind>(v) : FrameKind::kUnknown;
    });
  }

  void read_stacks() {
    auto& stacks = out_.stacks;
    const size_t count = length_of({kStackParents, kStackFrames});
    stacks.resize(1 + count);
    read(kStackParents, count, [&](size_t i, uint64_t back) {
      if (back > i) return malformed("a stack stands before its parent");
      if (back != 0) stacks[i + 1].parent = static_cast<StackId>(i + 1 - back);
    });
    read(kStackFrames, count, [&](size_t i, uint64_t v) {
      stacks[i + 1].frame = checked<FrameId>(v, out_.frames.size());
    });
  }

  void read_details() {
    auto& items = out_.detail_items;
    const size_t count = length_of({kDetailKeys, kDetailTypes, kDetailValues});
    items.resize(count);
    std::vector<uint64_t> types(count);
    std::vector<uint64_t> values(count);
    read(kDetailKeys, count, [&](size_t i, uint64_t v) { items[i].key = string(v); });
    read(kDetailTypes, count, [&](size_t i, uint64_t v) { types[i] = v; });
    read(kDetailValues, count, [&](size_t i, uint64_t v) { values[i] = v; });
    for (size_t i = 0; i < count; ++i) {
      if (types[i] == kDetailInteger) items[i].value = unzigzag(values[i]);
      if (types[i] == kDetailReal) items[i].value = real_of(values[i]);
      if (types[i] == kDetailString) items[i].value = string(values[i]);
    }
    size_t offset = 0;
    const size_t details = length_of({kDetailLengths});
    out_.details.reserve(1 + details);
    read(kDetailLengths, details, [&](size_t, uint64_t length) {
      if (length > count - offset) return malformed("a detail longer than all details");
      out_.details.push_back({static_cast<uint32_t>(offset), static_cast<uint32_t>(length)});
      offset += length;
    });
  }

  Dictionary& out_;
  std::array<PackedColumn, kDetailValues + 1> columns_;
  const char* wrong_ = nullptr;
};

}  // namespace

const char* decode_dictionary(protozero::pbf_reader reader, Dictionary& out) {
  return DictionaryDecoder(out).decode(reader);
}

}  // namespace fathom
