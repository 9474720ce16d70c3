// SPDX-License-Identifier: Apache-2.0
#include "import/folded_importer.h"

#include <gtest/gtest.h>

#include "base/fd.h"
#include "support/memory_sink.h"
#include "support/temp_folder.h"

namespace fathom {
namespace {

TEST(FoldedImporter, KeepsStacksWeightsAndKinds) {
  const TempFolder folder;
  const std::string path = folder / "a.folded";
  ASSERT_TRUE(
      write_file(path, "main;f<a, b>;read_[k] 17\r\nmain;f<a, b> 3\n\nno count\nmain -4\n").ok());
  MemorySink sink;
  RecordStream out(sink);
  const auto counts = import_folded(path, out);
  ASSERT_TRUE(counts.ok());
  EXPECT_EQ(counts.value().lines, 2);
  EXPECT_EQ(counts.value().skipped, 2);
  out.flush();
  const auto rows = sink.collected();
  const std::vector<Sample>& samples = rows->rows.of<Sample>();
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples[0].weight, 17);
  const Dictionary& names = rows->names.dictionary();
  const StackNode leaf = names.stacks[index_of(samples[0].stack)];
  EXPECT_EQ(names.text(names.frames[index_of(leaf.frame)].symbol), "read");
  EXPECT_EQ(names.frames[index_of(leaf.frame)].kind, FrameKind::kKernel);
  EXPECT_EQ(leaf.parent, samples[1].stack);
}

TEST(FoldedImporter, TellsItsFormat) {
  EXPECT_TRUE(looks_folded("a;b 1\n"));
  EXPECT_FALSE(looks_folded("PERFILE2"));
  EXPECT_FALSE(looks_folded("{\"a\": 1}\n"));
  EXPECT_FALSE(looks_folded(""));
}

TEST(FoldedImporter, AFileWithoutStacksIsAnError) {
  const TempFolder folder;
  ASSERT_TRUE(write_file(folder / "x", "nothing here\n").ok());
  MemorySink sink;
  RecordStream out(sink);
  EXPECT_FALSE(import_folded(folder / "x", out).ok());
  EXPECT_FALSE(import_folded(folder / "missing", out).ok());
  EXPECT_EQ(find_importer("fold", "").error().hint, "did you mean folded?");
}

TEST(FoldedImporter, SaysWhatIsWrongInWhichLine) {
  EXPECT_EQ(not_folded("x", "").message, "x is empty");
  EXPECT_EQ(not_folded("x", "\n\nmain;work\na 1\n").message,
            "x, line 3: 'main;work' does not end in a count");
  EXPECT_NE(
      not_folded("x", std::string_view("\0ELF", 4)).message.find("neither a recording nor text"),
      std::string::npos);
  EXPECT_EQ(not_folded("x", "\x1b[31m\n").message.find('\x1b'), std::string::npos);
  EXPECT_NE(not_folded("x", "a").hint.find("main;work;read 17"), std::string::npos);
  const TempFolder folder;
  ASSERT_TRUE(write_file(folder / "x", "a 1\n\nb\nc\n").ok());
  MemorySink sink;
  RecordStream out(sink);
  const ImportCounts counts = import_folded(folder / "x", out).value();
  EXPECT_EQ(counts.skipped, 2);
  EXPECT_EQ(counts.first_skipped, 3);
}

}  // namespace
}  // namespace fathom
