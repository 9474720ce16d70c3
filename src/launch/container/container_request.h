// SPDX-License-Identifier: Apache-2.0
// What a container is to be made of, as the flags of `fathom run` say it, and the text that asks an
// engine for it. Plain data and pure functions: any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "launch/container/engine_answers.h"

namespace fathom {

struct ComposeProject;

struct ContainerLimits {
  std::optional<double> cpus;
  std::optional<int64_t> memory_bytes, swap_bytes, pids;
  std::string cpuset;
};

struct ContainerMount {
  std::string source;  // a path of the host, or the name of a volume; empty: memory
  std::string target;
  bool read_only = false;
  bool anonymous = false;  // a volume without a name, which goes with the container
};

struct ContainerPort {
  std::string inside;              // "80/tcp"
  std::string host_ip, host_port;  // empty: any
};

// What an image is to be built of.
struct ImageBuild {
  std::string folder, file, target;  // file: empty is Dockerfile
  std::vector<std::pair<std::string, std::string>> arguments;
};

// One thing to execute inside, and how.
struct ContainerStep {
  std::string name;
  std::vector<std::string> command;  // empty: what the image would run
  std::string data;                  // as seen inside; empty: none
  int64_t time_limit_ns = 0;         // 0: none
  int64_t repeat = 1;
  bool background = false;            // not waited for; ended with the last of the others
  std::vector<std::string> settings;  // NAME=VALUE
};

struct ContainerRequest {
  std::string image, name;
  std::vector<std::string> arguments;                  // behind the entrypoint, for the image's own
  std::optional<std::vector<std::string>> entrypoint;  // instead of the image's
  ContainerLimits limits;
  std::vector<ContainerMount> mounts;
  std::string dataset;  // its folder on the host; mounted with the others
  std::string network, user, gpus, hostname, folder, runtime, ipc, pid_mode;
  bool read_only = false, init = false, privileged = false;
  int64_t shm_bytes = 0;
  std::vector<std::string> environment;  // NAME=VALUE
  std::vector<std::string> capabilities, dropped_capabilities, security, devices, groups, hosts;
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<ContainerStep> steps;  // empty: the entrypoint with the arguments
  std::string script;                // on the host; executed instead of the image's command
  std::string socket;                // of the engine; empty: the usual one
  std::vector<ContainerPort> ports;
  std::vector<std::string> networks, aliases;  // beyond `network`; what it is called in them
  std::string health;                          // a check as the engine has it, JSON; empty: its own
  int stop_signal = 15;
  int64_t stop_grace_ns = 0;                      // 0: the usual
  std::shared_ptr<const ComposeProject> compose;  // instead of an image
};

// --limit cpus=0.5,memory=1g,swap=2g,pids=100,cpuset=0-1
Status read_limits(std::string_view text, ContainerLimits& limits);
std::string limits_text(const ContainerLimits& limits);
// SOURCE:TARGET[:ro]; a relative SOURCE that begins with a dot is a path, another name a volume.
Result<ContainerMount> read_mount(const std::string& text);
// [[IP:]HOST:]PORT[/PROTOCOL]
Result<ContainerPort> read_port(const std::string& text);
// 512m, 1g, 1GiB, 1000000
Result<int64_t> read_size(std::string_view text);
// As a shell would split it; quotes keep blanks.
std::vector<std::string> shell_words(std::string_view text);
// Words of docker run's own command line, as --docker-arg passes them.
Status read_docker_arguments(const std::vector<std::string>& texts, ContainerRequest& request);

// What the launcher adds to a request.
struct ContainerMaking {
  std::vector<std::string> command;      // behind fathom-hold
  std::vector<std::string> environment;  // NAME=VALUE
  std::vector<ContainerMount> mounts;
  std::string cgroup_parent;
  std::string run, recorder;  // labels
};
// The body of the request that makes the container.
std::string create_body(const ContainerRequest& request, const ContainerMaking& making);

// What a container of this image executes: entrypoint and arguments, as docker run puts them
// together.
std::vector<std::string> command_of(const ContainerRequest& request, const EngineImage& image);

}  // namespace fathom
