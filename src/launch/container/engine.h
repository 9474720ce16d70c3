// SPDX-License-Identifier: Apache-2.0
// A container engine that is spoken to over its Unix socket: Docker's HTTP API, which Podman's
// service speaks as well. The version is negotiated once. Every error says what to do. Belongs to
// one thread; blocks, but no longer than its timeout without a byte.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/http_client.h"
#include "base/result.h"
#include "launch/container/container_request.h"
#include "launch/container/engine_answers.h"

namespace fathom {

// Every container of ours has it: the id of its run, and who recorded it as PID-STARTTIME.
constexpr std::string_view kRunLabel = "fathom.run";
constexpr std::string_view kRecorderLabel = "fathom.recorder";

// The file of the socket that DOCKER_HOST or CONTAINER_HOST names, else the first usual one that is
// there, else Docker's.
Result<std::string> engine_socket();

class Engine {
 public:
  static Result<Engine> open();
  static Result<Engine> open_at(const std::string& socket);
  // Another connection to the same engine, for another thread.
  [[nodiscard]] Engine again() const;

  [[nodiscard]] const EngineVersion& version() const { return version_; }
  [[nodiscard]] const std::string& api() const { return api_; }
  [[nodiscard]] bool is_podman() const { return version_.name.starts_with("Podman"); }
  [[nodiscard]] const std::string& socket() const { return socket_; }

  // "cgroupfs" or "systemd".
  Result<std::string> cgroup_driver();
  Result<EngineImage> image(const std::string& name);
  // Builds the folder's Dockerfile; returns what the image is called.
  Result<std::string> build(const ImageBuild& build);
  // Returns the id; an empty name: the engine chooses.
  Result<std::string> create(const std::string& name, const std::string& body);
  Status start(const std::string& id);
  // Blocks until it has ended; its exit code, signals as 128 and more.
  Result<int64_t> wait(const std::string& id);
  Status kill(const std::string& id, int signal_number);
  // With its anonymous volumes, whatever it does.
  Status remove(const std::string& id);
  Result<EngineContainer> inspect(const std::string& name);
  // Those that have this label, running or not.
  Result<std::vector<EngineContainer>> labelled(std::string_view label);

  // What several containers share. Returns the network's id.
  Result<std::string> create_network(const std::string& name, const std::string& run,
                                     bool internal);
  Status connect(const std::string& network, const std::string& container,
                 const std::vector<std::string>& aliases);
  Status remove_network(const std::string& id);
  Result<bool> has_volume(const std::string& name);
  Status create_volume(const std::string& name, const std::string& run);
  Status remove_volume(const std::string& name);
  // Networks and volumes that have this label.
  Result<std::vector<EngineShared>> labelled_shared(std::string_view label);

 private:
  Engine(std::string socket, EngineVersion version, std::string api);
  Result<HttpAnswer> ask(std::string_view method, const std::string& path,
                         std::string_view body = {});
  // An answer that is no success, as an error.
  Error refused(std::string_view doing, const HttpAnswer& answer) const;

  std::string socket_;
  EngineVersion version_;
  std::string api_;
  HttpClient client_;
};

// A container, network or volume of a run whose recorder no longer runs.
struct EngineLeftover {
  std::string what;          // "container NAME (ID)"
  std::string container_id;  // empty: a network or volume
  std::function<Status()> remove;
};
struct EngineLeftovers {
  std::vector<EngineLeftover> found;  // in the order in which they can be removed
  std::vector<Error> failed;
};
// Of the engine that responds, if any.
EngineLeftovers leftovers_of_engine();
// This process as kRecorderLabel has it.
std::string recorder_mark();

}  // namespace fathom
