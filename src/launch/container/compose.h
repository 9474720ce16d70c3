// SPDX-License-Identifier: Apache-2.0
// A compose file as containers to run: what docs/formats/compose.md lists of it. What is known to
// compose and not honoured here is a note, what nobody knows an error with its line. Variables are
// filled in from the environment and from .env beside the file. Pure but for the files it names:
// any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "launch/container/container_request.h"

namespace fathom {

struct ComposeDependency {
  enum class Until { kStarted, kHealthy, kCompleted };
  std::string service;
  Until until = Until::kStarted;
};

struct ComposeService {
  std::string name;
  ContainerRequest request;  // its networks and volumes have the names of the file
  std::optional<ImageBuild> build;
  std::vector<ComposeDependency> depends_on;
};

// A network or a volume of the file.
struct ComposeShared {
  std::string name;    // in the file
  std::string actual;  // of the engine; empty: the run's own
  bool external = false, internal = false;
};

struct ComposeProject {
  std::string name;
  std::vector<ComposeService> services;  // those that others depend on first
  std::vector<ComposeShared> networks, volumes;
  std::vector<std::string> notes;  // what is not done as the file says
};

using ComposeVariables = std::function<std::optional<std::string>(const std::string& name)>;

Result<ComposeProject> load_compose(const std::string& path);
// `folder` is where relative paths begin.
Result<ComposeProject> parse_compose(std::string_view text, const std::string& name,
                                     const std::string& folder, const ComposeVariables& variables);

// $NAME, ${NAME}, ${NAME:-other}, ${NAME-other}, ${NAME:?why}, ${NAME?why}, ${NAME:+other},
// ${NAME+other}; $$ is a dollar.
Result<std::string> fill_variables(std::string_view text, const ComposeVariables& variables);
// NAME=VALUE lines of an env file; # begins a comment, quotes around a value go.
std::vector<std::pair<std::string, std::string>> parse_env_file(std::string_view text);

// The services so that each comes behind those it depends on. An error names a circle.
Result<std::vector<ComposeService>> in_order(std::vector<ComposeService> services);

}  // namespace fathom
