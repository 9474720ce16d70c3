// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "launch/container/container_request.h"
#include "launch/container/engine.h"
#include "wire/hold.h"

namespace fathom {
namespace {

constexpr double kNanoCpus = 1e9;

// Members of a JSON object, put one behind the other.
class Members {
 public:
  void add(std::string_view name, const std::string& json) {
    text_ += fmt::format("{}{}: {}", text_.empty() ? "" : ", ", json_quote(name), json);
  }
  void text(std::string_view name, const std::string& value) {
    if (!value.empty()) add(name, json_quote(value));
  }
  void number(std::string_view name, int64_t value) { add(name, std::to_string(value)); }
  void truth(std::string_view name, bool value) {
    if (value) add(name, "true");
  }
  void list(std::string_view name, const std::vector<std::string>& values) {
    if (!values.empty()) add(name, list_of(values));
  }
  static std::string list_of(const std::vector<std::string>& values) {
    std::string out;
    for (const std::string& value : values) out += (out.empty() ? "" : ", ") + json_quote(value);
    return "[" + out + "]";
  }
  [[nodiscard]] std::string object() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

std::string mounts_json(const std::vector<ContainerMount>& first,
                        const std::vector<ContainerMount>& second) {
  std::string out;
  for (const auto* mounts : {&first, &second}) {
    for (const ContainerMount& mount : *mounts) {
      Members one;
      const bool path = mount.source.starts_with('/');
      const bool memory = mount.source.empty() && !mount.anonymous;
      one.text("Type", memory ? "tmpfs" : path ? "bind" : "volume");
      one.text("Source", mount.source);
      one.text("Target", mount.target);
      one.truth("ReadOnly", mount.read_only);
      if (memory) one.add("TmpfsOptions", "{\"Mode\": 1023}");  // 01777
      out += (out.empty() ? "" : ", ") + one.object();
    }
  }
  return "[" + out + "]";
}

// "all", "2", "device=0,1" or "device=UUID", as docker run --gpus has them.
std::string gpus_json(const std::string& gpus) {
  Members request;
  const auto count = parse_number(gpus);
  if (gpus.starts_with("device=")) {
    std::vector<std::string> ids;
    for (const std::string_view id : split_words(std::string_view(gpus).substr(7), ','))
      ids.emplace_back(id);
    request.list("DeviceIDs", ids);
  } else {
    request.number("Count", count.ok() ? count.value() : -1);
  }
  request.add("Capabilities", "[[\"gpu\"]]");
  return "[" + request.object() + "]";
}

void add_limits(const ContainerLimits& limits, Members& host) {
  if (limits.cpus) host.number("NanoCpus", std::llround(*limits.cpus * kNanoCpus));
  if (limits.memory_bytes) host.number("Memory", *limits.memory_bytes);
  // Without a word about swap there is none beyond the limit: what is sized must be memory.
  if (limits.memory_bytes)
    host.number("MemorySwap", *limits.memory_bytes + limits.swap_bytes.value_or(0));
  if (limits.pids) host.number("PidsLimit", *limits.pids);
  host.text("CpusetCpus", limits.cpuset);
}

std::string devices_json(const std::vector<std::string>& devices) {
  std::string out;
  for (const std::string& device : devices) {
    const size_t colon = device.find(':');
    Members one;
    one.text("PathOnHost", device.substr(0, colon));
    one.text("PathInContainer", colon == std::string::npos ? device : device.substr(colon + 1));
    one.text("CgroupPermissions", "rwm");
    out += (out.empty() ? "" : ", ") + one.object();
  }
  return "[" + out + "]";
}

std::string ports_json(const std::vector<ContainerPort>& ports, bool bindings) {
  Members all;
  std::vector<std::string> named;  // a port inside may be several outside
  for (const ContainerPort& port : ports) {
    if (std::find(named.begin(), named.end(), port.inside) != named.end()) continue;
    named.push_back(port.inside);
    std::string places;
    for (const ContainerPort& same : ports) {
      if (same.inside != port.inside) continue;
      Members place;
      place.add("HostIp", json_quote(same.host_ip));
      place.add("HostPort", json_quote(same.host_port));
      places += (places.empty() ? "" : ", ") + place.object();
    }
    all.add(port.inside, bindings ? "[" + places + "]" : "{}");
  }
  return all.object();
}

std::string host_json(const ContainerRequest& request, const ContainerMaking& making) {
  Members host;
  host.add("Mounts", mounts_json(request.mounts, making.mounts));
  add_limits(request.limits, host);
  host.text("CgroupParent", making.cgroup_parent);
  host.text("NetworkMode", request.network);
  host.text("Runtime", request.runtime);
  host.text("IpcMode", request.ipc);
  host.text("PidMode", request.pid_mode);
  host.truth("ReadonlyRootfs", request.read_only);
  host.truth("Init", request.init);
  host.truth("Privileged", request.privileged);
  if (request.shm_bytes > 0) host.number("ShmSize", request.shm_bytes);
  host.list("CapAdd", request.capabilities);
  host.list("CapDrop", request.dropped_capabilities);
  host.list("SecurityOpt", request.security);
  host.list("GroupAdd", request.groups);
  host.list("ExtraHosts", request.hosts);
  if (!request.ports.empty()) host.add("PortBindings", ports_json(request.ports, true));
  if (!request.devices.empty()) host.add("Devices", devices_json(request.devices));
  if (!request.gpus.empty()) host.add("DeviceRequests", gpus_json(request.gpus));
  return host.object();
}

}  // namespace

std::string create_body(const ContainerRequest& request, const ContainerMaking& making) {
  Members body;
  body.text("Image", request.image);
  body.add("Entrypoint", Members::list_of({FATHOM_HOLD_FOLDER "/hold"}));
  body.add("Cmd", Members::list_of(making.command));
  std::vector<std::string> environment = request.environment;
  environment.insert(environment.end(), making.environment.begin(), making.environment.end());
  body.list("Env", environment);
  body.text("User", request.user);
  body.text("Hostname", request.hostname);
  body.text("WorkingDir", request.folder);
  Members labels;
  labels.text(kRunLabel, making.run);
  labels.text(kRecorderLabel, making.recorder);
  for (const auto& [name, value] : request.labels) labels.add(name, json_quote(value));
  body.add("Labels", labels.object());
  body.add("HostConfig", host_json(request, making));
  if (!request.ports.empty()) body.add("ExposedPorts", ports_json(request.ports, false));
  if (!request.health.empty()) body.add("Healthcheck", request.health);
  if (!request.aliases.empty() && !request.network.empty()) {
    Members endpoint, endpoints, networking;
    endpoint.list("Aliases", request.aliases);
    endpoints.add(request.network, endpoint.object());
    networking.add("EndpointsConfig", endpoints.object());
    body.add("NetworkingConfig", networking.object());
  }
  return body.object();
}

}  // namespace fathom
