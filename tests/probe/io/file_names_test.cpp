// SPDX-License-Identifier: Apache-2.0
#include "probe/io/file_names.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "wire/calls.h"

namespace fathom {
namespace {

// As the kernel half sends it: parts from the last to the first, then the tail.
std::vector<std::byte> record(uint32_t file, uint32_t kind, const std::vector<std::string>& parts,
                              const std::string& tail = "") {
  WireName head{};
  head.file = file;
  head.kind = kind;
  head.key.inode = 4711;
  head.parts = static_cast<uint32_t>(parts.size());
  std::string text;
  for (const std::string& part : parts) text += part + '\0';
  head.part_bytes = static_cast<uint32_t>(text.size());
  head.tail_bytes = static_cast<uint32_t>(tail.size());
  text += tail;
  std::vector<std::byte> bytes(sizeof head + text.size());
  std::memcpy(bytes.data(), &head, sizeof head);
  std::memcpy(bytes.data() + sizeof head, text.data(), text.size());
  return bytes;
}

TEST(FileName, IsThePathFromTheRoot) {
  EXPECT_EQ(file_name_of(record(1, kNamePath, {"c", "b", "a"})), "/a/b/c");
  EXPECT_EQ(file_name_of(record(1, kNamePath, {})), "/");
  EXPECT_EQ(file_name_of(record(1, kNamePath | kNameCut, {"c", "b"})), "…/b/c");
}

TEST(FileName, EndsWithWhatWasGivenToTheCall) {
  EXPECT_EQ(file_name_of(record(1, kNamePath, {"b", "a"}, "x/y")), "/a/b/x/y");
  EXPECT_EQ(file_name_of(record(1, kNamePath, {"b", "a"}, "./x")), "/a/b/x");
  EXPECT_EQ(file_name_of(record(1, kNamePath, {"b", "a"}, ".")), "/a/b");
  EXPECT_EQ(file_name_of(record(1, kNamePath, {}, "/etc/passwd")), "/etc/passwd");
}

TEST(FileName, SaysWhatHasNoPath) {
  EXPECT_EQ(file_name_of(record(1, kNamePipe, {})), "pipe:[4711]");
  EXPECT_EQ(file_name_of(record(1, kNameSocket, {})), "socket:[4711]");
  EXPECT_EQ(file_name_of(record(1, kNameAnonymous, {"[eventfd]"})), "anon_inode:[eventfd]");
}

TEST(FileName, TakesAnyBytes) {
  EXPECT_EQ(file_name_of(record(1, kNamePath, {"<script>\n\xff"})), "/<script>\n\xff");
}

TEST(FileName, IsEmptyWhereTheRecordIsNotWhole) {
  std::vector<std::byte> whole = record(1, kNamePath, {"b", "a"}, "tail");
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(file_name_of(std::span(whole).first(size)), "") << size;
  WireName head{};
  head.part_bytes = head.tail_bytes = UINT32_MAX;
  std::memcpy(whole.data(), &head, sizeof head);
  EXPECT_EQ(file_name_of(whole), "");
}

TEST(FileNames, AreFoundByNumberAndBounded) {
  FileNames names;
  names.add(record(7, kNamePath, {"a"}));
  names.add(record(8, kNamePath, {"b"}));
  ASSERT_NE(names.find(7), nullptr);
  EXPECT_EQ(*names.find(7), "/a");
  EXPECT_EQ(names.find(9), nullptr);
  names.add(record(7, kNamePath, {"c"}));
  EXPECT_EQ(*names.find(7), "/c");
  EXPECT_EQ(names.size(), 2U);
}

}  // namespace
}  // namespace fathom
