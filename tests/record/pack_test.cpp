// SPDX-License-Identifier: Apache-2.0
#include "record/pack.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include "base/fd.h"
#include "record/pack_header.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

class PackTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "pack_test.XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    folder_ = root_ + "/make-1.fathom";
    fs::create_directory(folder_);
    ASSERT_TRUE(write_file(folder_ + "/run.json", "{\"id\": 1}\n").ok());
    ASSERT_TRUE(write_file(folder_ + "/samples.parquet", std::string(1300, 's')).ok());
    ASSERT_TRUE(write_file(folder_ + "/runs.parquet", "runs").ok());
    ASSERT_TRUE(write_file(folder_ + "/empty", "").ok());
    ASSERT_TRUE(write_file(folder_ + "/.journal.part", "temporary").ok());
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string packed() {
    const std::string file = root_ + "/make-1.fathom.tar";
    EXPECT_TRUE(pack_recording(folder_, file).ok());
    return read_file(file).value();
  }

  // Unpacks these bytes as `out`; whatever happens, nothing temporary may stay.
  Result<std::string> unpack(const std::string& bytes) {
    EXPECT_TRUE(write_file(root_ + "/in.tar", bytes).ok());
    auto result = unpack_recording(root_ + "/in.tar", root_ + "/out.fathom");
    for (const auto& entry : fs::directory_iterator(root_)) {
      EXPECT_FALSE(entry.path().filename().string().starts_with('.')) << entry.path();
    }
    return result;
  }

  std::string root_;
  std::string folder_;
};

std::string archive_of(const std::vector<TarHeader>& headers, bool ended = true) {
  std::string bytes;
  for (const TarHeader& header : headers) {
    const TarBlock block = encode_tar_header(header).value();
    bytes.append(block.data(), block.size());
    bytes.append(static_cast<size_t>(tar_padded(header.size_bytes)), 'x');
  }
  if (ended) bytes.append(2 * kTarBlockBytes, '\0');
  return bytes;
}

TarHeader entry(const std::string& name, int64_t size_bytes = 3, char type = '0') {
  return TarHeader{name, size_bytes, 0, type};
}

TEST_F(PackTest, ComesBackAsItWas) {
  const auto out = unpack(packed());
  ASSERT_TRUE(out.ok()) << out.error().message;
  EXPECT_EQ(out.value(), root_ + "/out.fathom");
  EXPECT_EQ(read_file(out.value() + "/run.json").value(), "{\"id\": 1}\n");
  EXPECT_EQ(read_file(out.value() + "/samples.parquet").value(), std::string(1300, 's'));
  EXPECT_EQ(read_file(out.value() + "/empty").value(), "");
  EXPECT_FALSE(fs::exists(out.value() + "/.journal.part"));
}

TEST_F(PackTest, TarReadsIt) {
  if (system("tar --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no tar here";
  packed();
  const std::string list = "cd " + root_ + " && tar tf make-1.fathom.tar > list";
  ASSERT_EQ(system(list.c_str()), 0);
  EXPECT_EQ(read_file(root_ + "/list").value(),
            "make-1.fathom/empty\nmake-1.fathom/run.json\nmake-1.fathom/"
            "runs.parquet\nmake-1.fathom/samples.parquet\n");
}

TEST_F(PackTest, ReadsWhatTarWrote) {
  if (system("tar --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no tar here";
  fs::remove(folder_ + "/.journal.part");
  for (const char* format : {"gnu", "ustar"}) {
    const std::string make =
        "cd " + root_ + " && tar cf t.tar --format=" + format + " make-1.fathom";
    ASSERT_EQ(system(make.c_str()), 0);
    const auto out = unpack(read_file(root_ + "/t.tar").value());
    ASSERT_TRUE(out.ok()) << out.error().message;
    EXPECT_EQ(read_file(out.value() + "/samples.parquet").value(), std::string(1300, 's'));
    fs::remove_all(out.value());
  }
}

TEST_F(PackTest, DoesNotOverwriteUnlessTold) {
  const std::string file = root_ + "/make-1.fathom.tar";
  packed();
  EXPECT_EQ(pack_recording(folder_, file).error().code, Code::kExists);
  EXPECT_TRUE(pack_recording(folder_, file, Overwrite::kYes).ok());
  ASSERT_TRUE(unpack_recording(file, root_ + "/a.fathom").ok());
  EXPECT_EQ(unpack_recording(file, root_ + "/a.fathom").error().code, Code::kExists);
  EXPECT_EQ(unpack_recording(file, folder_).error().code, Code::kExists);
}

TEST_F(PackTest, RefusesWhatIsNoRecording) {
  EXPECT_EQ(pack_recording(root_ + "/none", root_ + "/x.tar").error().code, Code::kNotFound);
  EXPECT_EQ(pack_recording(folder_ + "/run.json", root_ + "/x.tar").error().code,
            Code::kUnsupported);
  fs::create_symlink("/etc/passwd", folder_ + "/link");
  EXPECT_FALSE(pack_recording(folder_, root_ + "/x.tar").ok());
  fs::remove(folder_ + "/link");
  fs::create_directory(folder_ + "/sub");
  EXPECT_FALSE(pack_recording(folder_, root_ + "/x.tar").ok());
  fs::remove(folder_ + "/sub");
  ASSERT_TRUE(write_file(folder_ + "/two words", "x").ok());
  EXPECT_FALSE(pack_recording(folder_, root_ + "/x.tar").ok());
  EXPECT_FALSE(fs::exists(root_ + "/x.tar"));
}

TEST_F(PackTest, ATruncatedArchiveSaysSoAndLeavesNothing) {
  const std::string bytes = packed();
  for (size_t length = 0; length < bytes.size(); length += 37) {
    const auto out = unpack(bytes.substr(0, length));
    ASSERT_FALSE(out.ok()) << length;
    const char* said = length < kTarBlockBytes ? "not a Fathom archive" : "cut off";
    EXPECT_NE(out.error().message.find(said), std::string::npos) << out.error().message;
    EXPECT_FALSE(fs::exists(root_ + "/out.fathom")) << length;
  }
  const auto out = unpack(bytes.substr(0, bytes.size() - 1500));
  EXPECT_NE(out.error().message.find("3 files with 14 B are whole"), std::string::npos)
      << out.error().message;
  EXPECT_FALSE(unpack(bytes.substr(0, bytes.size() - 1)).ok());
}

TEST_F(PackTest, EveryFlippedHeaderByteIsNoticed) {
  const std::string bytes = packed();
  for (size_t at = 0; at < kTarBlockBytes; ++at) {
    if (at == 155) continue;  // the space behind the checksum means nothing
    std::string broken = bytes;
    broken[at] = static_cast<char>(broken[at] ^ 0x41);
    EXPECT_FALSE(unpack(broken).ok()) << at;
    fs::remove_all(root_ + "/out.fathom");
  }
}

TEST_F(PackTest, WhatIsNoArchiveIsCalledSo) {
  for (const std::string& bytes : {std::string("hello\n"), std::string(4096, 'z')}) {
    const auto out = unpack(bytes);
    ASSERT_FALSE(out.ok());
    EXPECT_TRUE(out.error().message.ends_with("not a Fathom archive")) << out.error().message;
  }
  const auto out = unpack_recording(folder_, root_ + "/out.fathom");
  ASSERT_FALSE(out.ok());
  EXPECT_TRUE(out.error().message.ends_with("not a Fathom archive")) << out.error().message;
}

TEST_F(PackTest, RefusesNamesThatLeaveTheFolder) {
  for (const char* name :
       {"../x", "a.fathom/../x", "/etc/x", "a.fathom/..", "a.fathom/sub/x", "x", "", ".fathom/x",
        "./x", "a.fathom//x", "a.fathom/.hidden", "a.fathom/a b", "a.fathom/a\nb",
        "a.fathom/\x1b[2J", "../../a.fathom/x"}) {
    const auto out = unpack(archive_of({entry(name)}));
    ASSERT_FALSE(out.ok()) << name;
    EXPECT_EQ(out.error().message.find('\x1b'), std::string::npos);
    EXPECT_FALSE(fs::exists(root_ + "/out.fathom")) << name;
  }
}

TEST_F(PackTest, RefusesLinksDevicesTwinsAndSecondFolders) {
  for (const char type : {'1', '2', '3', '4', '6', '7', 'x', 'g', 'L', 'S'}) {
    EXPECT_FALSE(unpack(archive_of({entry("a.fathom/x", 0, type)})).ok()) << type;
  }
  EXPECT_FALSE(unpack(archive_of({entry("a.fathom/x"), entry("a.fathom/x")})).ok());
  EXPECT_FALSE(unpack(archive_of({entry("a.fathom/x"), entry("b.fathom/x")})).ok());
  EXPECT_FALSE(unpack(archive_of({entry("a.fathom/sub/", 0, '5')})).ok());
  EXPECT_FALSE(unpack(archive_of({entry("a.fathom/", 0, '5')})).ok()) << "no files";
  EXPECT_FALSE(unpack(archive_of({})).ok());
  EXPECT_FALSE(unpack(std::string(4096, 'z')).ok());
  EXPECT_TRUE(unpack(archive_of({entry("any-top/journal")})).ok()) << "named by -o";
}

TEST_F(PackTest, WhatHoldsNoRecordingIsNotUnpacked) {
  const auto out =
      unpack(archive_of({entry("a.fathom/run.json"), entry("a.fathom/gauges.parquet")}));
  ASSERT_FALSE(out.ok());
  EXPECT_NE(out.error().message.find("neither a journal nor runs.parquet"), std::string::npos);
  EXPECT_FALSE(fs::exists(root_ + "/out.fathom"));
}

TEST_F(PackTest, TheArchivesOwnFolderMustLookLikeARecording) {
  ASSERT_TRUE(write_file(root_ + "/in.tar", archive_of({entry("etc/journal")})).ok());
  const auto out = unpack_recording(root_ + "/in.tar");
  ASSERT_FALSE(out.ok());
  EXPECT_NE(out.error().hint.find("-o"), std::string::npos);
}

TEST_F(PackTest, ASizeBeyondTheFileIsACutNotACrash) {
  for (const int64_t size : {int64_t{1} << 32, int64_t{1} << 40, INT64_MAX - 511, INT64_MAX}) {
    const TarBlock block = encode_tar_header(entry("a.fathom/x", size)).value();
    const auto out = unpack(std::string(block.data(), block.size()) + std::string(2048, '\0'));
    ASSERT_FALSE(out.ok());
    EXPECT_NE(out.error().message.find("cut off"), std::string::npos) << out.error().message;
  }
}

TEST(TarHeaderTest, KeepsLargeSizesAndLongNames) {
  const std::string folder(120, 'f');
  for (const int64_t size :
       {int64_t{0}, (int64_t{1} << 33) - 1, int64_t{1} << 33, int64_t{1} << 50}) {
    const TarHeader header = entry(folder + "/samples.parquet", size);
    const auto back = decode_tar_header(encode_tar_header(header).value());
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(back.value().name, header.name);
    EXPECT_EQ(back.value().size_bytes, size);
  }
  EXPECT_FALSE(encode_tar_header(entry(std::string(300, 'n'))).ok());
}

TEST(PackedName, IsTheFoldersOwn) {
  EXPECT_EQ(packed_name("x/make-1.fathom/"), "make-1.fathom.tar");
  EXPECT_EQ(packed_name("my run.fathom"), "my_run.fathom.tar");
}

}  // namespace
}  // namespace fathom
