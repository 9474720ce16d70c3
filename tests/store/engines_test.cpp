// SPDX-License-Identifier: Apache-2.0
// What only one engine can do wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <condition_variable>
#include <mutex>

#include "store/redis.h"
#include "store/sqlite.h"
#include "store/store.h"
#include "support/redis_server.h"
#include "support/temp_folder.h"

namespace fathom {
namespace {

using testing::HasSubstr;

TEST(Stores, AnUnknownOneIsNamed) {
  const auto store = open_store("mongo://x");
  EXPECT_EQ(store.error().code, Code::kInvalid);
  EXPECT_THAT(store.error().hint, HasSubstr("sqlite, redis"));
}

TEST(SqliteStore, RefusesTheDataOfANewerHub) {
  const TempFolder folder;
  const std::string file = folder / "hub.sqlite";
  ASSERT_TRUE(open_store("sqlite:" + file).ok());
  ASSERT_TRUE(Sqlite::open(file).value().execute("PRAGMA user_version=99").ok());
  const auto store = open_store("sqlite:" + file);
  EXPECT_EQ(store.error().code, Code::kUnsupported);
  EXPECT_THAT(store.error().message, HasSubstr("version 99"));
}

TEST(SqliteStore, SaysWhatIsNoDatabase) {
  const TempFolder folder;
  std::system(("echo 'this is no database, whatever it is called' > " + (folder / "x")).c_str());
  EXPECT_FALSE(open_store("sqlite:" + (folder / "x")).ok());
  EXPECT_FALSE(open_store("sqlite:" + folder.path()).ok());
}

TEST(SqliteStore, IsNotReadyWhileTheDiskTakesNothing) {
  const TempFolder folder;
  const auto store = open_store("sqlite:" + (folder / "hub.sqlite")).value();
  EXPECT_TRUE(store->ready().ok());
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit none{1, before.rlim_max};
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &none);
  const bool ready = store->ready().ok();
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  EXPECT_FALSE(ready);
  EXPECT_TRUE(store->ready().ok());
}

TEST(RedisAddress, HasManyParts) {
  const auto address = RedisAddress::parse("redis://me:p%40ss:w@[::1]:7000/3").value();
  EXPECT_EQ(address.host, "::1");
  EXPECT_EQ(address.port, 7000);
  EXPECT_EQ(address.db, 3);
  EXPECT_EQ(address.user, "me");
  EXPECT_EQ(address.password, "p@ss:w");
  EXPECT_EQ(address.text().find("ss"), std::string::npos);
  EXPECT_EQ(RedisAddress::parse("redis://").value().port, 6379);
  for (const char* wrong : {"http://x", "redis://h:0", "redis://h:99999", "redis://h/x"})
    EXPECT_FALSE(RedisAddress::parse(wrong).ok()) << wrong;
}

class RedisEngine : public testing::Test {
 protected:
  void SetUp() override {
    if (!RedisServer::available()) GTEST_SKIP() << "redis-server is not installed";
  }
};

Change change_of(uint64_t from, int64_t delta) {
  Change change;
  change.job = 2001;
  change.runs = {{"r", "h", from, from + 1}};
  change.sums = {{sum_key("f", "p", "e"), delta}};
  return change;
}

TEST_F(RedisEngine, KeepsWhatWasAppliedOverAKillAndLoadsItsScriptAgain) {
  RedisServer server;
  auto store = open_store(server.url()).value();
  EXPECT_TRUE(store->warnings().empty());
  ASSERT_TRUE(store->create_job(2001, "", "{}").ok());
  for (uint64_t i = 0; i < 5; ++i) {
    const Change change = change_of(i, 2);
    ASSERT_TRUE(store->apply(std::span(&change, 1)).ok());
    server.stop(SIGKILL);
    EXPECT_EQ(store->apply(std::span(&change, 1)).error().code, Code::kIo);
    EXPECT_FALSE(store->ready().ok());
    server.start();
    // It may still be loading its data.
    while (!store->last_sequence(2001, "r").ok()) usleep(1000);
    EXPECT_EQ(store->last_sequence(2001, "r").value(), i + 1);
  }
  std::string from;
  int64_t sum = 0;
  do {
    const auto page = store->sums(2001, from).value();
    for (const SumRow& row : page.rows) sum += row.sum;
    from = page.next;
  } while (!from.empty());
  EXPECT_EQ(sum, 10);
}

TEST_F(RedisEngine, TheFirstReadAfterARestartWorksAndLossAndReturnAreToldOnce) {
  RedisServer server;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> told;
  auto store = open_store(server.url()).value();
  store->listen([](int64_t, const std::string&) {},
                [&](const Error* trouble) {
                  const std::lock_guard lock(mutex);
                  told.push_back(trouble != nullptr ? trouble->message : "back");
                  changed.notify_all();
                });
  const auto wait_for = [&](size_t count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return told.size() >= count; });
  };
  ASSERT_TRUE(store->create_job(2001, "", "{}").ok());
  server.stop(SIGKILL);
  wait_for(1);
  server.start();
  wait_for(2);  // before, it may still be loading its data
  EXPECT_EQ(store->jobs().value().size(), 1U);
  server.stop(SIGTERM);
  wait_for(3);
  server.start();
  wait_for(4);
  EXPECT_TRUE(store->create_job(2002, "", "{}").ok());
  EXPECT_EQ(told.size(), 4U);
  EXPECT_THAT(told[0], HasSubstr("redis://127.0.0.1"));
  EXPECT_EQ(told[1], "back");
  EXPECT_EQ(told[3], "back");
}

TEST_F(RedisEngine, OutOfMemoryAppliesNothing) {
  RedisServer server({"--maxmemory", "2mb", "--maxmemory-policy", "noeviction"});
  auto store = open_store(server.url()).value();
  ASSERT_TRUE(store->create_job(2001, "", "{}").ok());
  uint64_t applied = 0;
  Code code = Code::kInternal;
  for (; applied < 10'000; ++applied) {
    Change change = change_of(applied, 1);
    for (int i = 0; i < 100; ++i)
      change.sums.push_back(
          {sum_key(std::to_string(applied) + "f" + std::to_string(i), "p", "e"), 1});
    const auto answer = store->apply(std::span(&change, 1));
    if (!answer.ok()) {
      code = answer.error().code;
      break;
    }
  }
  EXPECT_EQ(code, Code::kNoSpace);
  // At the limit a small write may find room that a buffer gave back; below it none does.
  Redis redis(RedisAddress::parse(server.url()).value());
  ASSERT_TRUE(redis.command({"CONFIG", "SET", "maxmemory", "1"}).ok());
  EXPECT_EQ(store->ready().error().code, Code::kNoSpace);
  ASSERT_TRUE(redis.command({"CONFIG", "SET", "maxmemory", "0"}).ok());
  EXPECT_TRUE(store->ready().ok());
  EXPECT_EQ(store->last_sequence(2001, "r").value(), applied);
}

TEST_F(RedisEngine, PasswordsOfAclUsersAndWarnings) {
  RedisServer server({"--requirepass", "secret", "--appendfsync", "everysec"});
  const std::string port = std::to_string(server.port());
  EXPECT_EQ(open_store("redis://127.0.0.1:" + port).error().code, Code::kPermission);
  const auto wrong = open_store("redis://:wrong@127.0.0.1:" + port);
  EXPECT_EQ(wrong.error().message.find("wrong@"), std::string::npos);
  const auto store = open_store("redis://:secret@127.0.0.1:" + port);
  ASSERT_TRUE(store.ok());
  EXPECT_THAT(store.value()->warnings(), testing::ElementsAre(HasSubstr("appendfsync everysec")));
  Redis redis(RedisAddress::parse("redis://:secret@127.0.0.1:" + port).value());
  ASSERT_TRUE(redis.command({"ACL", "SETUSER", "hub", "on", ">pw", "~*", "+@all"}).ok());
  EXPECT_TRUE(open_store("redis://hub:pw@127.0.0.1:" + port).ok());
}

}  // namespace
}  // namespace fathom
