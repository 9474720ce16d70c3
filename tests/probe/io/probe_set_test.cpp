// SPDX-License-Identifier: Apache-2.0
#include "probe/io/probe_set.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

std::string complaint(std::string_view text) {
  const auto set = parse_probe_set(text);
  if (set.ok()) return "nothing";
  return set.error().message + " | " + set.error().hint;
}

TEST(ProbeSet, SaysLayersFunctionsAndLibraries) {
  const auto read = parse_probe_set(R"(
name: storage
file: /tmp/unused
layers: {c: off, block: on, faults: on}
capture_probes:
  - {name: sys, probe: syscalls, regex: "^(read|write)$"}
  - {name: vfs, probe: kprobe, type: ksym, regex: "^vfs_", by: [fentry, kprobe]}
  - {name: journal, probe: tracepoint, regex: "^jbd2:"}
  - {name: old, probe: usdt, type: usdt, regex: x}
user:
  - {name: z, link: /lib/libz.so.1, regex: "^deflate$"}
inclusion: [/data, /scratch]
profile: {interval_sec: 0.25}
)");
  ASSERT_TRUE(read.ok()) << read.error().message;
  const ProbeSet& set = read.value();
  EXPECT_EQ(set.name, "storage");
  EXPECT_FALSE(set.layers.has("c"));
  EXPECT_TRUE(set.layers.has("sys"));
  EXPECT_TRUE(set.layers.has("faults"));
  ASSERT_EQ(set.captures.size(), 4U);
  EXPECT_EQ(set.captures[1].by, (std::vector<HookRung>{HookRung::kFentry, HookRung::kKprobe}));
  EXPECT_EQ(set.captures[2].kind, Capture::Kind::kTracepoints);
  EXPECT_EQ(set.captures[3].file, "/lib/libz.so.1");
  EXPECT_TRUE(set.captures[0].pattern.fits("read"));
  EXPECT_FALSE(set.captures[0].pattern.fits("readv"));
  EXPECT_EQ(set.path_prefixes.size(), 2U);
  EXPECT_EQ(set.interval_ns, 250'000'000);
  EXPECT_EQ(set.left_out.size(), 1U);
}

TEST(ProbeSet, LayersMayBeAList) {
  EXPECT_EQ(parse_probe_set("layers: [sys, ext4]").value().layers.names,
            (std::vector<std::string>{"sys", "ext4"}));
  EXPECT_TRUE(parse_probe_set("").value().layers.has("sys"));
  EXPECT_FALSE(parse_probe_set("capture_probes: [{name: a, probe: tracepoint, regex: x}]")
                   .value()
                   .layers.has("c"));
}

TEST(ProbeSet, WhatIsWrongIsSaidWithItsLineAndWhatToWrite) {
  EXPECT_EQ(complaint("a:\n  b"),
            "line 2: a probe set has no a | there are name, file, layers, "
            "capture_probes, user, inclusion, profile");
  EXPECT_NE(complaint("layer: [sys]").find("did you mean layers?"), std::string::npos);
  EXPECT_NE(complaint("layers: {blok: on}").find("did you mean block?"), std::string::npos);
  EXPECT_NE(complaint("layers: {block: maybe}").find("on or off"), std::string::npos);
  EXPECT_NE(complaint("capture_probes: [{name: a, probe: magic, regex: x}]").find("magic"),
            std::string::npos);
  EXPECT_NE(complaint("capture_probes: [{name: a, probe: kprobe, regex: '('}]")
                .find("no regular expression"),
            std::string::npos);
  EXPECT_NE(complaint("capture_probes: [{name: a, probe: kprobe, regex: '((a{99}){99}){99}'}]")
                .find("for ever"),
            std::string::npos);
  EXPECT_NE(complaint("capture_probes: [{name: a, probe: kprobe, regex: 'read" +
                      std::string(40, '+') + "'}]")
                .find("for ever"),
            std::string::npos);
  EXPECT_NE(
      complaint("capture_probes: [{name: a, probe: kprobe, regex: '(a)\\1'}]").find("for ever"),
      std::string::npos);
  EXPECT_NE(complaint("capture_probes: [{name: a, probe: kprobe}]").find("pattern is missing"),
            std::string::npos);
  EXPECT_NE(complaint("capture_probes: [{name: 'a b', probe: kprobe, regex: x}]")
                .find("no name for a layer"),
            std::string::npos);
  EXPECT_NE(complaint("capture_probes: [{name: a, probe: uprobe, regex: x}]").find("file:"),
            std::string::npos);
  EXPECT_NE(complaint("user: {name: a}").find("must be a list"), std::string::npos);
  EXPECT_NE(complaint("profile: {interval_sec: 0}").find("0.001 to 3600"), std::string::npos);
  EXPECT_NE(complaint("- a").find("name: value"), std::string::npos);
  EXPECT_NE(complaint("name: '\x1b[31m'\nlayers: '\x1b[31m'"), "nothing");
}

}  // namespace
}  // namespace fathom
