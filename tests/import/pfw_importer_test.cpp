// SPDX-License-Identifier: Apache-2.0
#include "import/pfw_importer.h"

#include <gtest/gtest.h>

#include "base/fd.h"
#include "base/gzip.h"
#include "base/text.h"
#include "support/memory_sink.h"
#include "support/temp_folder.h"

namespace fathom {
namespace {

struct Imported {
  Result<ImportCounts> counts;
  std::unique_ptr<Collected> tables;

  [[nodiscard]] const std::vector<Counter>& counters() const { return tables->rows.of<Counter>(); }
  [[nodiscard]] const std::vector<Span>& spans() const { return tables->rows.of<Span>(); }
  [[nodiscard]] std::string text(StringId id) const { return std::string(tables->text(id)); }
};

Imported import_text(const std::string& text, bool packed = false) {
  const TempFolder folder;
  const std::string path = folder / "a.pfw";
  if (packed) {
    auto file = create_gzip(path);
    EXPECT_TRUE(file.ok());
    EXPECT_EQ(std::fwrite(text.data(), 1, text.size(), file.value()), text.size());
    EXPECT_EQ(std::fclose(file.value()), 0);
  } else {
    EXPECT_TRUE(write_file(path, text).ok());
  }
  MemorySink sink;
  RecordStream out(sink);
  Imported imported{import_pfw(path, out), nullptr};
  out.flush();
  imported.tables = sink.collected();
  return imported;
}

// The seed's README.
constexpr const char* kFirst =
    "[\n"
    R"({"pid": 30545, "tid": 30546, "name": "__libc_malloc [libc.so.6]", "cat": "[libc.so.6]", "ph": "C", "ts": 0.0, "args": {"count": 21, "time": 0.000198116}})"
    "\n"
    R"({"pid": 30545, "tid": 30545, "name": "[unknown]", "cat": "unknown", "ph": "C", "ts": 24000000.0, "args": {"count": 1, "time": 1.3094e-05}})"
    "\n";

TEST(PfwImporter, ReadsTheFirstGeneration) {
  for (const bool packed : {false, true}) {
    const Imported got = import_text(kFirst, packed);
    ASSERT_TRUE(got.counts.ok()) << got.counts.error().message;
    EXPECT_EQ(got.counts.value().lines, 2);
    EXPECT_EQ(got.counts.value().skipped, 0);
    ASSERT_EQ(got.counters().size(), 2U);
    const Counter& first = got.counters()[0];
    EXPECT_EQ(got.text(first.name), "__libc_malloc");
    EXPECT_EQ(got.text(first.layer), "c");
    EXPECT_EQ(got.counts.value().range, std::pair(int64_t{0}, int64_t{24'000'013'094}));
    EXPECT_EQ(first.count, 21);
    EXPECT_EQ(first.time_ns, 198116);
    EXPECT_EQ(first.bytes, std::nullopt);
    const ThreadKey& who = got.tables->names.dictionary().threads[index_of(first.thread)];
    EXPECT_EQ(who.pid, 30545);
    EXPECT_EQ(who.tid, 30546);
    EXPECT_EQ(got.text(got.counters()[1].name), "[unknown]");
    EXPECT_EQ(got.counters()[1].slice_ns, 24'000'000'000);
  }
}

TEST(PfwImporter, OnlyOurOwnNamesInBracketsBecomeLayers) {
  const auto layer_of = [](const std::string& category) {
    const Imported got = import_text(
        "[\n{\"pid\": 1, \"tid\": 1, \"name\": \"read " + category + "\", \"cat\": \"" + category +
        "\", \"ph\": \"C\", \"ts\": 0, \"args\": {\"count\": 1, \"time\": 0.25}}\n");
    EXPECT_EQ(got.counts.value().range, std::pair(int64_t{0}, int64_t{250'000'000}))
        << "one slice lasted as long as its calls";
    return got.text(got.counters().at(0).layer);
  };
  EXPECT_EQ(layer_of("[libc.so.6]"), "c");
  EXPECT_EQ(layer_of("[sys]"), "sys");
  EXPECT_EQ(layer_of("[ext4]"), "ext4");
  EXPECT_EQ(layer_of("[libhdf5.so]"), "[libhdf5.so]");
  EXPECT_EQ(layer_of("[]"), "[]");
  EXPECT_EQ(layer_of("POSIX"), "POSIX");
}

TEST(PfwImporter, ReadsSizesFilesAndHostCounters) {
  const Imported got = import_text(
      "[\n"
      R"({"pid": 7, "tid": 8, "name": "read", "cat": "sys", "ph": "C", "ts": 1000, "args": {"freq": 3, "time": 0.5, "size_sum": 12297, "fname": "/a b", "hostname": "h"}})"
      "\n"
      R"({"pid": 7, "tid": 8, "name": "open", "cat": "sys", "ph": "C", "ts": 1000, "args": {"freq": 1, "time": 0.5, "size_sum": null, "fname": null, "hostname": "h"}})"
      "\n"
      R"({"pid": 7, "tid": 8, "name": "write", "cat": "vfs", "ph": "C", "ts": 1000, "args": {"freq": 1, "time": 0.5, "size_sum": 18446744073709551607, "fname": null}})"
      "\n"
      R"({"pid": 0, "tid": 0, "name": "cpu", "cat": "CPU", "ph": "C", "ts": 1000, "args": {"user": 7.5, "hostname": "h"}})"
      "\n]\n");
  ASSERT_TRUE(got.counts.ok());
  EXPECT_EQ(got.counts.value().lines, 4);
  ASSERT_EQ(got.counters().size(), 3U);
  EXPECT_EQ(got.counters()[0].bytes, 12297);
  EXPECT_EQ(got.text(got.counters()[0].file), "/a b");
  EXPECT_EQ(got.text(got.counters()[0].layer), "sys");
  EXPECT_EQ(got.counters()[1].bytes, std::nullopt);
  EXPECT_EQ(got.counters()[2].bytes, std::nullopt) << "a return code taken for a size";
  const std::vector<Gauge>& gauges = got.tables->rows.of<Gauge>();
  ASSERT_EQ(gauges.size(), 1U);
  EXPECT_EQ(got.text(gauges[0].name), "cpu.user");
  EXPECT_EQ(gauges[0].value, 7.5);
}

TEST(PfwImporter, SeveralDisksAndHostsAreSeveralSeries) {
  const Imported got = import_text(
      "[\n"
      R"({"pid": 0, "tid": 0, "name": "disk", "cat": "Disk", "ph": "C", "ts": 1, "args": {"read": 5, "mount": "/", "hostname": "a"}})"
      "\n"
      R"({"pid": 0, "tid": 0, "name": "disk", "cat": "Disk", "ph": "C", "ts": 1, "args": {"read_total": 7, "mount": "/data", "hostname": "a"}})"
      "\n"
      R"({"name": "SH", "cat": "dftracer", "ph": "M", "args": {"value": "b", "hash": "ab12"}})"
      "\n"
      R"({"name": "free", "cat": "Memory", "ph": "C", "ts": 1, "args": {"value": 9, "unit": "bytes", "hhash": "ab12"}})"
      "\n]\n");
  const std::vector<Gauge>& gauges = got.tables->rows.of<Gauge>();
  ASSERT_EQ(gauges.size(), 3U);
  EXPECT_EQ(got.text(gauges[0].name), "disk.read{mount=/}");
  EXPECT_EQ(got.text(gauges[0].scope), "host");
  EXPECT_EQ(got.text(gauges[1].name), "disk.read{mount=/data}_total");
  EXPECT_EQ(gauges[1].value, 7);
  EXPECT_EQ(got.text(gauges[2].name), "free");
  EXPECT_EQ(got.text(gauges[2].scope), "host b");
  EXPECT_EQ(got.text(gauges[2].unit), "bytes");
}

TEST(PfwImporter, ReadsTracesWithHashes) {
  const Imported got = import_text(
      "[\n"
      R"({"id": 0, "name": "FH", "cat": "dftracer", "ph": "M", "pid": 1, "tid": 1, "args": {"name": "/old", "value": 340282366920938463463374607431768211455}})"
      "\n"
      R"({"name": "SH", "cat": "dftracer", "ph": "M", "args": {"value": "/new", "hash": "ab12"}},)"
      "\n"
      R"({"id": 1, "name": "read", "cat": "POSIX", "pid": 4, "tid": 5, "ts": 1700000000000500, "dur": 20, "ph": "X", "args": {"fhash": 340282366920938463463374607431768211455, "size_sum": 9}})"
      "\n"
      R"({"id": 2, "name": "read", "cat": "POSIX", "pid": 4, "tid": 5, "ts": 1700000000000600, "dur": 1, "ph": "X", "args": {"fhash": "ab12"}})"
      "\n]");
  ASSERT_TRUE(got.counts.ok());
  EXPECT_EQ(got.counts.value().skipped, 0);
  ASSERT_EQ(got.spans().size(), 2U);
  EXPECT_EQ(got.spans()[0].start_ns, 0) << "times since 1970 begin with the first";
  EXPECT_EQ(got.spans()[0].duration_ns, 20'000);
  EXPECT_EQ(got.spans()[0].bytes, 9);
  EXPECT_EQ(got.text(got.spans()[0].file), "/old");
  EXPECT_EQ(got.spans()[1].start_ns, 100'000);
  EXPECT_EQ(got.text(got.spans()[1].file), "/new");
  EXPECT_EQ(got.counts.value().range, std::pair(int64_t{0}, int64_t{101'000}));
}

TEST(PfwImporter, LeavesOutWhatMakesNoSense) {
  const Imported got = import_text(std::string(kFirst) +
                                   "{\"pid\": 1\nnot json\n{}\n[]\n{\"ph\": \"C\", \"args\": 7}\n"
                                   "{\"name\": \"x\", \"ph\": \"C\", \"ts\": 1, \"args\": {}}\n"
                                   "{\"name\": \"x\", \"ph\": \"X\", \"args\": {}}\n" +
                                   std::string((1 << 20) + 9, 'x') + "\n");
  ASSERT_TRUE(got.counts.ok());
  EXPECT_EQ(got.counts.value().lines, 2);
  EXPECT_EQ(got.counts.value().skipped, 8);
  EXPECT_FALSE(import_text("[\n").counts.ok());
  EXPECT_FALSE(import_text("").counts.ok());
}

TEST(PfwImporter, ATruncatedArchiveIsAnErrorThatSaysWhereItEnds) {
  const TempFolder folder;
  std::string text = kFirst;
  for (int i = 0; i < 40'000; ++i)
    text += "{\"pid\": " + std::to_string(i * 7919 % 10'007) +
            ", \"name\": \"x\", \"ph\": \"C\", \"ts\": 1, \"args\": {\"count\": 1}}\n";
  auto file = create_gzip(folder / "a.gz");
  ASSERT_TRUE(file.ok());
  std::fwrite(text.data(), 1, text.size(), file.value());
  std::fclose(file.value());
  const auto whole = read_file(folder / "a.gz");
  ASSERT_TRUE(write_file(folder / "b.gz", whole.value().substr(0, whole.value().size() / 2)).ok());
  MemorySink sink;
  RecordStream out(sink);
  const auto counts = import_pfw(folder / "b.gz", out);
  ASSERT_FALSE(counts.ok());
  EXPECT_EQ(counts.error().code, Code::kCorrupt);
  const std::string ends = "truncated: the gzip data ends after " +
                           format_count(whole.value().size() / 2) + " compressed bytes, in line ";
  EXPECT_NE(counts.error().message.find(ends), std::string::npos) << counts.error().message;
  EXPECT_NE(counts.error().hint.find("gzip -dc"), std::string::npos) << "the rest can be had";
}

TEST(PfwImporter, TellsItsFormat) {
  EXPECT_TRUE(looks_like_pfw(kFirst));
  EXPECT_TRUE(looks_like_pfw("[\n"));
  EXPECT_FALSE(looks_like_pfw("[1, 2]\n"));
  EXPECT_FALSE(looks_like_pfw("{\"ph\": 1}\n"));
  EXPECT_FALSE(looks_like_pfw("a;b 1\n"));
  EXPECT_FALSE(looks_like_pfw(""));
}

}  // namespace
}  // namespace fathom
