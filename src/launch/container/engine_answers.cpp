// SPDX-License-Identifier: Apache-2.0
#include "launch/container/engine_answers.h"

#include <simdjson.h>

#include "base/simdjson.h"
#include "base/text.h"

namespace fathom {
namespace {

namespace dom = simdjson::dom;
using Found = simdjson::simdjson_result<dom::element>;

std::string text_of(const Found& element) {
  std::string_view text;
  return element.get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

int64_t number_of(const Found& element) {
  int64_t number = 0;
  return element.get(number) == simdjson::SUCCESS ? number : 0;
}

bool truth_of(const Found& element) {
  bool truth = false;
  return element.get(truth) == simdjson::SUCCESS && truth;
}

std::vector<std::string> texts_of(const Found& element) {
  std::vector<std::string> texts;
  dom::array array;
  std::string_view one;
  if (element.get(one) == simdjson::SUCCESS) texts.emplace_back(one);  // Podman's short form
  if (element.get(array) != simdjson::SUCCESS) return texts;
  for (const dom::element each : array)
    if (each.get(one) == simdjson::SUCCESS) texts.emplace_back(one);
  return texts;
}

Error senseless() {
  return Error{Code::kCorrupt, "the container engine's answer makes no sense",
               "is it Docker 19.03 or later, or Podman's service?"};
}

Result<dom::element> parsed(dom::parser& parser, std::string_view json) {
  TRY(load_simdjson());
  dom::element document;
  if (parser.parse(json.data(), json.size()).get(document) != simdjson::SUCCESS) return senseless();
  return document;
}

EngineContainer container_of(const dom::element& root) {
  EngineContainer found;
  found.id = text_of(root["Id"]);
  found.name = text_of(root["Name"]);
  if (found.name.empty()) {
    if (const auto names = texts_of(root["Names"]); !names.empty()) found.name = names[0];
  }
  if (found.name.starts_with('/')) found.name.erase(0, 1);
  found.image = text_of(root["Image"]);
  const Found state = root["State"];
  found.running = truth_of(state["Running"]) || text_of(state) == "running";
  found.oom_killed = truth_of(state["OOMKilled"]);
  found.pid = number_of(state["Pid"]);
  found.exit_code = number_of(state["ExitCode"]);
  found.health = text_of(state["Health"]["Status"]);
  found.cgroup_parent = text_of(root["HostConfig"]["CgroupParent"]);
  dom::array mounts;
  if (root["Mounts"].get(mounts) == simdjson::SUCCESS) {
    for (const dom::element mount : mounts) {
      found.mounts.push_back({text_of(mount["Type"]), text_of(mount["Name"]),
                              text_of(mount["Source"]), text_of(mount["Destination"])});
    }
  }
  dom::object labels;
  if (root["Labels"].get(labels) != simdjson::SUCCESS &&
      root["Config"]["Labels"].get(labels) != simdjson::SUCCESS)
    return found;
  for (const dom::key_value_pair label : labels)
    found.labels.push_back({std::string(label.key), text_of(Found(dom::element(label.value)))});
  return found;
}

}  // namespace

std::string EngineContainer::label(std::string_view wanted) const {
  for (const Label& label : labels)
    if (label.name == wanted) return label.value;
  return {};
}

Result<EngineVersion> parse_engine_version(std::string_view json) {
  dom::parser parser;
  TRY_ASSIGN(const dom::element root, parsed(parser, json));
  EngineVersion version{text_of(root["ApiVersion"]), text_of(root["MinAPIVersion"]), ""};
  if (version.api.empty()) return senseless();
  version.name = "Docker " + text_of(root["Version"]);
  dom::array parts;
  if (root["Components"].get(parts) != simdjson::SUCCESS) return version;
  for (const dom::element part : parts) {
    const std::string name = text_of(part["Name"]);
    if (name.starts_with("Podman")) version.name = name + " " + text_of(part["Version"]);
  }
  return version;
}

Result<EngineImage> parse_engine_image(std::string_view json) {
  dom::parser parser;
  TRY_ASSIGN(const dom::element root, parsed(parser, json));
  EngineImage image;
  image.id = text_of(root["Id"]);
  if (image.id.empty()) return senseless();
  const auto digests = texts_of(root["RepoDigests"]);
  image.digest = digests.empty() ? image.id : digests[0];
  const Found config = root["Config"];
  image.entrypoint = texts_of(config["Entrypoint"]);
  image.command = texts_of(config["Cmd"]);
  image.environment = texts_of(config["Env"]);
  image.user = text_of(config["User"]);
  image.folder = text_of(config["WorkingDir"]);
  return image;
}

Result<EngineContainer> parse_engine_container(std::string_view json) {
  dom::parser parser;
  TRY_ASSIGN(const dom::element root, parsed(parser, json));
  EngineContainer found = container_of(root);
  if (found.id.empty()) return senseless();
  return found;
}

Result<std::vector<EngineContainer>> parse_engine_list(std::string_view json) {
  dom::parser parser;
  TRY_ASSIGN(const dom::element root, parsed(parser, json));
  dom::array list;
  if (root.get(list) != simdjson::SUCCESS) return senseless();
  std::vector<EngineContainer> found;
  for (const dom::element each : list) found.push_back(container_of(each));
  return found;
}

Result<std::vector<EngineShared>> parse_engine_shared(std::string_view networks,
                                                      std::string_view volumes) {
  std::vector<EngineShared> found;
  const auto add = [&found](const Found& list, bool volume) {
    dom::array array;
    if (list.get(array) != simdjson::SUCCESS) return;
    for (const dom::element each : array)
      found.push_back({text_of(each["Name"]), text_of(each["Labels"]["fathom.recorder"]), volume});
  };
  dom::parser parser;
  TRY_ASSIGN(const dom::element first, parsed(parser, networks));
  add(Found(dom::element(first)), false);
  TRY_ASSIGN(const dom::element second, parsed(parser, volumes));
  add(second["Volumes"], true);
  return found;
}

std::string parse_engine_text(std::string_view json, std::string_view member) {
  dom::parser parser;
  const auto root = parsed(parser, json);
  return root.ok() ? text_of(root.value()[member]) : std::string();
}

int64_t parse_engine_number(std::string_view json, std::string_view member) {
  dom::parser parser;
  const auto root = parsed(parser, json);
  return root.ok() ? number_of(root.value()[member]) : 0;
}

std::string hint_for_refusal(std::string_view why) {
  const auto says = [why](std::string_view words) {
    return why.find(words) != std::string_view::npos;
  };
  if (says("[[gpu]]") || (says("untime") && says("nvidia")))
    return "the engine has no GPUs to give: nvidia-smi says whether the driver is there, "
           "nvidia-ctk runtime configure makes them known to the engine, which is then started "
           "anew";
  if (says("network ") && says(" not found")) return "docker network ls lists what is there";
  return {};
}

std::string parse_build_error(std::string_view lines) {
  for (const std::string_view line : split_words(lines, '\n')) {
    if (std::string error = parse_engine_text(line, "error"); !error.empty()) return error;
  }
  return {};
}

}  // namespace fathom
