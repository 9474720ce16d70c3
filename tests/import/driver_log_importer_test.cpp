// SPDX-License-Identifier: Apache-2.0
#include "import/driver_log_importer.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/fd.h"
#include "support/memory_sink.h"
#include "support/temp_folder.h"

namespace fathom {
namespace {

struct Read {
  Result<ImportCounts> counts = ImportCounts{};
  std::unique_ptr<Collected> rows;
};

Read read_text(const std::string& text) {
  const TempFolder folder;
  const std::string path = folder / "a.log";
  EXPECT_TRUE(write_file(path, text).ok());
  MemorySink sink;
  RecordStream out(sink);
  Read read;
  read.counts = import_driver_log(path, out);
  out.flush();
  read.rows = sink.collected();
  return read;
}

TEST(DriverLogImporter, CallsAndSumsAreKnownByTheirShape) {
  const Read read = read_text(
      "name:mem_used,count:421527552\n"
      "name:cuLaunchKernel,count:537826,burst:4159812\r\n"
      "name:cuInit, start:1662678141402204280, burst:4270333, bytes:0\n"
      "name:cuMemcpyH2D, start:1662678179542395214, burst:18, bytes:112\n"
      "name:cuMemcpy, start:1662678179542395214, burst:1, bytes:7, kind:3\n"
      "name:cuMemcpy, start:1662678179542395214, burst:1, bytes:7, kind:-1\n\n");
  ASSERT_TRUE(read.counts.ok());
  EXPECT_EQ(read.counts.value().lines, 6);
  EXPECT_EQ(read.counts.value().skipped, 0);
  const Rows& rows = read.rows->rows;
  ASSERT_EQ(rows.of<Gauge>().size(), 1U);
  EXPECT_EQ(rows.of<Gauge>()[0].value, 421527552);
  ASSERT_EQ(rows.of<Counter>().size(), 1U);
  EXPECT_EQ(rows.of<Counter>()[0].count, 537826);
  EXPECT_EQ(rows.of<Counter>()[0].time_ns, 4159812000);
  const std::vector<Span>& spans = rows.of<Span>();
  ASSERT_EQ(spans.size(), 4U);
  EXPECT_EQ(spans[0].duration_ns, 4270333000);
  EXPECT_NEAR(static_cast<double>(spans[0].start_ns + real_offset_ns()), 1662678141402204280.0,
              1e9);
  EXPECT_EQ(spans[1].bytes, 112);
  EXPECT_EQ(read.rows->text(spans[1].file), "host to device");
  EXPECT_EQ(read.rows->text(spans[2].file), "device to device");
  EXPECT_EQ(read.rows->text(spans[3].file), "copy");
}

TEST(DriverLogImporter, WhatMakesNoSenseIsLeftOut) {
  for (const char* line :
       {"name:", "name:f", "name:f,count:-1", "name:f,count:1,count:1", "name:f,count:1x",
        "count:1,name:f", "name:f, start:1", "name:f, start:99999999999999999999, burst:1",
        "name:f,count:1,start:2,burst:3", "name:f,size:1", "<script>", "name:f, start:1, burst:-2",
        "name,count:1", ",,,", "name:f,count:", "name:f,count:1,name:g"}) {
    const Read read = read_text(std::string("name:cuInit,count:1,burst:2\n") + line + "\n");
    ASSERT_TRUE(read.counts.ok()) << line;
    EXPECT_EQ(read.counts.value().lines, 1) << line;
    EXPECT_EQ(read.counts.value().skipped, 1) << line;
  }
  EXPECT_FALSE(read_text("hello\n").counts.ok());
  EXPECT_FALSE(read_text("").counts.ok());
}

TEST(DriverLogImporter, NamesArePrintableAndTimesBounded) {
  const Read read = read_text(
      "name:cu\x1b[31m\xff, start:9223372036854775807, burst:9223372036854775807, bytes:1\n");
  ASSERT_TRUE(read.counts.ok());
  const Span& span = read.rows->rows.of<Span>().at(0);
  EXPECT_EQ(span.duration_ns, INT64_MAX);
  EXPECT_EQ(read.rows->text(span.name).find('\x1b'), std::string_view::npos);
}

TEST(DriverLogImporter, TellsItsFormat) {
  EXPECT_TRUE(looks_like_driver_log("name:mem_used,count:0\n"));
  EXPECT_TRUE(looks_like_driver_log("name:cuInit, start:1, burst:2, bytes:0\n"));
  EXPECT_FALSE(looks_like_driver_log("a;b 1\n"));
  EXPECT_FALSE(looks_like_driver_log(""));
}

}  // namespace
}  // namespace fathom
