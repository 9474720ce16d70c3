// SPDX-License-Identifier: Apache-2.0
#include "report/call_sites.h"

#include <gtest/gtest.h>

#include "base/duckdb_api.h"
#include "record/tables.h"
#include "report/io_profile.h"
#include "report/made_calls.h"

namespace fathom {
namespace {

// "place < caller: name calls bytes time", the longest first.
std::vector<std::string> sites_of(const Recording& recording, const ProfileFilter& filter = {}) {
  std::vector<std::string> found;
  const IoProfile profile = load_io_profile(recording, filter).value();
  for (const CallSite& site : profile.sites)
    found.push_back(site.place + " < " + site.caller + ": " + site.name + " " +
                    std::to_string(site.figures.calls) + " " +
                    std::to_string(site.figures.bytes.value_or(-1)) + " " +
                    std::to_string(site.figures.time_ns.value_or(-1)));
  return found;
}

class CallSites : public testing::Test {
 protected:
  void SetUp() override { made_.io_probe(0, {}, "trace, stacks"); }

  void call(const std::string& name, std::vector<std::string> stack, int64_t time_ns,
            Maybe bytes = {}, const std::string& layer = "sys", int64_t tid = 1) {
    made_.span({.name = name,
                .at_ns = at_ns_,
                .time_ns = time_ns,
                .bytes = bytes,
                .layer = layer,
                .tid = tid,
                .stack = std::move(stack)});
    at_ns_ += 1000;
  }

  MadeCalls made_;

 private:
  int64_t at_ns_ = 1000;
};

TEST_F(CallSites, AreTheProgramsOwnFunctionsWithTheirCallers) {
  call("read", {"_start", "main@app", "load@app", "read@/lib/libc.so.6"}, 5, 100);
  call("read", {"_start", "main@app", "load@app", "fread@/lib/libc.so.6", "read@/lib/libc.so.6"}, 7,
       20);
  call("read", {"_start", "main@app", "again@app", "load@app", "read@/lib/libc.so.6"}, 3, 1);
  call("write", {"_start", "main@app", "load@app", "write@/lib/libc.so.6", "vfs_write_[k]"}, 100,
       2);
  EXPECT_EQ(sites_of(made_.finish()),
            (std::vector<std::string>{"load < main: write 1 2 100", "load < main: read 2 120 12",
                                      "load < again: read 1 1 3"}));
}

TEST_F(CallSites, WhoCallsItselfHasACallerBeyond) {
  call("read", {"main@app", "walk@app", "walk@app", "walk@app", "read@libc.so.6"}, 5);
  call("read", {"walk@app", "walk@app", "read@libc.so.6"}, 4);
  EXPECT_EQ(sites_of(made_.finish()),
            (std::vector<std::string>{"walk < main: read 1 -1 5", "walk < : read 1 -1 4"}));
}

TEST_F(CallSites, AStackOfLibrariesAloneHasItsInnermostFunction) {
  call("openat", {"_dl_start@/lib64/ld-linux-x86-64.so.2", "open_path@/lib64/ld-linux-x86-64.so.2"},
       5);
  call("read", {"@/opt/libx.so", "@/lib/libc.so.6"}, 4);
  call("fsync", {"do_syscall_64_[k]"}, 3);
  EXPECT_EQ(
      sites_of(made_.finish()),
      (std::vector<std::string>{"open_path < _dl_start: openat 1 -1 5", "[libx.so] < : read 1 -1 4",
                                "do_syscall_64 < : fsync 1 -1 3"}));
}

TEST_F(CallSites, WaitingAndOtherLayersAndThreadsAreLeftOut) {
  call("read", {"main@app"}, 5);
  call("poll", {"main@app"}, 500);
  call("dirty", {"main@app"}, 50, {}, "os_cache");
  call("read", {"main@app"}, 70, {}, "sys", 2);
  call("read", {}, 90);
  const Recording recording = made_.finish();
  EXPECT_EQ(sites_of(recording), (std::vector<std::string>{"main < : read 2 -1 75"}));
  ProfileFilter filter;
  filter.thread = "1";
  EXPECT_EQ(sites_of(recording, filter), (std::vector<std::string>{"main < : read 1 -1 5"}));
  filter = {};
  filter.to_ns = 2000;
  EXPECT_EQ(sites_of(recording, filter), (std::vector<std::string>{"main < : read 1 -1 5"}));
}

TEST_F(CallSites, JournalAndTablesSayTheSame) {
  if (const auto api = duck_api(); !api.ok()) GTEST_SKIP() << api.error().message;
  call("read", {"main@app|app.c:12", "read@libc.so.6"}, 5, 7);
  call("write", {"main@app|app.c:14", "write@libc.so.6"}, 6, 8);
  const Recording journal = made_.finish();
  const std::vector<std::string> found = sites_of(journal);
  EXPECT_EQ(found, (std::vector<std::string>{"main (app.c:14) < : write 1 8 6",
                                             "main (app.c:12) < : read 1 7 5"}));
  ASSERT_TRUE(convert_journal(journal).ok());
  EXPECT_EQ(sites_of(Recording::open(made_.path()).value()), found);
}

}  // namespace
}  // namespace fathom
