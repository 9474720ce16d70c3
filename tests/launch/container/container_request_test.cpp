// SPDX-License-Identifier: Apache-2.0
#include "launch/container/container_request.h"

#include <gtest/gtest.h>

#include "base/simdjson.h"
#include "launch/container/engine_answers.h"

namespace fathom {
namespace {

TEST(ContainerLimits, ReadAndKept) {
  ContainerLimits limits;
  ASSERT_TRUE(read_limits("cpus=0.5,memory=1g,swap=512m,pids=100,cpuset=0,2-3", limits).ok());
  EXPECT_EQ(*limits.cpus, 0.5);
  EXPECT_EQ(*limits.memory_bytes, int64_t{1} << 30);
  EXPECT_EQ(*limits.swap_bytes, int64_t{512} << 20);
  EXPECT_EQ(*limits.pids, 100);
  EXPECT_EQ(limits.cpuset, "0,2-3");
  EXPECT_EQ(limits_text(limits), "cpus=0.5,memory=1073741824,swap=536870912,pids=100,cpuset=0,2-3");
  EXPECT_EQ(limits_text({}), "");
}

TEST(ContainerLimits, WhatIsNoneIsSaid) {
  for (const char* text : {"cpus=0", "cpus=x", "cpus=-1", "cpus=nan", "memory=", "memory=lots",
                           "memory=-1", "pids=0", "pids=1.5", "speed=3", "cpus", "memory=1e99g"}) {
    ContainerLimits limits;
    const Status read = read_limits(text, limits);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().code, Code::kInvalid) << text;
    EXPECT_NE(read.error().hint, "") << text;
  }
}

TEST(ContainerMount, PathsVolumesAndReadOnly) {
  EXPECT_EQ(read_mount("volume:/inside").value().source, "volume");
  const auto mount = read_mount("/tmp:/inside:ro");
  ASSERT_TRUE(mount.ok());
  EXPECT_EQ(mount.value().source, "/tmp");
  EXPECT_EQ(mount.value().target, "/inside");
  EXPECT_TRUE(mount.value().read_only);
  for (const char* text :
       {"/tmp", "/tmp:inside", ":/inside", "/tmp:/inside:odd", "/not/there:/x", "/tmp:/"})
    EXPECT_FALSE(read_mount(text).ok()) << text;
}

TEST(DockerArguments, AsDockerRunTakesThem) {
  ContainerRequest request;
  const std::vector<std::string> texts = {"--runtime nvidia --name 'a b'",
                                          "--cap-add=SYS_NICE",
                                          "-e A=1 -e B=2",
                                          "--rm -ti",
                                          "-v data:/d",
                                          "--read-only"};
  ASSERT_TRUE(read_docker_arguments(texts, request).ok());
  EXPECT_EQ(request.runtime, "nvidia");
  EXPECT_EQ(request.name, "a b");
  EXPECT_EQ(request.capabilities, std::vector<std::string>{"SYS_NICE"});
  EXPECT_EQ(request.environment, (std::vector<std::string>{"A=1", "B=2"}));
  EXPECT_EQ(request.mounts.at(0).target, "/d");
  EXPECT_TRUE(request.read_only);
  for (const char* text : {"--frobnicate", "--name", "--label fathom.run=x", "image"}) {
    ContainerRequest other;
    const Status read = read_docker_arguments({text}, other);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_NE(read.error().hint, "") << text;
  }
}

TEST(CommandOf, IsPutTogetherAsDockerRunDoes) {
  EngineImage image;
  image.entrypoint = {"/run"};
  image.command = {"usual"};
  ContainerRequest request;
  EXPECT_EQ(command_of(request, image), (std::vector<std::string>{"/run", "usual"}));
  request.arguments = {"other"};
  EXPECT_EQ(command_of(request, image), (std::vector<std::string>{"/run", "other"}));
  request.entrypoint = std::vector<std::string>{"/bin/sh"};
  EXPECT_EQ(command_of(request, image), (std::vector<std::string>{"/bin/sh", "other"}));
  request.arguments.clear();
  EXPECT_EQ(command_of(request, image), std::vector<std::string>{"/bin/sh"});
}

TEST(CreateBody, AsksForGpusAsDockerRunDoes) {
  const std::pair<const char*, const char*> cases[] = {
      {"all", "\"DeviceRequests\": [{\"Count\": -1, \"Capabilities\": [[\"gpu\"]]}]"},
      {"2", "\"DeviceRequests\": [{\"Count\": 2, \"Capabilities\": [[\"gpu\"]]}]"},
      {"device=GPU-1", "[{\"DeviceIDs\": [\"GPU-1\"], \"Capabilities\": [[\"gpu\"]]}]"},
  };
  for (const auto& [gpus, json] : cases) {
    ContainerRequest request;
    request.gpus = gpus;
    EXPECT_NE(create_body(request, {}).find(json), std::string::npos) << create_body(request, {});
  }
  EXPECT_EQ(create_body({}, {}).find("DeviceRequests"), std::string::npos);
}

TEST(CreateBody, PublishesPortsAndJoinsANetworkUnderItsNames) {
  ContainerRequest request;
  request.ports = {{"80/tcp", "", "8080"}, {"80/tcp", "::1", ""}, {"53/udp", "", "53"}};
  request.network = "net";
  request.aliases = {"web", "other"};
  const std::string body = create_body(request, {});
  for (const char* part :
       {"\"ExposedPorts\": {\"80/tcp\": {}, \"53/udp\": {}}",
        "\"80/tcp\": [{\"HostIp\": \"\", \"HostPort\": \"8080\"}, {\"HostIp\": \"::1\", "
        "\"HostPort\": \"\"}]",
        "\"EndpointsConfig\": {\"net\": {\"Aliases\": [\"web\", \"other\"]}}"})
    EXPECT_NE(body.find(part), std::string::npos) << body;
}

// Hostile names are texts in it, and nothing else.
TEST(CreateBody, IsJsonWhateverTheNames) {
  ASSERT_TRUE(load_simdjson().ok());  // tools/setup installs it
  ContainerRequest request;
  request.image = "a\"}<script>\n\xff";
  request.environment = {"A=\"", "B=\n"};
  request.gpus = "device=0,1";
  request.limits.cpus = 1.5;
  request.limits.memory_bytes = 1000;
  request.mounts = {{"/s", "/t", true}, {"", "/tmpfs", false}, {"vol", "/v", false}};
  ContainerMaking making;
  making.run = "20260101T000000Z-00000000";
  making.command = {"/x", "\"}"};
  making.cgroup_parent = "/fathom-1";
  const std::string body = create_body(request, making);
  const auto read = parse_engine_list("[" + body + "]");
  ASSERT_TRUE(read.ok()) << body;
  EXPECT_EQ(read.value().at(0).cgroup_parent, "/fathom-1");
  EXPECT_EQ(read.value().at(0).label("fathom.run"), making.run);
  EXPECT_NE(body.find("\"NanoCpus\": 1500000000"), std::string::npos);
  EXPECT_NE(body.find("\"MemorySwap\": 1000"), std::string::npos);
  EXPECT_NE(body.find("\"DeviceIDs\": [\"0\", \"1\"]"), std::string::npos);
  EXPECT_NE(body.find("{\"Type\": \"tmpfs\", \"Target\": \"/tmpfs\""), std::string::npos);
}

}  // namespace
}  // namespace fathom
