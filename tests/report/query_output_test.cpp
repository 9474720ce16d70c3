// SPDX-License-Identifier: Apache-2.0
#include "report/query_output.h"

#include <gtest/gtest.h>

#include "record/sample_recording.h"
#include "record/sql.h"
#include "report/named_queries.h"

namespace fathom {
namespace {

class QueryTest : public testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT_DUCKDB(); }

  // A run with two processes, a gauge over two seconds, counters, a span and a sample.
  std::string make(const std::string& name) {
    Interner names;
    std::vector<Rows> frames(1);
    Rows& rows = frames[0];
    fathom::Run run;
    run.id = names.string("id-of-" + name);
    run.label = names.string(name);
    run.start_ns = 1'000'000'000;
    run.end_ns = 3'000'000'000;
    run.user_ns = 1'500'000'000;
    run.system_ns = 500'000'000;
    rows.of<fathom::Run>().push_back(run);
    for (int64_t i = 0; i < 2; ++i) {
      Process process;
      process.pid = 100 + i;
      process.ppid = i == 0 ? 1 : 100;
      process.name = names.string(i == 0 ? "sh" : "a,\"b\"");
      process.start_ns = 1'000'000'000 + i;
      process.end_ns = 2'500'000'000;
      process.exit_status = i;
      process.user_ns = 1000 * (i + 1);
      process.system_ns = 0;
      process.peak_rss_bytes = 4096;
      rows.of<Process>().push_back(process);
    }
    for (int64_t i = 0; i < 4; ++i) {
      rows.of<Gauge>().push_back({1'000'000'000 + i * 500'000'000, names.string("tree"),
                                  names.string("cpu_total"), names.string("ns"),
                                  static_cast<double>(i * 100)});
    }
    add_calls(names, rows);
    write_journal(root_.path() + "/" + name + ".fathom", names, frames);
    return root_.path() + "/" + name + ".fathom";
  }

  static void add_calls(Interner& names, Rows& rows) {
    Counter counter;
    counter.slice_ns = 1'000'000'000;
    counter.slice_length_ns = 1'000'000'000;
    counter.thread = names.thread(100, 100);
    counter.layer = names.string("sys");
    counter.name = names.string("write");
    counter.file = names.string("/tmp/out");
    counter.count = 23;
    counter.bytes = 23 * 4099;
    counter.time_ns = 4600;
    counter.latency = {0, 3};
    rows.buckets = {0, 0, 23};
    rows.of<Counter>().push_back(counter);
    Sample sample;
    sample.time_ns = 1'200'000'000;
    sample.stack = names.stack(
        StackId::kNone, names.frame({names.string("main"), {}, {}, {}, 7, FrameKind::kNative}));
    sample.event = names.string("cpu-clock");
    rows.of<Sample>().push_back(sample);
  }

  static void convert(const std::string& folder) {
    const Status converted = convert_journal(Recording::open(folder).value());
    ASSERT_TRUE(converted.ok()) << converted.error().message;
  }

  static std::unique_ptr<SqlSession> open(const std::vector<std::string>& folders) {
    std::vector<Recording> recordings;
    recordings.reserve(folders.size());
    for (const std::string& folder : folders) recordings.push_back(Recording::open(folder).value());
    auto session = open_query_session(std::move(recordings));
    EXPECT_TRUE(session.ok()) << session.error().message;
    return std::move(session).value();
  }

  enum class As { kTable, kCsv, kJson };
  static std::string ask(SqlSession& session, const std::string& sql, As form, size_t columns = 0) {
    auto rows = session.query(sql);
    if (!rows.ok()) return "error: " + rows.error().message;
    std::string out;
    const WriteText write = [&](std::string_view text) {
      out += text;
      return Status();
    };
    const Status written = form == As::kCsv    ? write_csv(rows.value(), write)
                           : form == As::kJson ? write_json(rows.value(), write)
                                               : write_table(rows.value(), {columns, false}, write);
    EXPECT_TRUE(written.ok()) << written.error().message;
    return out;
  }

  ScratchFolder root_;
};

constexpr const char* kOddValues =
    "SELECT 9223372036854775807 AS big, sum(9223372036854775807) AS huge, -0.05::DECIMAL(4,2) AS "
    "d, 'nan'::DOUBLE AS n, "
    "0.1 + 0.2::DOUBLE AS r, NULL AS nothing, ['a', NULL, 'b\"'] AS list, true AS yes, 'x,\ny' AS "
    "text, "
    "DATE '2024-02-29' AS day, 18446744073709551615::UBIGINT AS u FROM range(2)";

TEST_F(QueryTest, CsvOfOddValues) {
  const auto session = open({make("a")});
  EXPECT_EQ(ask(*session, kOddValues, As::kCsv),
            "big,huge,d,n,r,nothing,list,yes,text,day,u\n"
            "9223372036854775807,18446744073709551614,-0.05,nan,0.30000000000000004,,\"[a, , "
            "b\"\"]\",true,\"x,\ny\","
            "2024-02-29,18446744073709551615\n");
}

TEST_F(QueryTest, JsonOfOddValues) {
  const auto session = open({make("a")});
  EXPECT_EQ(
      ask(*session, kOddValues, As::kJson),
      "[\n{\"big\":9223372036854775807,\"huge\":18446744073709551614,\"d\":-0.05,\"n\":null,"
      "\"r\":0.30000000000000004,\"nothing\":null,\"list\":[\"a\",null,\"b\\\"\"],\"yes\":true,"
      "\"text\":\"x,\\ny\",\"day\":\"2024-02-29\",\"u\":18446744073709551615}\n]\n");
  EXPECT_EQ(ask(*session, "SELECT 1 AS a WHERE false", As::kJson), "[]\n");
}

TEST_F(QueryTest, TableFitsTheTerminal) {
  const auto session = open({make("a")});
  const std::string sql =
      "SELECT 12 AS n, repeat('x', 100) AS text UNION ALL SELECT 1234, 'short' ORDER BY n";
  EXPECT_EQ(ask(*session, sql, As::kTable, 20),
            "   n  text\n"
            "  12  xxxxxxx…xxxxxx\n"
            "1234  short\n");
}

TEST_F(QueryTest, JournalAndTablesAnswerTheSame) {
  const std::string folder = make("a");
  const char* sql = "SELECT label, run, pid, layer, name, file, bytes, latency FROM counters";
  const std::string expected =
      "label,run,pid,layer,name,file,bytes,latency\n"
      "a,id-of-a,100,sys,write,/tmp/out,94277,\"[0, 0, 23]\"\n";
  EXPECT_EQ(ask(*open({folder}), sql, As::kCsv), expected);
  const std::string count = "SELECT count(*) AS c FROM processes";
  EXPECT_EQ(ask(*open({folder}), count, As::kCsv), "c\n2\n");
  convert(folder);
  EXPECT_EQ(ask(*open({folder}), sql, As::kCsv), expected);
  EXPECT_EQ(ask(*open({folder}), count, As::kCsv), "c\n2\n");
}

TEST_F(QueryTest, SeveralRecordingsInBothFormsStandInOneTable) {
  const std::string journal = make("a");
  const std::string tables = make("b");
  convert(tables);
  const auto session = open({journal, tables});
  EXPECT_EQ(ask(*session,
                "SELECT label, count(*) AS n, sum(user_ns) AS ns FROM processes GROUP BY ALL ORDER "
                "BY ALL",
                As::kCsv),
            "label,n,ns\na,2,3000\nb,2,3000\n");
  EXPECT_EQ(ask(*session,
                "SELECT label, symbol, line, depth FROM samples JOIN stacks s USING (run, label) "
                "WHERE s.id = samples.stack ORDER BY ALL",
                As::kCsv),
            "label,symbol,line,depth\na,main,7,1\nb,main,7,1\n");
  EXPECT_EQ(ask(*session, "SELECT count(*) AS n FROM spans", As::kCsv), "n\n0\n");
}

TEST_F(QueryTest, EveryNamedQueryAnswersInBothForms) {
  const std::string folder = make("a");
  std::vector<std::string> answers;
  for (const NamedQuery& query : named_queries()) {
    answers.push_back(ask(*open({folder}), query.sql, As::kCsv));
    EXPECT_FALSE(answers.back().starts_with("error")) << query.name << ": " << answers.back();
  }
  convert(folder);
  for (size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(ask(*open({folder}), named_queries()[i].sql, As::kCsv), answers[i])
        << named_queries()[i].name;
  }
}

TEST_F(QueryTest, NamedQueriesCountRight) {
  const auto session = open({make("a")});
  const auto named = [&](const char* name) {
    return ask(*session, find_named_query(name)->sql, As::kCsv);
  };
  EXPECT_EQ(named("calls"),
            "label,layer,name,calls,time_ms,self_ms,mean_ns,bytes,errors\na,sys,write,23,0.005,,"
            "200,94277,\n");
  EXPECT_EQ(named("latencies"),
            "label,layer,name,calls,p50_ns,p95_ns,p99_ns,max_ns,bound\n"
            "a,sys,write,23,7,7,7,7,at most\n");
  EXPECT_EQ(named("calls-by-thread"),
            "label,layer,pid,process,tid,thread,calls,time_ms,bytes,errors\n"
            "a,sys,100,sh,100,,23,0.005,94277,\n");
  EXPECT_EQ(named("bandwidth"),
            "label,at_s,layer,name,calls,bytes,mb_per_s\na,0,sys,write,23,94277,0.094\n");
  EXPECT_EQ(named("exits"),
            "label,pid,name,exit_status,exit_signal,at_s,args\na,101,\"a,\"\"b\"\"\",1,,1.5,\n");
  EXPECT_EQ(named("gauges-by-second"),
            "label,second,scope,name,unit,value\n"
            "a,0,tree,cpu_total,ns/s,\na,1,tree,cpu_total,ns/s,200\n");
  EXPECT_NE(named("process-tree").find("\na,\"  a,\"\"b\"\"\",101,"), std::string::npos)
      << named("process-tree");
  EXPECT_NE(named("hot-functions").find("main,,native,1,1,100"), std::string::npos)
      << named("hot-functions");
  EXPECT_NE(named("hot-modules").find(",1,1,100"), std::string::npos) << named("hot-modules");
}

// The same questions to traced calls, beside a counter of the same function.
TEST_F(QueryTest, TracedCallsAreAskedLikeCountedOnes) {
  Interner names;
  std::vector<Rows> frames(1);
  fathom::Run run;
  run.id = names.string("id");
  run.label = names.string("t");
  run.start_ns = 1'000'000'000;
  frames[0].of<fathom::Run>().push_back(run);
  add_calls(names, frames[0]);
  for (int64_t i = 0; i < 100; ++i) {
    Span span;
    span.start_ns = 1'990'000'000 + i * 1'000'000;
    span.duration_ns = 100 + i;
    span.thread = names.thread(100, 101);
    span.layer = names.string("c");
    span.name = names.string(i == 0 ? "open" : "read");
    if (i > 0) span.bytes = 10;
    span.result = i == 0 ? -2 : 10;
    frames[0].of<Span>().push_back(span);
  }
  write_journal(root_.path() + "/t.fathom", names, frames);
  const auto session = open({root_.path() + "/t.fathom"});
  EXPECT_EQ(ask(*session, find_named_query("latencies")->sql, As::kCsv),
            "label,layer,name,calls,p50_ns,p95_ns,p99_ns,max_ns,bound\n"
            "t,c,read,99,150,195,199,199,exact\n"
            "t,c,open,1,100,100,100,100,exact\n"
            "t,sys,write,23,7,7,7,7,at most\n");
  EXPECT_EQ(ask(*session, find_named_query("calls-by-thread")->sql, As::kCsv),
            "label,layer,pid,process,tid,thread,calls,time_ms,bytes,errors\n"
            "t,c,100,,101,,100,0.015,990,1\n"
            "t,sys,100,,100,,23,0.005,94277,\n");
  EXPECT_EQ(ask(*session, find_named_query("bandwidth")->sql, As::kCsv),
            "label,at_s,layer,name,calls,bytes,mb_per_s\n"
            "t,0,sys,write,23,94277,0.094\n"
            "t,0,c,read,9,90,0\n"
            "t,1,c,read,90,900,0.001\n");
}

// A run that starts at 1 s and is looked at half-way through every second, and once before it
// starts.
TEST_F(QueryTest, TheTimelineIsARowASecond) {
  Interner names;
  std::vector<Rows> frames(1);
  fathom::Run run;
  run.id = names.string("id");
  run.label = names.string("t");
  run.start_ns = 1'000'000'000;
  frames[0].of<fathom::Run>().push_back(run);
  const auto look = [&](int64_t time_ns, const char* name, double value) {
    frames[0].of<Gauge>().push_back(
        {time_ns, names.string("tree"), names.string(name), names.string("unit"), value});
  };
  for (const char* name : {"cpu_user_total", "cpu_system_total", "written_chars_total"})
    look(999'000'000, name, 0);
  look(1'500'000'000, "cpu_user_total", 300e6);
  look(1'500'000'000, "cpu_system_total", 100e6);
  look(1'500'000'000, "rss", 2e6);
  look(1'600'000'000, "rss", 1e6);
  look(1'500'000'000, "processes", 3);
  look(2'500'000'000, "cpu_user_total", 1300e6);
  look(2'500'000'000, "cpu_system_total", 600e6);
  look(2'500'000'000, "written_chars_total", 3e6);
  write_journal(root_.path() + "/t.fathom", names, frames);
  const auto session = open({root_.path() + "/t.fathom"});
  EXPECT_EQ(ask(*session, find_named_query("timeline")->sql, As::kCsv),
            "label,second,cpu_cores,rss_mb,processes,read_mb_per_s,written_mb_per_s\n"
            "t,0,0.8,2,3,,\n"
            "t,1,1.5,,,,1.999\n");
}

TEST_F(QueryTest, ErrorsSayWhatWasMeant) {
  const auto session = open({make("a")});
  EXPECT_NE(ask(*session, "SELECT * FROM spanz", As::kCsv).find("Did you mean \"spans\"?"),
            std::string::npos);
  EXPECT_NE(ask(*session, "SELECT nam FROM spans", As::kCsv).find("\"name\""), std::string::npos);
  EXPECT_TRUE(ask(*session, "", As::kCsv).starts_with("error"));
  EXPECT_EQ(ask(*session, "SELECT * FROM fathom_journal(7, 0)", As::kCsv),
            "error: Binder Error: there is no such journal or table");
}

TEST_F(QueryTest, NothingElseCanBeReadOrWritten) {
  const std::string folder = make("a");
  convert(folder);
  const auto session = open({folder});
  for (const std::string& sql :
       {std::string("SELECT * FROM read_csv('/etc/passwd')"),
        std::string("SELECT * FROM read_text('/etc/hostname')"),
        "COPY runs TO '" + folder + "/runs.parquet'", "COPY runs TO '" + folder + "/other.csv'",
        std::string("SET enable_external_access = true"), "ATTACH '" + folder + "/x.db'",
        std::string("INSTALL httpfs"), std::string("LOAD httpfs")}) {
    EXPECT_TRUE(ask(*session, sql, As::kCsv).starts_with("error")) << sql;
  }
  EXPECT_EQ(ask(*session, "SELECT count(*) AS n FROM runs", As::kCsv), "n\n1\n");
}

}  // namespace
}  // namespace fathom
