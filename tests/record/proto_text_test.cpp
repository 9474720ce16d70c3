// SPDX-License-Identifier: Apache-2.0
#include "record/proto_text.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "base/subprocess.h"
#include "record/random_rows.h"
#include "record/sample_recording.h"
#include "support/folders.h"

namespace fathom {
namespace {

using testing::HasSubstr;

const std::string kDocs = source_folder() + "/docs/formats";

TEST(ProtoTextTest, TheFileIsMadeFromTheSchema) {
  const std::string path = kDocs + "/fathom.proto";
  if (std::getenv("FATHOM_UPDATE") != nullptr) {
    ASSERT_TRUE(write_file(path, schema_proto()).ok());
  }
  const auto text = read_file(path);
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_TRUE(text.value() == schema_proto())
      << "docs/formats/fathom.proto is not what schema.h says; make it again with:\n"
      << "  FATHOM_UPDATE=1 build/dev/tests/test_record --gtest_filter='ProtoTextTest.*'";
}

class ProtocTest : public testing::Test {
 protected:
  // What protoc reads in the payload of a frame of these rows.
  std::string decoded(const Rows& rows) {
    const auto frame = FrameEncoder().encode(names_.dictionary(), rows);
    EXPECT_TRUE(frame.ok());
    const std::vector<char> payload = decode_frame(frame.value()).value().bytes;
    const std::string path = scratch_.path() + "/payload";
    EXPECT_TRUE(write_file(path, {payload.data(), payload.size()}).ok());
    const std::string command =
        "cd '" + kDocs + "' && protoc --decode=fathom.Payload fathom.proto < " + path;
    const auto finished = run_to_end({"sh", "-c", command});
    EXPECT_TRUE(finished.ok());
    EXPECT_EQ(finished.value().status, 0) << finished.value().output;
    return finished.value().output;
  }
  void SetUp() override {
    const auto version = run_to_end({"protoc", "--version"});
    if (!version.ok()) GTEST_SKIP() << "protoc is absent (tools/setup test)";
  }

  ScratchFolder scratch_;
  Interner names_;
};

TEST_F(ProtocTest, ReadsWhatWeWrote) {
  Rows rows;
  Span span;
  span.start_ns = 1000;
  span.duration_ns = -3;
  span.thread = names_.thread(77, 78);
  span.name = names_.string("pread64");
  span.bytes = 4099;
  span.result = 4099;
  Frame frame;
  frame.symbol = names_.string("main");
  frame.kind = FrameKind::kNative;
  span.stack = names_.stack(names_.stack(StackId::kNone, names_.frame(frame)), names_.frame(frame));
  span.detail = names_.detail(std::vector<DetailItem>{{names_.string("offset"), int64_t{-5}}});
  rows.of<Span>().push_back(span);
  span.start_ns = 1023;
  span.bytes = Maybe();
  rows.of<Span>().push_back(span);
  rows.of<Gauge>().push_back({7, {}, {}, {}, 1.0});
  const std::string text = decoded(rows);
  for (const char* line :
       {"strings: \"pread64\"", "thread_pids: 77", "thread_tids: 78", "row_count: 2",
        "start_ns: 1000\n", "start_ns: 23\n", "duration_ns: -3", "bytes: 8199\n  bytes: 0",
        "result: 1\n  result: 8199", "stack_parents: 0\n  stack_parents: 1", "frame_kinds: 2",
        "detail_values: 9", "value: 61503"}) {  // 1.0 is 0x3ff0000000000000, reversed 0xf03f
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST_F(ProtocTest, KnowsEveryColumn) {
  RandomRows random(31);
  random.longest_text = 20;
  random.add_to_every_table(30);
  names_ = std::move(random.names);
  const std::string text = decoded(random.rows);
  for_each_table([&]<class Record>() {
    EXPECT_TRUE(text.find(std::string(TableOf<Record>::kName) + " {") != text.npos);
    for_each_field<Record>([&](const auto& field, uint32_t) {
      EXPECT_TRUE(text.find(std::string("  ") + field.name + ": ") != text.npos) << field.name;
    });
  });
  EXPECT_TRUE(text.find("latency_values: ") != text.npos);
  // What protoc does not know it shows by number.
  for (char digit = '1'; digit <= '9'; ++digit) {
    EXPECT_TRUE(text.find(std::string("\n  ") + digit) == text.npos) << digit;
    EXPECT_TRUE(text.find(std::string("\n") + digit) == text.npos) << digit;
  }
}

}  // namespace
}  // namespace fathom
