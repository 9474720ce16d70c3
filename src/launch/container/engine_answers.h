// SPDX-License-Identifier: Apache-2.0
// What a container engine answers, read from its JSON. Pure functions of hostile text: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom {

struct EngineVersion {
  std::string api, least_api;  // "1.41"; least: "" where it does not say
  std::string name;            // "Docker 20.10.24", "Podman Engine 4.3.1"
};

struct EngineImage {
  std::string id, digest;  // digest: of the repository, else the id
  std::vector<std::string> entrypoint, command, environment;
  std::string user, folder;
};

struct EngineContainer {
  std::string id, name, image;
  bool running = false, oom_killed = false;
  int64_t pid = 0, exit_code = 0;
  std::string cgroup_parent;
  std::string health;  // "healthy", "starting", "unhealthy"; empty: nothing checks it
  struct Mount {
    std::string type, name, source, target;
  };
  std::vector<Mount> mounts;
  struct Label {
    std::string name, value;
  };
  std::vector<Label> labels;
  [[nodiscard]] std::string label(std::string_view name) const;
};

// A network or a volume with a label of ours.
struct EngineShared {
  std::string name, recorder;
  bool volume = false;
};

Result<EngineVersion> parse_engine_version(std::string_view json);
Result<EngineImage> parse_engine_image(std::string_view json);
Result<EngineContainer> parse_engine_container(std::string_view json);
Result<std::vector<EngineContainer>> parse_engine_list(std::string_view json);
// Of the answers to a list of networks and to one of volumes.
Result<std::vector<EngineShared>> parse_engine_shared(std::string_view networks,
                                                      std::string_view volumes);
// A member of the outermost object that is text; "" where there is none.
std::string parse_engine_text(std::string_view json, std::string_view member);
int64_t parse_engine_number(std::string_view json, std::string_view member);
// What to do about a refusal, in the engine's words; empty: those say it.
std::string hint_for_refusal(std::string_view why);
// The last error or text in what building an image streams; empty: none.
std::string parse_build_error(std::string_view lines);

}  // namespace fathom
