// SPDX-License-Identifier: Apache-2.0
// What several containers of a run share, and what killed recorders left.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "base/proc.h"
#include "base/text.h"
#include "launch/container/engine.h"

namespace fathom {
namespace {

std::string labels_json(const std::string& run) {
  return fmt::format("{{{}: {}, {}: {}}}", json_quote(kRunLabel), json_quote(run),
                     json_quote(kRecorderLabel), json_quote(recorder_mark()));
}

}  // namespace

Result<std::string> Engine::create_network(const std::string& name, const std::string& run,
                                           bool internal) {
  const std::string body = fmt::format(
      "{{\"Name\": {}, \"Driver\": \"bridge\", \"CheckDuplicate\": true, "
      "\"Internal\": {}, \"Labels\": {}}}",
      json_quote(name), internal ? "true" : "false", labels_json(run));
  TRY_ASSIGN(const HttpAnswer answer, ask("POST", "/networks/create", body));
  if (answer.status == 201) return parse_engine_text(answer.body, "Id");
  return refused("make a network", answer)
      .with_hint("network_mode: none or host does without one of its own");
}

Status Engine::connect(const std::string& network, const std::string& container,
                       const std::vector<std::string>& aliases) {
  std::string names;
  for (const std::string& alias : aliases) names += (names.empty() ? "" : ", ") + json_quote(alias);
  const std::string body =
      fmt::format("{{\"Container\": {}, \"EndpointConfig\": {{\"Aliases\": [{}]}}}}",
                  json_quote(container), names);
  TRY_ASSIGN(const HttpAnswer answer,
             ask("POST", "/networks/" + url_quote(network) + "/connect", body));
  if (answer.status == 200) return {};
  return refused("connect the container to network " + printable(network), answer);
}

Status Engine::remove_network(const std::string& id) {
  TRY_ASSIGN(const HttpAnswer answer, ask("DELETE", "/networks/" + url_quote(id)));
  if (answer.status == 204 || answer.status == 200 || answer.status == 404) return {};
  return refused("remove the network", answer);
}

Result<bool> Engine::has_volume(const std::string& name) {
  TRY_ASSIGN(const HttpAnswer answer, ask("GET", "/volumes/" + url_quote(name)));
  if (answer.status == 200) return true;
  if (answer.status == 404) return false;
  return refused("look at volume " + printable(name), answer);
}

Status Engine::create_volume(const std::string& name, const std::string& run) {
  const std::string body =
      fmt::format("{{\"Name\": {}, \"Labels\": {}}}", json_quote(name), labels_json(run));
  TRY_ASSIGN(const HttpAnswer answer, ask("POST", "/volumes/create", body));
  if (answer.status == 201) return {};
  return refused("make volume " + printable(name), answer);
}

Status Engine::remove_volume(const std::string& name) {
  TRY_ASSIGN(const HttpAnswer answer, ask("DELETE", "/volumes/" + url_quote(name) + "?force=1"));
  if (answer.status == 204 || answer.status == 200 || answer.status == 404) return {};
  return refused("remove volume " + printable(name), answer);
}

Result<std::vector<EngineShared>> Engine::labelled_shared(std::string_view label) {
  const std::string filters = url_quote(fmt::format("{{\"label\":[{}]}}", json_quote(label)));
  TRY_ASSIGN(const HttpAnswer networks, ask("GET", "/networks?filters=" + filters));
  if (networks.status != 200) return refused("list networks", networks);
  TRY_ASSIGN(const HttpAnswer volumes, ask("GET", "/volumes?filters=" + filters));
  if (volumes.status != 200) return refused("list volumes", volumes);
  return parse_engine_shared(networks.body, volumes.body);
}

std::string recorder_mark() {
  const auto stat = read_proc_stat("/proc/self");
  return fmt::format("{}-{}", getpid(), stat.ok() ? stat.value().start_ticks : 0);
}

namespace {

bool recorder_lives(const std::string& mark) {
  const size_t dash = mark.find('-');
  const auto pid = parse_number(mark.substr(0, dash));
  if (!pid.ok() || dash == std::string::npos) return false;
  const auto stat = read_proc_stat(proc_folder(pid.value()));
  return stat.ok() && std::to_string(stat.value().start_ticks) == mark.substr(dash + 1);
}

}  // namespace

EngineLeftovers leftovers_of_engine() {
  EngineLeftovers left;
  auto opened = Engine::open();
  if (!opened.ok()) return left;
  const auto engine = std::make_shared<Engine>(std::move(opened).value());
  auto containers = engine->labelled(kRunLabel);
  if (!containers.ok()) {
    left.failed.push_back(std::move(containers).error());
    return left;
  }
  for (const EngineContainer& container : containers.value()) {
    if (recorder_lives(container.label(kRecorderLabel))) continue;
    left.found.push_back(
        {fmt::format("container {} ({})", printable(container.name), container.id.substr(0, 12)),
         container.id, [engine, id = container.id] { return engine->remove(id); }});
  }
  auto shared_left = engine->labelled_shared(kRunLabel);
  if (!shared_left.ok()) {
    left.failed.push_back(std::move(shared_left).error());
    return left;
  }
  for (const EngineShared& shared : shared_left.value()) {
    if (recorder_lives(shared.recorder)) continue;
    left.found.push_back(
        {(shared.volume ? "volume " : "network ") + printable(shared.name), "", [engine, shared] {
           return shared.volume ? engine->remove_volume(shared.name)
                                : engine->remove_network(shared.name);
         }});
  }
  return left;
}

}  // namespace fathom
