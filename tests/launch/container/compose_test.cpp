// SPDX-License-Identifier: Apache-2.0
#include "launch/container/compose.h"

#include <gtest/gtest.h>

#include <map>

namespace fathom {
namespace {

const ComposeVariables kVariables = [](const std::string& name) -> std::optional<std::string> {
  static const std::map<std::string, std::string> known = {{"A", "one"}, {"EMPTY", ""}};
  const auto found = known.find(name);
  return found == known.end() ? std::nullopt : std::optional(found->second);
};

Result<ComposeProject> parse(std::string_view text) {
  return parse_compose(text, "c.yaml", "/tmp/My Project!", kVariables);
}

TEST(ComposeVariables, AreFilledInAsComposeDoes) {
  const std::pair<const char*, const char*> cases[] = {
      {"$A", "one"},
      {"${A}-x", "one-x"},
      {"${NOPE}", ""},
      {"${NOPE:-other}", "other"},
      {"${EMPTY:-other}", "other"},
      {"${EMPTY-other}", ""},
      {"${A:+set}", "set"},
      {"${NOPE+set}", ""},
      {"$$A", "$A"},
      {"${NOPE:-${A}}", "one"},
      {"plain", "plain"},
      {"a$$", "a$"},
  };
  for (const auto& [text, filled] : cases)
    EXPECT_EQ(fill_variables(text, kVariables).value_or("error"), filled) << text;
  for (const char* text : {"${", "${A", "$", "${1}", "${A!x}", "${NOPE:?why}", "${A:}"})
    EXPECT_FALSE(fill_variables(text, kVariables).ok()) << text;
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "${N:-";
  EXPECT_FALSE(fill_variables(deep + std::string(1000, '}'), kVariables).ok());
}

TEST(Compose, ReadsServicesInTheOrderTheyDepend) {
  const auto project = parse(R"(
services:
  web:
    image: w
    command: run --word 'a b'
    entrypoint: [/bin/x]
    environment: [B=2, A]
    depends_on: {db: {condition: service_healthy}}
    ports: ["127.0.0.1:8080:80", {target: 53, published: 5353, protocol: udp}]
    networks: [front, default]
    mem_limit: 64m
    memswap_limit: 96m
    deploy: {resources: {limits: {cpus: "0.5"}, reservations: {devices: [{device_ids: ["0", "1"]}]}}}
    stop_signal: SIGINT
  db:
    build: {context: ./image, dockerfile: File, args: {V: 1}}
    volumes: ["data:/var/data:ro", "/anonymous", {type: tmpfs, target: /mem}]
    network_mode: none
    logging: {driver: none}
    x-own: anything
networks: {front: {internal: true}}
volumes: {data: }
)");
  ASSERT_TRUE(project.ok()) << project.error().message;
  EXPECT_EQ(project.value().name, "myproject");
  ASSERT_EQ(project.value().services.size(), 2U);
  const ComposeService& db = project.value().services[0];
  const ComposeService& web = project.value().services[1];
  EXPECT_EQ(db.name, "db");
  EXPECT_EQ(db.build->folder, "/tmp/My Project!/image");
  EXPECT_EQ(db.build->file, "File");
  EXPECT_EQ(db.request.mounts[0].source, "myproject_data");
  EXPECT_TRUE(db.request.mounts[0].read_only);
  EXPECT_TRUE(db.request.mounts[1].anonymous);
  EXPECT_TRUE(db.request.mounts[2].source.empty());
  EXPECT_EQ(db.request.network, "none");
  EXPECT_EQ(web.request.arguments, (std::vector<std::string>{"run", "--word", "a b"}));
  EXPECT_EQ(web.request.environment, (std::vector<std::string>{"B=2", "A=one"}));
  EXPECT_EQ(web.depends_on[0].until, ComposeDependency::Until::kHealthy);
  EXPECT_EQ(web.request.ports[0].host_ip, "127.0.0.1");
  EXPECT_EQ(web.request.ports[1].inside, "53/udp");
  EXPECT_EQ(web.request.networks, (std::vector<std::string>{"front", "default"}));
  EXPECT_EQ(web.request.aliases, std::vector<std::string>{"web"});
  EXPECT_EQ(limits_text(web.request.limits), "cpus=0.5,memory=67108864,swap=33554432");
  EXPECT_EQ(web.request.gpus, "device=0,1");
  EXPECT_EQ(web.request.stop_signal, 2);
  ASSERT_EQ(project.value().notes.size(), 1U);
  EXPECT_EQ(project.value().notes[0], "c.yaml:19: service db: logging is left out");
}

TEST(Compose, WhatIsWrongIsSaidWithItsLine) {
  for (const char* text :
       {"",
        "services: {}",
        "services: [a]",
        "- x",
        "services: {a: {}}",
        "services: {a: x}",
        "services: {a: {image: x, frobnicate: 1}}",
        "services: {a: {image: x, depends_on: [b]}}",
        "services: {a: {image: x, networks: [n]}}",
        "services: {a: {image: x, volumes: ['v:/x']}}",
        "services: {a: {image: x, volumes: ['./not/there:/x']}}",
        "services: {'a/b': {image: x}}",
        "services: {a: {image: x, cpus: none}}",
        "services: {a: {image: [x]}}",
        "services: {a: {image: x, ports: ['1-2']}}",
        "services: {a: {image: x, stop_signal: SIGX}}",
        "services: {a: {image: x, environment: {'': 1}}}",
        "services: {a: {image: x}}\nodd: 1",
        "services: {a: {image: x, depends_on: [a]}}",
        "services: {a: &x {image: x}, b: *x}",
        "services: {a: {image: x, network_mode: none, networks: [default]}}",
        "services: {a: {image: x, deploy: {resources: {limits: {speed: 1}}}}}"}) {
    const auto project = parse(text);
    ASSERT_FALSE(project.ok()) << text;
    EXPECT_EQ(project.error().code, Code::kInvalid) << text;
  }
}

TEST(ComposeEnvFile, HasNamesAndValues) {
  const auto settings = parse_env_file("# no\nA=1\nexport B='two words'\r\n\nC=\"x=y\"\nodd\n=z\n");
  ASSERT_EQ(settings.size(), 3U);
  EXPECT_EQ(settings[0], std::pair(std::string("A"), std::string("1")));
  EXPECT_EQ(settings[1].second, "two words");
  EXPECT_EQ(settings[2].second, "x=y");
}

}  // namespace
}  // namespace fathom
