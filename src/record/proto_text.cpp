// SPDX-License-Identifier: Apache-2.0
#include "record/proto_text.h"

#include <fmt/format.h>

#include "record/frame_layout.h"
#include "record/schema.h"

namespace fathom {
namespace {

constexpr const char* kHead = R"(// SPDX-License-Identifier: Apache-2.0
// The payload of a Fathom frame (journal.md). Made from src/record/schema.h by schema_proto(); do not edit.
//
//   protoc --decode=fathom.Payload docs/formats/fathom.proto < PAYLOAD
//
// Every column is a packed list with one value a row, or is left out if all values are 0. What a column holds:
//   sint64          an integer
//   sint64, delta   the difference to the row before; the first row's to 0. Wraps around at 64 bits.
//   uint64, maybe   0: not measured; else zigzag(value) + 1, zigzag as in sint64
//   uint64, maybe, minus COLUMN
//                   the same for the difference to COLUMN in the same row, where that was measured too
//   uint64, real    the IEEE 754 bits of a double with their 8 bytes reversed: doubles that hold small
//                   integers have zeros at the end, which so come first in the number and cost nothing
//   uint32          an id: the n-th element of a list in the dictionary, from 1; 0: none
//   uint32, lengths how many elements of NAME_values belong to the row
syntax = "proto3";

package fathom;

)";

constexpr const char* kDictionaryText =
    R"(// What the ids of this frame stand for. The columns of one list have equal lengths.
message Dictionary {{
  repeated bytes strings = {};  // mostly UTF-8, but any bytes may come

  // Threads.
  repeated sint64 thread_pids = {};
  repeated sint64 thread_tids = {};

  // Frames: a place in code.
  repeated uint32 frame_symbols = {};    // string
  repeated uint32 frame_modules = {};    // string
  repeated uint32 frame_build_ids = {};  // string
  repeated uint32 frame_files = {};      // string
  repeated uint32 frame_lines = {};      // 0: not known
  repeated uint32 frame_kinds = {};      // 0 unknown, 1 kernel, 2 native, 3 inlined, 4 java, 5 python, 6 gpu

  // Stacks: a frame and its caller's stack, which stands earlier in the list.
  repeated uint32 stack_parents = {};  // how many elements earlier; 0: this is a root
  repeated uint32 stack_frames = {};   // frame

  // Details: sets of named values. The items of all details follow each other.
  repeated uint32 detail_lengths = {};  // items of each detail
  repeated uint32 detail_keys = {};     // string
  repeated uint32 detail_types = {};    // 0 integer, 1 real, 2 string
  repeated uint64 detail_values = {};   // by type: zigzag(value), real as above, string
}}
)";

std::string dictionary_text() {
  using namespace frame_layout;
  return fmt::format(kDictionaryText, kStrings, kThreadPids, kThreadTids, kFrameSymbols,
                     kFrameModules, kFrameBuildIds, kFrameFiles, kFrameLines, kFrameKinds,
                     kStackParents, kStackFrames, kDetailLengths, kDetailKeys, kDetailTypes,
                     kDetailValues);
}

// "node_sums" -> "NodeSums"
std::string message_name(std::string_view table) {
  std::string name;
  bool upper = true;
  for (const char letter : table) {
    if (letter != '_') name += upper ? static_cast<char>(letter - 'a' + 'A') : letter;
    upper = letter == '_';
  }
  return name;
}

template <class Record>
const char* name_of(Maybe Record::*member) {
  const char* name = nullptr;
  for_each_field<Record>([&](const auto& field, uint32_t) {
    if constexpr (std::is_same_v<decltype(field.member), Maybe Record::*>) {
      if (field.member == member) name = field.name;
    }
  });
  return name;
}

struct ColumnType {
  std::string type, what;
};

template <class Record, class Member>
ColumnType column_type(const Field<Record, Member>& field) {
  if constexpr (std::is_same_v<Member, int64_t>) {
    return {"sint64", field.coding == Coding::kDelta ? "delta" : ""};
  } else if constexpr (std::is_same_v<Member, Maybe>) {
    if (field.base == nullptr) return {"uint64", "maybe"};
    return {"uint64", std::string("maybe, minus ") + name_of(field.base)};
  } else if constexpr (std::is_same_v<Member, double>) {
    return {"uint64", "real"};
  } else if constexpr (std::is_same_v<Member, Histogram>) {
    return {"uint32", "lengths"};
  } else if constexpr (std::is_same_v<Member, StringId>) {
    return {"uint32", "string"};
  } else if constexpr (std::is_same_v<Member, ThreadId>) {
    return {"uint32", "thread"};
  } else if constexpr (std::is_same_v<Member, StackId>) {
    return {"uint32", "stack"};
  } else {
    static_assert(std::is_same_v<Member, DetailId>);
    return {"uint32", "detail"};
  }
}

std::string comment(std::string_view what, std::string_view unit, std::string_view help) {
  std::string text(what);
  if (!unit.empty()) text += fmt::format("{}{}", text.empty() ? "" : ", ", unit);
  return fmt::format("  // {}{}{}\n", text, text.empty() ? "" : ": ", help);
}

template <class Record>
std::string table_text() {
  std::string text =
      fmt::format("\n// {}.\nmessage {} {{\n  uint32 row_count = {};\n", TableOf<Record>::kHelp,
                  message_name(TableOf<Record>::kName), frame_layout::kRowCount);
  std::string values;
  for_each_field<Record>([&]<class Member>(const Field<Record, Member>& field, uint32_t number) {
    const ColumnType column = column_type(field);
    text += fmt::format("  repeated {} {} = {};", column.type, field.name, number) +
            comment(column.what, field.unit, field.help);
    if constexpr (std::is_same_v<Member, Histogram>) {
      values += fmt::format("  repeated sint64 {}_values = {};\n", field.name,
                            number + frame_layout::kBucketsOffset);
    }
  });
  return text + values + "}\n";
}

}  // namespace

std::string schema_proto() {
  std::string payload =
      "// The dictionary comes first; each table at most once.\nmessage Payload {\n";
  payload += fmt::format("  Dictionary dictionary = {};\n", frame_layout::kDictionary);
  std::string tables;
  for_each_table([&]<class Record>() {
    const char* name = TableOf<Record>::kName;
    payload += fmt::format("  {} {} = {};\n", message_name(name), name,
                           frame_layout::table_field<Record>());
    tables += table_text<Record>();
  });
  return kHead + payload + "}\n\n" + dictionary_text() + tables;
}

}  // namespace fathom
