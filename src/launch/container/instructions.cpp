// SPDX-License-Identifier: Apache-2.0
#include "launch/container/instructions.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/fd.h"
#include "base/text.h"
#include "base/yaml.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using Kind = YamlNode::Kind;

constexpr size_t kMostSteps = 200, kMostNameBytes = 200;
constexpr int64_t kMostRepeats = 10'000;
constexpr const char* kDataFolder = "/fathom-data";
constexpr std::array<std::string_view, 7> kKeys = {"name",   "command",    "data", "time_limit",
                                                   "repeat", "background", "env"};

// Reads one file; errors name its line.
class StepsReader {
 public:
  StepsReader(std::string name, std::string folder)
      : name_(std::move(name)), folder_(std::move(folder)) {}

  Result<Instructions> read(const YamlNode& root) {
    const YamlNode* list = root.kind == Kind::kMap ? root.find("steps") : &root;
    if (list == nullptr || list->kind != Kind::kList || list->items.empty())
      return wrong(root, "no steps are here", "steps:\n  - name: load\n    command: ./load.sh");
    if (list->items.size() > kMostSteps) return wrong(*list, "these are too many steps", "");
    for (const YamlNode& node : list->items) TRY(read_step(node));
    const auto waited = [](const ContainerStep& step) { return !step.background; };
    if (std::none_of(found_.steps.begin(), found_.steps.end(), waited))
      return wrong(*list, "all steps are in the background, so that nothing is waited for",
                   "add one that says how long it runs, such as: command: sleep 10");
    return std::move(found_);
  }

 private:
  [[nodiscard]] Error wrong(const YamlNode& node, const std::string& why,
                            const std::string& hint) const {
    return Error{Code::kInvalid, fmt::format("{}:{}: {}", name_, node.line, why), hint};
  }

  Status read_step(const YamlNode& node) {
    if (node.kind != Kind::kMap)
      return wrong(node, "a step has a name and a command", "- name: load\n  command: ./load.sh");
    ContainerStep step;
    for (const auto& [key, value] : node.members) {
      if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
        const auto near = closest_match(key, kKeys);
        return wrong(value, "a step has no " + printable(key),
                     near ? "did you mean " + std::string(*near) + "?"
                          : "name, command, data, time_limit, repeat, background, env");
      }
      TRY(read_key(key, value, step));
    }
    if (step.name.empty()) step.name = fmt::format("step {}", found_.steps.size() + 1);
    for (const ContainerStep& other : found_.steps)
      if (other.name == step.name)
        return wrong(node, "two steps are named " + printable(step.name), "name them differently");
    found_.steps.push_back(std::move(step));
    return {};
  }

  Status read_key(std::string_view key, const YamlNode& value, ContainerStep& step) {
    if (key == "command") return read_command(value, step);
    if (key == "env") return read_settings(value, step);
    if (value.kind != Kind::kScalar)
      return wrong(value, std::string(key) + " must be one value", "");
    const std::string& text = value.text;
    if (key == "name") {
      const bool odd = text.find_first_of(std::string_view("\n\r\0", 3)) != std::string::npos;
      if (text.empty() || text.size() > kMostNameBytes || odd)
        return wrong(value, "this is no name", "one line of at most 200 bytes");
      step.name = text;
    } else if (key == "time_limit") {
      const auto limit = parse_duration(text);
      if (!limit.ok() || limit.value() <= 0)
        return wrong(value, "'" + printable(text) + "' is no time limit", "time_limit: 20s");
      step.time_limit_ns = limit.value();
    } else if (key == "repeat") {
      const auto times = parse_number(text);
      if (!times.ok() || times.value() < 1 || times.value() > kMostRepeats)
        return wrong(value, "'" + printable(text) + "' is no number of repetitions", "repeat: 3");
      step.repeat = times.value();
    } else if (key == "background") {
      if (text != "true" && text != "false")
        return wrong(value, "background is true or false", "background: true");
      step.background = text == "true";
    } else {
      return read_data(value, step);
    }
    return {};
  }

  // A text is for a shell, a list is executed as it is.
  Status read_command(const YamlNode& value, ContainerStep& step) {
    if (value.kind == Kind::kScalar && !value.text.empty()) {
      step.command = {"/bin/sh", "-c", value.text};
      return {};
    }
    for (const YamlNode& word : value.items) {
      if (word.kind != Kind::kScalar) return wrong(word, "a command is a list of words", "");
      step.command.push_back(word.text);
    }
    if (!step.command.empty()) return {};
    return wrong(value, "the command is empty", "leave it out to run the image's own");
  }

  Status read_settings(const YamlNode& value, ContainerStep& step) {
    for (const auto& [name, setting] : value.members) {
      const bool odd = name.empty() || name.find('=') != std::string::npos;
      if (odd || setting.kind != Kind::kScalar)
        return wrong(setting, "env has names and values", "env: {BATCH: \"8\"}");
      step.settings.push_back(name + "=" + setting.text);
    }
    return {};
  }

  // PATH or PATH:/INSIDE; a relative path begins where the file is.
  Status read_data(const YamlNode& value, ContainerStep& step) {
    ContainerMount mount{value.text, "", true};
    if (const size_t colon = value.text.rfind(":/"); colon != std::string::npos && colon > 0) {
      mount.source = value.text.substr(0, colon);
      mount.target = value.text.substr(colon + 1);
    }
    mount.source = (fs::path(folder_) / mount.source).lexically_normal();
    if (access(mount.source.c_str(), R_OK) != 0)
      return wrong(value, "cannot read the data " + printable(mount.source),
                   "it is a path from the folder of this file");
    if (mount.target.empty())
      mount.target = fmt::format("{}/{}", kDataFolder, found_.steps.size() + 1);
    step.data = mount.target;
    found_.mounts.push_back(std::move(mount));
    return {};
  }

  std::string name_, folder_;
  Instructions found_;
};

}  // namespace

Result<Instructions> parse_steps(std::string_view text, const std::string& name,
                                 const std::string& folder) {
  auto root = parse_yaml(text);
  if (!root.ok()) return std::move(root).error().within(name);
  return StepsReader(name, folder).read(root.value());
}

Result<Instructions> load_instructions(const std::string& path) {
  const std::string name = printable(path);
  auto text = read_file(path, size_t{1} << 20);
  if (!text.ok())
    return std::move(text)
        .error()
        .within("read the instructions")
        .with_hint("--instructions names a script or a file of steps: docs/formats/steps.md");
  const fs::path whole = fs::absolute(path).lexically_normal();
  const std::string extension = whole.extension();
  if (text.value().starts_with("#!")) {
    if (access(path.c_str(), X_OK) != 0)
      return Error{Code::kInvalid, name + " is not executable", "chmod a+rx " + shell_quote(path)};
    Instructions script;
    script.script = whole;
    return script;
  }
  if (extension == ".yaml" || extension == ".yml" || extension == ".json")
    return parse_steps(text.value(), name, whole.parent_path());
  return Error{Code::kInvalid, name + " is neither a script nor steps",
               "a script begins with #!, and steps are in a file that ends in .yaml"};
}

}  // namespace fathom
