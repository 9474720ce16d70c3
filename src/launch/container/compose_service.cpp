// SPDX-License-Identifier: Apache-2.0
// The keys of one service of a compose file: a line each in kKeys.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/fd.h"
#include "base/text.h"
#include "launch/container/compose_reader.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using Kind = YamlNode::Kind;
using Take = Status (*)(const ComposePlace& place, const YamlNode& node, ComposeService& service);

std::string path_from(const ComposePlace& place, const std::string& path) {
  return (fs::path(place.folder) / path).lexically_normal();
}

template <auto Member>
Status text(const ComposePlace& place, const YamlNode& node, ComposeService& service) {
  TRY_ASSIGN(service.request.*Member, compose_text(place, node, "this"));
  return {};
}

template <auto Member>
Status texts(const ComposePlace& place, const YamlNode& node, ComposeService& service) {
  TRY_ASSIGN(service.request.*Member, compose_texts(place, node, "this"));
  return {};
}

template <auto Member>
Status truth(const ComposePlace& place, const YamlNode& node, ComposeService& service) {
  if (node.text != "true" && node.text != "false")
    return place.wrong(node, "this is true or false");
  service.request.*Member = node.text == "true";
  return {};
}

template <const char* Name>
Status limit(const ComposePlace& place, const YamlNode& node, ComposeService& service) {
  TRY_ASSIGN(const std::string value, compose_text(place, node, Name));
  Status read = read_limits(std::string(Name) + "=" + value, service.request.limits);
  return read.ok() ? read : Status(place.wrong(node, read.error().message, read.error().hint));
}
constexpr char kCpus[] = "cpus", kMemory[] = "memory", kPids[] = "pids", kCpuset[] = "cpuset";

// A text is split as a shell would, which itself is not asked.
Result<std::vector<std::string>> words(const ComposePlace& place, const YamlNode& node) {
  if (node.kind == Kind::kScalar) return shell_words(node.text);
  return compose_texts(place, node, "command");
}

Status command(const ComposePlace& place, const YamlNode& node, ComposeService& service) {
  TRY_ASSIGN(service.request.arguments, words(place, node));
  return {};
}

Status entrypoint(const ComposePlace& place, const YamlNode& node, ComposeService& service) {
  TRY_ASSIGN(service.request.entrypoint, words(place, node));
  return {};
}

Status build(const ComposePlace& place, const YamlNode& node, ComposeService& service) {
  ImageBuild build;
  if (node.kind == Kind::kScalar) {
    build.folder = path_from(place, node.text);
    service.build = std::move(build);
    return {};
  }
  for (const auto& [key, value] : node.members) {
    if (key == "args") {
      TRY_ASSIGN(build.arguments, compose_settings(place, value, key));
      continue;
    }
    std::string* member = key == "context"      ? &build.folder
                          : key == "dockerfile" ? &build.file
                          : key == "target"     ? &build.target
                                                : nullptr;
    if (member == nullptr)
      return compose_unknown(place, value, "build", key,
                             {"context", "dockerfile", "args", "target"});
    TRY_ASSIGN(*member, compose_text(place, value, key));
  }
  build.folder = path_from(place, build.folder.empty() ? "." : build.folder);
  service.build = std::move(build);
  return {};
}

Status environment(const ComposePlace& place, const YamlNode& node, ComposeService& service) {
  TRY_ASSIGN(const auto settings, compose_settings(place, node, "environment"));
  for (const auto& [name, value] : settings)
    service.request.environment.push_back(fmt::format("{}={}", name, value));
  return {};
}

// What environment says has the last word, wherever it stands.
Status env_file(const ComposePlace& place, const YamlNode& node, ComposeService& service) {
  TRY_ASSIGN(const auto files, compose_texts(place, node, "env_file"));
  std::vector<std::string> first;
  for (const std::string& file : files) {
    const auto read = read_file(path_from(place, file));
    if (!read.ok()) return place.wrong(node, read.error().message);
    for (const auto& [name, value] : parse_env_file(read.value()))
      first.push_back(fmt::format("{}={}", name, value));
  }
  auto& environment = service.request.environment;
  environment.insert(environment.begin(), first.begin(), first.end());
  return {};
}

Status labels(const ComposePlace& place, const YamlNode& node, ComposeService& service) {
  TRY_ASSIGN(service.request.labels, compose_settings(place, node, "labels"));
  for (const auto& [name, value] : service.request.labels)
    if (name.starts_with("fathom."))
      return place.wrong(node, "labels that begin with fathom. are our own");
  return {};
}

Status depends_on(const ComposePlace& place, const YamlNode& node, ComposeService& service) {
  using Until = ComposeDependency::Until;
  if (node.kind == Kind::kList) {
    TRY_ASSIGN(const auto names, compose_texts(place, node, "depends_on"));
    for (const std::string& name : names) service.depends_on.push_back({name, Until::kStarted});
    return {};
  }
  for (const auto& [name, value] : node.members) {
    const YamlNode* condition = value.find("condition");
    const std::string word = condition == nullptr ? "service_started" : condition->text;
    ComposeDependency dependency{name, Until::kStarted};
    if (word == "service_healthy")
      dependency.until = Until::kHealthy;
    else if (word == "service_completed_successfully")
      dependency.until = Until::kCompleted;
    else if (word != "service_started")
      return place.wrong(value, "'" + printable(word) + "' is no condition",
                         "service_started, service_healthy, service_completed_successfully");
    service.depends_on.push_back(std::move(dependency));
  }
  return {};
}

Status ports(const ComposePlace& place, const YamlNode& node, ComposeService& service) {
  for (const YamlNode& item : node.items) {
    std::string text = item.text;
    if (item.kind == Kind::kMap) {
      const auto part = [&](const char* key) {
        const YamlNode* found = item.find(key);
        return found == nullptr ? std::string() : found->text;
      };
      text = part("published").empty() ? part("target") : part("published") + ":" + part("target");
      if (!part("host_ip").empty()) text.insert(0, part("host_ip") + ":");
      if (!part("protocol").empty()) text += "/" + part("protocol");
    }
    auto port = read_port(text);
    if (!port.ok()) return place.wrong(item, port.error().message, port.error().hint);
    service.request.ports.push_back(std::move(port).value());
  }
  return {};
}

Status networks(const ComposePlace& place, const YamlNode& node, ComposeService& service) {
  if (node.kind == Kind::kMap) {
    for (const auto& [name, value] : node.members) {
      service.request.networks.push_back(name);
      const YamlNode* aliases = value.find("aliases");
      if (aliases == nullptr) continue;
      TRY_ASSIGN(const auto names, compose_texts(place, *aliases, "aliases"));
      service.request.aliases.insert(service.request.aliases.end(), names.begin(), names.end());
    }
    return {};
  }
  TRY_ASSIGN(service.request.networks, compose_texts(place, node, "networks"));
  return {};
}

Status tmpfs(const ComposePlace& place, const YamlNode& node, ComposeService& service) {
  TRY_ASSIGN(const auto folders, compose_texts(place, node, "tmpfs"));
  for (const std::string& folder : folders)
    service.request.mounts.push_back({"", folder.substr(0, folder.find(':'))});
  return {};
}

Status shm_size(const ComposePlace& place, const YamlNode& node, ComposeService& service) {
  auto bytes = read_size(node.text);
  if (!bytes.ok()) return place.wrong(node, bytes.error().message, bytes.error().hint);
  service.request.shm_bytes = bytes.value();
  return {};
}

// Compose's is memory and swap together, ours swap alone.
Status memory_and_swap(const ComposePlace& place, const YamlNode& node, ComposeService& service) {
  if (node.text == "-1") return place.wrong(node, "swap without a limit is not known here");
  auto bytes = read_size(node.text);
  if (!bytes.ok()) return place.wrong(node, bytes.error().message, bytes.error().hint);
  service.request.limits.swap_bytes = bytes.value();  // less the memory, once all is read
  return {};
}

Status stop_signal(const ComposePlace& place, const YamlNode& node, ComposeService& service) {
  const std::string name = node.text.starts_with("SIG") ? node.text.substr(3) : node.text;
  for (int number = 1; number < 32; ++number) {
    const char* known = sigabbrev_np(number);
    if (name != std::to_string(number) && (known == nullptr || name != known)) continue;
    service.request.stop_signal = number;
    return {};
  }
  return place.wrong(node, "'" + printable(node.text) + "' is no signal", "SIGTERM");
}

Status stop_grace(const ComposePlace& place, const YamlNode& node, ComposeService& service) {
  const auto grace = parse_duration(node.text);
  if (!grace.ok()) return place.wrong(node, "this is no duration", "10s");
  service.request.stop_grace_ns = grace.value();
  return {};
}

struct Key {
  std::string_view name;
  Take take;
};
constexpr Key kKeys[] = {
    {"image", text<&ContainerRequest::image>},
    {"build", build},
    {"command", command},
    {"entrypoint", entrypoint},
    {"environment", environment},
    {"env_file", env_file},
    {"volumes", read_volumes},
    {"tmpfs", tmpfs},
    {"depends_on", depends_on},
    {"ports", ports},
    {"networks", networks},
    {"network_mode", text<&ContainerRequest::network>},
    {"user", text<&ContainerRequest::user>},
    {"working_dir", text<&ContainerRequest::folder>},
    {"hostname", text<&ContainerRequest::hostname>},
    {"container_name", text<&ContainerRequest::name>},
    {"runtime", text<&ContainerRequest::runtime>},
    {"ipc", text<&ContainerRequest::ipc>},
    {"pid", text<&ContainerRequest::pid_mode>},
    {"gpus", text<&ContainerRequest::gpus>},
    {"deploy", read_deploy},
    {"cpus", limit<kCpus>},
    {"mem_limit", limit<kMemory>},
    {"memswap_limit", memory_and_swap},
    {"pids_limit", limit<kPids>},
    {"cpuset", limit<kCpuset>},
    {"shm_size", shm_size},
    {"read_only", truth<&ContainerRequest::read_only>},
    {"init", truth<&ContainerRequest::init>},
    {"privileged", truth<&ContainerRequest::privileged>},
    {"cap_add", texts<&ContainerRequest::capabilities>},
    {"cap_drop", texts<&ContainerRequest::dropped_capabilities>},
    {"security_opt", texts<&ContainerRequest::security>},
    {"devices", texts<&ContainerRequest::devices>},
    {"group_add", texts<&ContainerRequest::groups>},
    {"extra_hosts", texts<&ContainerRequest::hosts>},
    {"labels", labels},
    {"healthcheck", read_healthcheck},
    {"stop_signal", stop_signal},
    {"stop_grace_period", stop_grace},
};

// What compose knows and a recording does without; it is said.
constexpr std::array<std::string_view, 25> kLeftOut = {
    "restart",     "logging",        "profiles",    "secrets",     "configs",
    "links",       "external_links", "sysctls",     "ulimits",     "dns",
    "dns_search",  "dns_opt",        "develop",     "expose",      "stdin_open",
    "tty",         "platform",       "pull_policy", "scale",       "domainname",
    "mac_address", "oom_score_adj",  "attach",      "annotations", "cpu_shares"};

}  // namespace

Status read_service(const ComposePlace& place, const YamlNode& node, ComposeService& service) {
  if (node.kind != Kind::kMap)
    return place.wrong(node, "a service has at least an image", service.name + ":\n  image: app");
  for (const auto& [key, value] : node.members) {
    const auto* found = std::find_if(
        std::begin(kKeys), std::end(kKeys),
        [word = std::string_view(key)](const Key& known) { return known.name == word; });
    if (found != std::end(kKeys)) {
      if (Status read = found->take(place, value, service); !read.ok()) return read;
      continue;
    }
    if (key.starts_with("x-")) continue;
    if (std::find(kLeftOut.begin(), kLeftOut.end(), key) != kLeftOut.end()) {
      place.note(value, "service " + printable(service.name) + ": " + key + " is left out");
      continue;
    }
    std::vector<std::string_view> known;
    for (const Key& each : kKeys) known.push_back(each.name);
    return compose_unknown(place, value, "service " + printable(service.name), key, known);
  }
  auto& limits = service.request.limits;
  if (limits.swap_bytes && limits.memory_bytes)
    limits.swap_bytes = std::max<int64_t>(0, *limits.swap_bytes - *limits.memory_bytes);
  if (service.request.image.empty() && !service.build)
    return place.wrong(node, "service " + printable(service.name) + " has no image",
                       "image: NAME, or build: FOLDER");
  return {};
}

}  // namespace fathom
