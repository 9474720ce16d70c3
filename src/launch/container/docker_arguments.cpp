// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <span>

#include "base/text.h"
#include "launch/container/container_request.h"

namespace fathom {
namespace {

// One option of docker run: how its value goes into the request.
struct Option {
  std::string_view name;
  std::string_view letter;  // "-v"; empty: none
  bool has_value;
  Status (*take)(const std::string& value, ContainerRequest& request);
};

template <auto Member>
Status set(const std::string& value, ContainerRequest& request) {
  request.*Member = value;
  return {};
}

template <auto Member>
Status append(const std::string& value, ContainerRequest& request) {
  (request.*Member).push_back(value);
  return {};
}

template <auto Member>
Status turn_on(const std::string& value, ContainerRequest& request) {
  request.*Member = value.empty() || value == "true" || value == "1";
  return {};
}

// What fathom does anyway, or cannot mean anything here.
Status ignore(const std::string& /*value*/, ContainerRequest& /*request*/) { return {}; }

Status add_mount(const std::string& value, ContainerRequest& request) {
  TRY_ASSIGN(ContainerMount mount, read_mount(value));
  request.mounts.push_back(std::move(mount));
  return {};
}

Status add_port(const std::string& value, ContainerRequest& request) {
  TRY_ASSIGN(ContainerPort port, read_port(value));
  request.ports.push_back(std::move(port));
  return {};
}

Status add_memory_mount(const std::string& value, ContainerRequest& request) {
  request.mounts.push_back({"", value.substr(0, value.find(':'))});
  return {};
}

Status set_entrypoint(const std::string& value, ContainerRequest& request) {
  request.entrypoint = value.empty() ? std::vector<std::string>() : std::vector{value};
  return {};
}

Status set_shm(const std::string& value, ContainerRequest& request) {
  TRY_ASSIGN(request.shm_bytes, read_size(value));
  return {};
}

Status add_label(const std::string& value, ContainerRequest& request) {
  const size_t equals = std::min(value.find('='), value.size());
  const std::string name = value.substr(0, equals);
  if (name.empty() || name.starts_with("fathom."))
    return Error{Code::kInvalid, "labels that begin with fathom. are our own", "choose another"};
  request.labels.emplace_back(name, equals < value.size() ? value.substr(equals + 1) : "");
  return {};
}

template <const char* Name>
Status limit(const std::string& value, ContainerRequest& request) {
  return read_limits(std::string(Name) + "=" + value, request.limits);
}
constexpr char kArgumentCpus[] = "cpus", kArgumentMemory[] = "memory", kArgumentPids[] = "pids",
               kArgumentCpuset[] = "cpuset";

constexpr Option kOptions[] = {
    {"--name", "", true, set<&ContainerRequest::name>},
    {"--runtime", "", true, set<&ContainerRequest::runtime>},
    {"--hostname", "-h", true, set<&ContainerRequest::hostname>},
    {"--workdir", "-w", true, set<&ContainerRequest::folder>},
    {"--user", "-u", true, set<&ContainerRequest::user>},
    {"--network", "", true, set<&ContainerRequest::network>},
    {"--net", "", true, set<&ContainerRequest::network>},
    {"--ipc", "", true, set<&ContainerRequest::ipc>},
    {"--pid", "", true, set<&ContainerRequest::pid_mode>},
    {"--gpus", "", true, set<&ContainerRequest::gpus>},
    {"--entrypoint", "", true, set_entrypoint},
    {"--shm-size", "", true, set_shm},
    {"--cpus", "", true, limit<kArgumentCpus>},
    {"--memory", "-m", true, limit<kArgumentMemory>},
    {"--pids-limit", "", true, limit<kArgumentPids>},
    {"--cpuset-cpus", "", true, limit<kArgumentCpuset>},
    {"--cap-add", "", true, append<&ContainerRequest::capabilities>},
    {"--cap-drop", "", true, append<&ContainerRequest::dropped_capabilities>},
    {"--security-opt", "", true, append<&ContainerRequest::security>},
    {"--device", "", true, append<&ContainerRequest::devices>},
    {"--group-add", "", true, append<&ContainerRequest::groups>},
    {"--add-host", "", true, append<&ContainerRequest::hosts>},
    {"--env", "-e", true, append<&ContainerRequest::environment>},
    {"--label", "-l", true, add_label},
    {"--volume", "-v", true, add_mount},
    {"--publish", "-p", true, add_port},
    {"--tmpfs", "", true, add_memory_mount},
    {"--read-only", "", false, turn_on<&ContainerRequest::read_only>},
    {"--init", "", false, turn_on<&ContainerRequest::init>},
    {"--privileged", "", false, turn_on<&ContainerRequest::privileged>},
    {"--rm", "", false, ignore},
    {"--tty", "-t", false, ignore},
    {"--interactive", "-i", false, ignore},
    {"", "-ti", false, ignore},
    {"", "-it", false, ignore},
};

Error unknown(std::string_view word) {
  std::string known;
  std::vector<std::string_view> names;
  for (const Option& option : kOptions) {
    if (option.name.empty()) continue;
    names.push_back(option.name);
    known += (known.empty() ? "" : ", ") + std::string(option.name);
  }
  Error error{Code::kInvalid,
              "--docker-arg: fathom does not know what " + printable(word) + " asks for",
              "known are: " + known};
  if (const auto near = closest_match(word, names))
    error.hint = "did you mean " + std::string(*near) + "?";
  return error;
}

}  // namespace

std::vector<std::string> shell_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  bool open = false;
  for (const char byte : text) {
    if (quote == 0 && (byte == ' ' || byte == '\t' || byte == '\n')) {
      if (open) words.push_back(std::move(word));
      word.clear();
      open = false;
    } else if (quote == 0 && (byte == '\'' || byte == '"')) {
      quote = byte;
      open = true;
    } else if (quote != 0 && byte == quote) {
      quote = 0;
    } else {
      word += byte;
      open = true;
    }
  }
  if (open) words.push_back(std::move(word));
  return words;
}

namespace {

const Option* find_option(std::string_view name) {
  for (const Option& option : kOptions)
    if (!name.empty() && (name == option.name || name == option.letter)) return &option;
  return nullptr;
}

}  // namespace

Status read_docker_arguments(const std::vector<std::string>& texts, ContainerRequest& request) {
  std::vector<std::string> words;
  for (const std::string& text : texts) {
    for (std::string& word : shell_words(text)) words.push_back(std::move(word));
  }
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t equals = words[i].starts_with("--") ? words[i].find('=') : std::string::npos;
    const std::string name = words[i].substr(0, equals);
    const Option* option = find_option(name);
    if (option == nullptr) return unknown(name);
    std::string value = equals == std::string::npos ? "" : words[i].substr(equals + 1);
    if (option->has_value && equals == std::string::npos) {
      if (i + 1 == words.size())
        return Error{Code::kInvalid, "--docker-arg " + name + " lacks its value",
                     fmt::format("--docker-arg='{} VALUE'", name)};
      value = words[++i];
    }
    TRY(option->take(value, request));
  }
  return {};
}

}  // namespace fathom
