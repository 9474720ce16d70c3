// SPDX-License-Identifier: Apache-2.0
// The worked example of docs/formats/journal.md, made again and compared byte by byte.
#include <sstream>

#include "record/sample_recording.h"
#include "support/folders.h"

namespace fathom {
namespace {

// The bytes of the lines "    OFFSET  HEX HEX …  what they are".
std::string documented_bytes(const std::string& text) {
  std::string bytes;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.size() < 12 || !line.starts_with("    0") || line.substr(8, 2) != "  ") continue;
    EXPECT_EQ(std::stoul(line.substr(4, 4), nullptr, 16), bytes.size()) << line;
    for (size_t at = 10; at + 1 < line.size() && line[at] != ' '; at += 3) {
      bytes += static_cast<char>(std::stoi(line.substr(at, 2), nullptr, 16));
    }
  }
  return bytes;
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    text += fmt::format("{:02x} ", static_cast<unsigned>(static_cast<unsigned char>(byte)));
  }
  return text;
}

TEST(JournalDocTest, TheExampleIsWhatIsWritten) {
  ScratchFolder scratch;
  Interner names;
  std::vector<Rows> frames(2);
  frames[0].of<Mark>().push_back({5, names.string("hi")});
  frames[0].of<Mark>().push_back({8, names.string("hi")});
  write_journal(scratch.path(), names, frames);
  const std::string written = read_file(scratch.path() + "/" + kJournalName).value();
  const auto text = read_file(source_folder() + "/docs/formats/journal.md");
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_EQ(hex(documented_bytes(text.value())), hex(written));
}

}  // namespace
}  // namespace fathom
