// SPDX-License-Identifier: Apache-2.0
// What a service's keys are made of: texts, settings, volumes, resources, health.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/clock.h"
#include "base/text.h"
#include "launch/container/compose_reader.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using Kind = YamlNode::Kind;
using Settings = std::vector<std::pair<std::string, std::string>>;

bool is_path(const std::string& source) {
  return source.starts_with('/') || source.starts_with('.') || source.starts_with('~');
}

Result<ContainerMount> long_volume(const ComposePlace& place, const YamlNode& node) {
  ContainerMount mount;
  std::string type;
  for (const auto& [key, value] : node.members) {
    if (key == "type") {
      type = value.text;
    } else if (key == "source") {
      mount.source = value.text;
    } else if (key == "target") {
      mount.target = value.text;
    } else if (key == "read_only") {
      mount.read_only = value.text == "true";
    } else if (key == "bind" || key == "volume" || key == "tmpfs" || key == "consistency") {
      place.note(value, "of a volume " + key + " is left out");
    } else {
      return compose_unknown(place, value, "a volume", key,
                             {"type", "source", "target", "read_only"});
    }
  }
  if (type != "bind" && type != "volume" && type != "tmpfs")
    return place.wrong(node, "a volume has a type", "type: bind, volume or tmpfs");
  if (type == "tmpfs") mount.source.clear();
  mount.anonymous = type == "volume" && mount.source.empty();
  return mount;
}

Result<ContainerMount> short_volume(const ComposePlace& place, const YamlNode& node) {
  ContainerMount mount;
  const size_t colon = node.text.find(":/");
  if (colon == std::string::npos || colon == 0) {
    mount.target = node.text;
    mount.anonymous = true;
    return mount;
  }
  mount.source = node.text.substr(0, colon);
  mount.target = node.text.substr(colon + 1);
  const size_t options = mount.target.find(':');
  if (options == std::string::npos) return mount;
  for (const std::string_view option :
       split_words(std::string_view(mount.target).substr(options + 1), ',')) {
    if (option == "ro")
      mount.read_only = true;
    else if (option != "rw" && option != "z" && option != "Z")
      return place.wrong(node, "'" + printable(option) + "' is no option of a volume", "ro or rw");
  }
  mount.target.resize(options);
  return mount;
}

Status read_devices(const ComposePlace& place, const YamlNode& node, ComposeService& service) {
  for (const YamlNode& device : node.items) {
    const YamlNode* count = device.find("count");
    const YamlNode* ids = device.find("device_ids");
    if (ids != nullptr) {
      TRY_ASSIGN(const auto names, compose_texts(place, *ids, "device_ids"));
      service.request.gpus = "device=" + join(names, ",");
    } else {
      service.request.gpus = count == nullptr ? "all" : count->text;
    }
  }
  return {};
}

Status read_resources(const ComposePlace& place, const YamlNode& node, ComposeService& service) {
  for (const auto& [key, value] : node.members) {
    for (const auto& [name, amount] : value.members) {
      const bool limits = key == "limits";
      if (key == "reservations" && name == "devices") {
        TRY(read_devices(place, amount, service));
      } else if (limits && (name == "cpus" || name == "memory" || name == "pids")) {
        Status read = read_limits(name + "=" + amount.text, service.request.limits);
        if (!read.ok()) return place.wrong(amount, read.error().message, read.error().hint);
      } else if (key == "reservations" && (name == "cpus" || name == "memory")) {
        place.note(amount, "a reservation of " + name + " is left out");
      } else {
        return compose_unknown(place, amount, "deploy.resources." + printable(key), name,
                               {"cpus", "memory", "pids", "devices"});
      }
    }
  }
  return {};
}

// ns, as the engine wants it.
Result<std::string> health_time(const ComposePlace& place, const YamlNode& node) {
  const auto time = parse_duration(node.text);
  if (!time.ok()) return place.wrong(node, "this is no duration", "30s");
  return std::to_string(std::max<int64_t>(time.value(), kNsPerMs));
}

}  // namespace

Error ComposePlace::wrong(const YamlNode& node, const std::string& why,
                          const std::string& hint) const {
  return Error{Code::kInvalid, fmt::format("{}:{}: {}", file, node.line, why), hint};
}

void ComposePlace::note(const YamlNode& node, const std::string& what) const {
  notes->push_back(fmt::format("{}:{}: {}", file, node.line, what));
}

Error compose_unknown(const ComposePlace& place, const YamlNode& node, std::string_view where,
                      std::string_view key, const std::vector<std::string_view>& known) {
  const auto near = closest_match(key, known);
  std::string all;
  for (const std::string_view each : known) all += (all.empty() ? "" : ", ") + std::string(each);
  return place.wrong(node, fmt::format("{} has no {}", where, printable(key)),
                     near ? "did you mean " + std::string(*near) + "?" : "known are: " + all);
}

Result<std::string> compose_text(const ComposePlace& place, const YamlNode& node,
                                 std::string_view key) {
  if (node.kind == Kind::kScalar) return node.text;
  return place.wrong(node, std::string(key) + " must be one value");
}

Result<std::vector<std::string>> compose_texts(const ComposePlace& place, const YamlNode& node,
                                               std::string_view key) {
  if (node.kind == Kind::kScalar) return std::vector<std::string>{node.text};
  std::vector<std::string> texts;
  for (const YamlNode& item : node.items) {
    TRY_ASSIGN(std::string text, compose_text(place, item, key));
    texts.push_back(std::move(text));
  }
  if (node.kind == Kind::kMap) return place.wrong(node, std::string(key) + " must be a list");
  return texts;
}

Result<Settings> compose_settings(const ComposePlace& place, const YamlNode& node,
                                  std::string_view key) {
  Settings settings;
  const auto add = [&](const std::string& name, std::optional<std::string> value) {
    if (!value) value = (*place.variables)(name);
    if (value) settings.emplace_back(name, *value);
  };
  for (const auto& [name, value] : node.members) {
    if (name.empty() || name.find('=') != std::string::npos)
      return place.wrong(value, std::string(key) + " has names and values");
    TRY_ASSIGN(const std::string text, compose_text(place, value, key));
    add(name, text.empty() ? std::nullopt : std::optional(text));
    if (text.empty() && !(*place.variables)(name)) settings.emplace_back(name, "");
  }
  for (const YamlNode& item : node.items) {
    TRY_ASSIGN(const std::string text, compose_text(place, item, key));
    const size_t equals = text.find('=');
    if (text.empty() || equals == 0)
      return place.wrong(item, std::string(key) + " has names and values", "NAME=VALUE");
    add(text.substr(0, equals),
        equals == std::string::npos ? std::nullopt : std::optional(text.substr(equals + 1)));
  }
  if (node.kind == Kind::kScalar && !node.text.empty())
    return place.wrong(node, std::string(key) + " has names and values", "NAME: VALUE");
  return settings;
}

Status read_volumes(const ComposePlace& place, const YamlNode& node, ComposeService& service) {
  for (const YamlNode& item : node.items) {
    TRY_ASSIGN(ContainerMount mount,
               item.kind == Kind::kMap ? long_volume(place, item) : short_volume(place, item));
    if (!mount.target.starts_with('/') || mount.target.size() < 2)
      return place.wrong(item, "a volume needs a place inside", "SOURCE:/TARGET");
    if (is_path(mount.source)) {
      if (mount.source.starts_with('~'))
        mount.source = (*place.variables)("HOME").value_or("") + mount.source.substr(1);
      mount.source = (fs::path(place.folder) / mount.source).lexically_normal();
      std::error_code error;
      if (!fs::exists(mount.source, error))
        return place.wrong(item, printable(mount.source) + " does not exist",
                           "a mistyped folder would be an empty one inside");
    }
    service.request.mounts.push_back(std::move(mount));
  }
  return {};
}

Status read_deploy(const ComposePlace& place, const YamlNode& node, ComposeService& service) {
  for (const auto& [key, value] : node.members) {
    if (key == "resources")
      TRY(read_resources(place, value, service));
    else
      place.note(value, "service " + printable(service.name) + ": deploy." + printable(key) +
                            " is left out");
  }
  return {};
}

Status read_healthcheck(const ComposePlace& place, const YamlNode& node, ComposeService& service) {
  std::string json;
  const auto add = [&json](std::string_view name, const std::string& value) {
    json += fmt::format("{}{}: {}", json.empty() ? "" : ", ", json_quote(name), value);
  };
  for (const auto& [key, value] : node.members) {
    if (key == "test" || key == "disable") {
      std::vector<std::string> words = {"NONE"};
      if (key == "test" && value.kind == Kind::kScalar) words = {"CMD-SHELL", value.text};
      if (key == "test" && value.kind != Kind::kScalar) {
        TRY_ASSIGN(words, compose_texts(place, value, key));
      }
      std::string list;
      for (const std::string& word : words) list += (list.empty() ? "" : ", ") + json_quote(word);
      if (key == "test" || value.text == "true") add("Test", "[" + list + "]");
    } else if (key == "interval" || key == "timeout" || key == "start_period") {
      TRY_ASSIGN(const std::string time, health_time(place, value));
      add(key == "interval" ? "Interval" : key == "timeout" ? "Timeout" : "StartPeriod", time);
    } else if (key == "retries") {
      const auto times = parse_number(value.text);
      if (!times.ok() || times.value() < 0) return place.wrong(value, "this is no number");
      add("Retries", std::to_string(times.value()));
    } else if (key == "start_interval") {
      place.note(value, "healthcheck.start_interval is left out");
    } else {
      return compose_unknown(place, value, "healthcheck", key,
                             {"test", "interval", "timeout", "retries", "start_period", "disable"});
    }
  }
  if (!json.empty()) service.request.health = "{" + json + "}";
  return {};
}

}  // namespace fathom
