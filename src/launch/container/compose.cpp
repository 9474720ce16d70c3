// SPDX-License-Identifier: Apache-2.0
#include "launch/container/compose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "base/fd.h"
#include "base/text.h"
#include "launch/container/compose_reader.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using Kind = YamlNode::Kind;

constexpr size_t kMostServices = 100, kMostFileBytes = size_t{1} << 20;
constexpr const char* kDefaultNetwork = "default";

Status fill_all(const ComposePlace& place, YamlNode& node) {
  if (node.kind == Kind::kScalar && node.text.find('$') != std::string::npos) {
    auto filled = fill_variables(node.text, *place.variables);
    if (!filled.ok()) return place.wrong(node, filled.error().message, filled.error().hint);
    node.text = std::move(filled).value();
  }
  for (YamlNode& item : node.items) TRY(fill_all(place, item));
  for (auto& [key, value] : node.members) TRY(fill_all(place, value));
  return {};
}

// As compose makes one of a folder's name.
std::string project_word(const std::string& text) {
  std::string word;
  for (const char byte : text) {
    const auto letter = static_cast<char>(std::tolower(static_cast<unsigned char>(byte)));
    const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0;
    if (plain || ((letter == '-' || letter == '_') && !word.empty())) word += letter;
  }
  return word.empty() ? "compose" : word;
}

bool is_service_name(const std::string& name) {
  const auto plain = [](char byte) {
    return std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '.' || byte == '_' ||
           byte == '-';
  };
  return !name.empty() && name.size() <= 100 && std::all_of(name.begin(), name.end(), plain) &&
         std::isalnum(static_cast<unsigned char>(name[0])) != 0;
}

class ProjectReader {
 public:
  explicit ProjectReader(ComposePlace place) : place_(std::move(place)) {
    place_.notes = &project_.notes;
  }

  Result<ComposeProject> read(YamlNode root) {
    if (root.kind != Kind::kMap) return place_.wrong(root, "this is no compose file");
    TRY(fill_all(place_, root));
    const YamlNode* services = root.find("services");
    if (services == nullptr || services->members.empty())
      return place_.wrong(root, "no services are here", "services:\n  web:\n    image: app");
    if (services->members.size() > kMostServices)
      return place_.wrong(*services, "these are too many services");
    project_.name = project_word(fs::path(place_.folder).filename());
    TRY(read_top(root));
    for (const auto& [name, node] : services->members) TRY(add_service(name, node));
    for (ComposeService& service : project_.services) TRY(settle(service));
    if (default_used_) project_.networks.push_back({kDefaultNetwork, "", false, false});
    TRY_ASSIGN(project_.services, in_order(std::move(project_.services)));
    return std::move(project_);
  }

 private:
  Status read_top(const YamlNode& root) {
    for (const auto& [key, node] : root.members) {
      if (key == "services" || key == "version" || key.starts_with("x-")) continue;
      if (key == "name") {
        project_.name = project_word(node.text);
      } else if (key == "networks" || key == "volumes") {
        for (const auto& [name, value] : node.members) TRY(read_shared(key, name, value));
      } else if (key == "secrets" || key == "configs") {
        place_.note(node, key + " are left out");
      } else {
        return compose_unknown(place_, node, "a compose file", key,
                               {"name", "services", "networks", "volumes"});
      }
    }
    return {};
  }

  Status read_shared(const std::string& kind, const std::string& name, const YamlNode& node) {
    ComposeShared shared{name, "", false, false};
    for (const auto& [key, value] : node.members) {
      if (key == "external" && value.kind == Kind::kScalar)
        shared.external = value.text == "true";
      else if (key == "name")
        shared.actual = value.text;
      else if (key == "internal" && kind == "networks")
        shared.internal = value.text == "true";
      else if (!key.starts_with("x-"))
        place_.note(value,
                    fmt::format("of {} {}: {} is left out", kind, printable(name), printable(key)));
    }
    if (shared.external && shared.actual.empty()) shared.actual = name;
    // Volumes are those that compose itself would use; networks are the run's own.
    if (kind == "volumes" && shared.actual.empty()) shared.actual = project_.name + "_" + name;
    if (kind == "networks" && !shared.external) shared.actual.clear();
    (kind == "networks" ? project_.networks : project_.volumes).push_back(std::move(shared));
    return {};
  }

  Status add_service(const std::string& name, const YamlNode& node) {
    if (!is_service_name(name))
      return place_.wrong(node, "'" + printable(name) + "' is no name of a service",
                          "letters, digits, dots, dashes and underscores");
    ComposeService service;
    service.name = name;
    TRY(read_service(place_, node, service));
    lines_[name] = &node;
    project_.services.push_back(std::move(service));
    return {};
  }

  [[nodiscard]] bool has_service(const std::string& name) const {
    return lines_.find(name) != lines_.end();
  }

  // Names that stand for others, once all are known.
  Status settle(ComposeService& service) {
    const YamlNode& node = *lines_.at(service.name);
    ContainerRequest& request = service.request;
    if (request.network.starts_with("service:"))
      service.depends_on.push_back({request.network.substr(8)});
    for (const ComposeDependency& dependency : service.depends_on)
      if (!has_service(dependency.service))
        return place_.wrong(node, fmt::format("service {} depends on {}, which is not there",
                                              service.name, printable(dependency.service)));
    for (ContainerMount& mount : request.mounts) {
      if (mount.source.empty() || mount.source.starts_with('/')) continue;
      const auto* volume = find(project_.volumes, mount.source);
      if (volume == nullptr)
        return place_.wrong(node,
                            fmt::format("service {}: volume {} is not among volumes", service.name,
                                        printable(mount.source)),
                            fmt::format("volumes:\n  {}:", printable(mount.source)));
      mount.source = volume->actual;
    }
    if (!request.network.empty()) {
      if (request.networks.empty()) return {};
      return place_.wrong(node, "network_mode and networks exclude each other");
    }
    if (request.networks.empty()) request.networks = {kDefaultNetwork};
    request.aliases.push_back(service.name);
    for (const std::string& network : request.networks) {
      if (find(project_.networks, network) != nullptr) continue;
      if (network != kDefaultNetwork)
        return place_.wrong(node, fmt::format("service {}: network {} is not among networks",
                                              service.name, printable(network)));
      default_used_ = true;
    }
    return {};
  }

  static const ComposeShared* find(const std::vector<ComposeShared>& all, const std::string& name) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const ComposeShared& one) { return one.name == name; });
    return found == all.end() ? nullptr : &*found;
  }

  ComposePlace place_;
  ComposeProject project_;
  std::map<std::string, const YamlNode*> lines_;
  bool default_used_ = false;
};

}  // namespace

Result<std::vector<ComposeService>> in_order(std::vector<ComposeService> services) {
  std::vector<ComposeService> ordered;
  const auto is_there = [&](const ComposeDependency& dependency) {
    return std::any_of(ordered.begin(), ordered.end(), [&](const ComposeService& service) {
      return service.name == dependency.service;
    });
  };
  while (!services.empty()) {
    const auto next =
        std::find_if(services.begin(), services.end(), [&](const ComposeService& service) {
          return std::all_of(service.depends_on.begin(), service.depends_on.end(), is_there);
        });
    if (next == services.end())
      return Error{Code::kInvalid,
                   "services depend on each other in a circle: " + services[0].name + " is in it",
                   "take one of its depends_on out"};
    ordered.push_back(std::move(*next));
    services.erase(next);
  }
  return ordered;
}

Result<ComposeProject> parse_compose(std::string_view text, const std::string& name,
                                     const std::string& folder, const ComposeVariables& variables) {
  auto root = parse_yaml(text);
  if (!root.ok()) return std::move(root).error().within(name);
  return ProjectReader({name, folder, nullptr, &variables}).read(std::move(root).value());
}

Result<ComposeProject> load_compose(const std::string& path) {
  auto text = read_file(path, kMostFileBytes);
  if (!text.ok())
    return std::move(text)
        .error()
        .within("read the compose file")
        .with_hint("--compose names it: docs/formats/compose.md");
  const std::string folder = fs::absolute(path).lexically_normal().parent_path();
  const auto beside = parse_env_file(read_file(folder + "/.env").value_or(""));
  const ComposeVariables variables = [&](const std::string& name) -> std::optional<std::string> {
    if (const char* value = std::getenv(name.c_str()); value != nullptr) return value;
    for (const auto& [known, value] : beside)
      if (known == name) return value;
    return std::nullopt;
  };
  return parse_compose(text.value(), printable(path), folder, variables);
}

}  // namespace fathom
