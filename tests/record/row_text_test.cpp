// SPDX-License-Identifier: Apache-2.0
#include "record/row_text.h"

#include "base/fd.h"
#include "base/subprocess.h"
#include "record/random_rows.h"
#include "record/sample_recording.h"

namespace fathom {
namespace {

class RowTextTest : public testing::Test {
 protected:
  // What python prints for `script` with the path of `text` as its argument.
  std::string python(const std::string& script, const std::string& text) {
    const std::string path = scratch_.path() + "/text";
    EXPECT_TRUE(write_file(path, text).ok());
    const auto finished = run_to_end({"python3", "-c", script, path});
    EXPECT_TRUE(finished.ok());
    return finished.value().output;
  }

  ScratchFolder scratch_;
};

TEST_F(RowTextTest, JsonOfEveryRecordIsValid) {
  RandomRows random(41);
  random.longest_text = 50;
  random.add_to_every_table(50);
  RowText text(random.names.dictionary(), random.rows);
  std::string lines;
  for_each_table([&]<class Record>() {
    for (const Record& record : random.rows.of<Record>()) lines += text.json(record) + "\n";
  });
  const char* script = R"(
import json, sys
def refuse(name): raise ValueError(name)
lines = [line for line in open(sys.argv[1], encoding='utf-8', newline='\n')]
for line in lines: assert isinstance(json.loads(line, parse_constant=refuse), dict)
print(len(lines))
)";
  EXPECT_EQ(python(script, lines), std::to_string(50 * kTableCount) + "\n");
}

TEST_F(RowTextTest, JsonSaysWhatTheRecordSays) {
  Interner names;
  Rows rows;
  rows.buckets = {1, 0, 2};
  Counter counter;
  counter.slice_ns = 9;
  counter.thread = names.thread(3, 4);
  counter.name = names.string("a \"b\"\n");
  counter.bytes = 0;
  counter.latency = {0, 3};
  counter.detail = names.detail(std::vector<DetailItem>{{names.string("k"), 1.5}});
  RowText text(names.dictionary(), rows);
  EXPECT_EQ(text.json(counter),
            R"({"slice_ns":9,"slice_length_ns":0,"pid":3,"tid":4,"layer":null,"name":"a \"b\"\n",)"
            R"("file":null,"count":0,"time_ns":null,"self_time_ns":null,"bytes":0,"errors":null,)"
            R"("latency":[1,0,2],"detail":{"k":1.5}})");
  EXPECT_EQ(text.json(Mark{1, {}}, "  "), "{\n    \"time_ns\": 1,\n    \"text\": null\n  }");
}

TEST_F(RowTextTest, CsvHasTheColumnsOfItsHeader) {
  RandomRows random(42);
  random.longest_text = 50;
  random.add_to_every_table(50);
  RowText text(random.names.dictionary(), random.rows);
  for_each_table([&]<class Record>() {
    std::string csv = RowText::csv_header<Record>();
    for (const Record& record : random.rows.of<Record>()) csv += text.csv(record);
    // Python's reader refuses NUL, which a cell may hold.
    std::replace(csv.begin(), csv.end(), '\0', '?');
    const char* script = R"(
import csv, sys
rows = list(csv.reader(open(sys.argv[1], encoding='latin-1', newline='')))
assert all(len(row) == len(rows[0]) for row in rows), [len(row) for row in rows]
print(len(rows))
)";
    EXPECT_EQ(python(script, csv), "51\n") << TableOf<Record>::kName;
  });
}

TEST_F(RowTextTest, CsvTellsAbsentFromZero) {
  Interner names;
  Rows rows;
  Thread thread;
  thread.pid = 1;
  thread.name = names.string("x,\"y\"");
  thread.end_ns = 0;
  EXPECT_EQ(RowText::csv_header<Thread>(),
            "pid,tid,name,start_ns,end_ns,user_ns,system_ns,cpu_ns\n");
  EXPECT_EQ(RowText(names.dictionary(), rows).csv(thread), "1,0,\"x,\"\"y\"\"\",0,0,,,\n");
}

}  // namespace
}  // namespace fathom
