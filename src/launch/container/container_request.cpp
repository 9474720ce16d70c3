// SPDX-License-Identifier: Apache-2.0
#include "launch/container/container_request.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "base/text.h"

namespace fathom {
namespace {

constexpr const char* kLimitHint = "--limit cpus=0.5,memory=1g,swap=2g,pids=100,cpuset=0-1";

Error no_limit(std::string_view text) {
  return Error{Code::kInvalid, "--limit " + printable(text) + " is no limit", kLimitHint};
}

Status read_limit(std::string_view name, std::string_view value, ContainerLimits& limits) {
  if (name == "cpus") {
    const auto cpus = parse_real(value);
    if (!cpus.ok() || !(cpus.value() >= 0.01) || cpus.value() > 100'000)
      return Error{Code::kInvalid, "--limit cpus=" + printable(value) + " is no number of cores",
                   "--limit cpus=0.5: at least 0.01"};
    limits.cpus = cpus.value();
    return {};
  }
  if (name == "cpuset") {
    limits.cpuset = value;
    return {};
  }
  if (name == "pids") {
    const auto pids = parse_number(value);
    if (!pids.ok() || pids.value() <= 0) return no_limit("pids=" + std::string(value));
    limits.pids = pids.value();
    return {};
  }
  if (name != "memory" && name != "swap") return no_limit(name);
  TRY_ASSIGN(const int64_t bytes, read_size(value));
  (name == "memory" ? limits.memory_bytes : limits.swap_bytes) = bytes;
  return {};
}

// Engines would make the folder, as root, where somebody mistyped its name.
Status check_source(const std::string& source) {
  std::error_code error;
  const bool there = std::filesystem::exists(source, error);
  if (there) return {};
  return Error{Code::kInvalid,
               printable(source) +
                   (error ? " cannot be read: " + error.message() : std::string(" does not exist")),
               "name a file or folder of this machine, by its path"};
}

}  // namespace

Result<int64_t> read_size(std::string_view text) {
  const Error wrong{Code::kInvalid, "'" + printable(text) + "' is no size", "512m, 1g or 1000000"};
  const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto number = parse_real(text.substr(0, digits));
  std::string unit(text.substr(digits));
  for (char& letter : unit) letter = static_cast<char>(std::tolower(letter));
  static constexpr std::pair<std::string_view, double> kUnits[] = {{"", 1},
                                                                   {"b", 1},
                                                                   {"k", 1024.0},
                                                                   {"kb", 1024.0},
                                                                   {"kib", 1024.0},
                                                                   {"m", 1048576.0},
                                                                   {"mb", 1048576.0},
                                                                   {"mib", 1048576.0},
                                                                   {"mi", 1048576.0},
                                                                   {"g", 1073741824.0},
                                                                   {"gb", 1073741824.0},
                                                                   {"gib", 1073741824.0},
                                                                   {"gi", 1073741824.0}};
  for (const auto& [name, factor] : kUnits) {
    if (unit != name || !number.ok()) continue;
    const double bytes = number.value() * factor;
    if (!(bytes >= 1) || bytes > 1e15) return wrong;
    return static_cast<int64_t>(bytes);
  }
  return wrong;
}

Status read_limits(std::string_view text, ContainerLimits& limits) {
  std::string_view cpuset;  // may hold commas: cpuset=0,2 goes on until the next name
  for (const std::string_view word : split_words(text, ',')) {
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      if (cpuset.empty()) return no_limit(word);
      limits.cpuset += "," + std::string(word);
      continue;
    }
    const std::string_view name = word.substr(0, equals);
    cpuset = name == "cpuset" ? word : std::string_view();
    TRY(read_limit(name, word.substr(equals + 1), limits));
  }
  return {};
}

std::string limits_text(const ContainerLimits& limits) {
  std::vector<std::string> parts;
  if (limits.cpus) parts.push_back(fmt::format("cpus={:g}", *limits.cpus));
  if (limits.memory_bytes) parts.push_back(fmt::format("memory={}", *limits.memory_bytes));
  if (limits.swap_bytes) parts.push_back(fmt::format("swap={}", *limits.swap_bytes));
  if (limits.pids) parts.push_back(fmt::format("pids={}", *limits.pids));
  if (!limits.cpuset.empty()) parts.push_back("cpuset=" + limits.cpuset);
  return join(parts, ",");
}

Result<ContainerMount> read_mount(const std::string& text) {
  const Error wrong{Code::kInvalid, "--mount " + printable(text) + " makes no sense",
                    "--mount SOURCE:/TARGET, or SOURCE:/TARGET:ro"};
  ContainerMount mount;
  const size_t colon = text.find(":/");
  if (colon == std::string::npos || colon == 0) return wrong;
  mount.source = text.substr(0, colon);
  mount.target = text.substr(colon + 1);
  const size_t options = mount.target.find(':');
  if (options != std::string::npos) {
    for (const std::string_view option :
         split_words(std::string_view(mount.target).substr(options + 1), ',')) {
      if (option == "ro" || option == "readonly")
        mount.read_only = true;
      else if (option != "rw" && option != "z" && option != "Z")
        return wrong;
    }
    mount.target.resize(options);
  }
  if (mount.target.size() < 2) return wrong;
  const bool path = mount.source.find('/') != std::string::npos || mount.source.starts_with('.');
  if (!path) return mount;  // a volume
  TRY(check_source(mount.source));
  mount.source = std::filesystem::absolute(mount.source).lexically_normal();
  return mount;
}

Result<ContainerPort> read_port(const std::string& text) {
  const Error wrong{Code::kInvalid, "'" + printable(text) + "' is no port",
                    "80, 8080:80, 127.0.0.1:8080:80 or 53:53/udp; no ranges"};
  const size_t slash = text.find('/');
  const std::string protocol = slash == std::string::npos ? "tcp" : text.substr(slash + 1);
  if (protocol != "tcp" && protocol != "udp" && protocol != "sctp") return wrong;
  std::string ports = text.substr(0, slash);
  const auto is_port = [](const std::string& word) {
    const auto number = parse_number(word);
    return number.ok() && number.value() > 0 && number.value() < 65536;
  };
  const size_t inside = ports.rfind(':');
  ContainerPort port{ports.substr(inside == std::string::npos ? 0 : inside + 1), "", ""};
  if (!is_port(port.inside)) return wrong;
  port.inside += "/" + protocol;
  if (inside == std::string::npos) return port;
  ports.resize(inside);
  const size_t host = ports.rfind(':');
  port.host_port = ports.substr(host == std::string::npos ? 0 : host + 1);
  if (host != std::string::npos) port.host_ip = ports.substr(0, host);
  if (!port.host_port.empty() && !is_port(port.host_port)) return wrong;
  return port;
}

std::vector<std::string> command_of(const ContainerRequest& request, const EngineImage& image) {
  std::vector<std::string> words = request.entrypoint.value_or(image.entrypoint);
  const bool own = !request.arguments.empty() || request.entrypoint.has_value();
  const std::vector<std::string>& rest = own ? request.arguments : image.command;
  words.insert(words.end(), rest.begin(), rest.end());
  return words;
}

}  // namespace fathom
