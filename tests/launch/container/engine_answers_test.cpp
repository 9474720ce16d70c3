// SPDX-License-Identifier: Apache-2.0
#include "launch/container/engine_answers.h"

#include <gtest/gtest.h>

#include "base/simdjson.h"

namespace fathom {
namespace {

class EngineAnswers : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(load_simdjson().ok());  // tools/setup installs it
  }
};

TEST_F(EngineAnswers, Versions) {
  const auto docker =
      parse_engine_version(R"({"Version":"20.10.24","ApiVersion":"1.41","MinAPIVersion":"1.12"})");
  ASSERT_TRUE(docker.ok());
  EXPECT_EQ(docker.value().name, "Docker 20.10.24");
  EXPECT_EQ(docker.value().api, "1.41");
  const auto podman = parse_engine_version(
      R"({"Components":[{"Name":"Podman Engine","Version":"4.3.1"}],"ApiVersion":"1.41","Version":"4.3.1"})");
  EXPECT_EQ(podman.value().name, "Podman Engine 4.3.1");
}

TEST_F(EngineAnswers, Images) {
  const auto image = parse_engine_image(
      R"({"Id":"sha256:1","RepoDigests":[],"Config":{"Entrypoint":["/a","b"],"Cmd":null,"Env":["PATH=/bin"],"User":"7"}})");
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(image.value().digest, "sha256:1");
  EXPECT_EQ(image.value().entrypoint, (std::vector<std::string>{"/a", "b"}));
  EXPECT_TRUE(image.value().command.empty());
  EXPECT_EQ(image.value().user, "7");
}

TEST_F(EngineAnswers, Containers) {
  const auto one = parse_engine_container(
      R"({"Id":"abc","Name":"/n","State":{"Running":true,"Pid":12,"ExitCode":137,"OOMKilled":true},
          "Mounts":[{"Type":"volume","Name":"v","Source":"/var/v","Destination":"/d"}],"Config":{"Labels":{"a":"b"}}})");
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one.value().name, "n");
  EXPECT_EQ(one.value().pid, 12);
  EXPECT_TRUE(one.value().running && one.value().oom_killed);
  EXPECT_EQ(one.value().mounts.at(0).source, "/var/v");
  EXPECT_EQ(one.value().label("a"), "b");
  const auto list = parse_engine_list(
      R"([{"Id":"x","Names":["/y"],"State":"running","Labels":{"fathom.run":"r"}}])");
  EXPECT_EQ(list.value().at(0).name, "y");
  EXPECT_TRUE(list.value().at(0).running);
}

TEST(EngineRefusals, SayWhatToDoWhereTheEngineDoesNot) {
  EXPECT_NE(hint_for_refusal("could not select device driver \"\" with capabilities: [[gpu]]")
                .find("nvidia-ctk"),
            std::string::npos);
  EXPECT_NE(hint_for_refusal("Unknown runtime specified nvidia").find("nvidia-ctk"),
            std::string::npos);
  EXPECT_EQ(hint_for_refusal("network nonesuch not found"),
            "docker network ls lists what is there");
  EXPECT_EQ(hint_for_refusal("invalid mount path"), "");
}

TEST_F(EngineAnswers, WhatMakesNoSenseIsAnError) {
  for (const char* text : {"", "{", "[]", "null", "{}", "\xff", "<html>"}) {
    EXPECT_FALSE(parse_engine_version(text).ok()) << text;
    EXPECT_FALSE(parse_engine_image(text).ok()) << text;
    EXPECT_FALSE(parse_engine_container(text).ok()) << text;
  }
  EXPECT_EQ(parse_engine_text("[", "message"), "");
  EXPECT_EQ(parse_build_error("{\"stream\":\"x\"}\n{\"error\":\"no such file\"}\n"),
            "no such file");
  EXPECT_EQ(parse_build_error("{\"stream\":\"x\"}\n"), "");
}

}  // namespace
}  // namespace fathom
