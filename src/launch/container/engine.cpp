// SPDX-License-Identifier: Apache-2.0
#include "launch/container/engine.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "base/fd.h"
#include "base/subprocess.h"
#include "base/text.h"

namespace fathom {
namespace {

constexpr int kMinor = 40;  // of the API: Docker 19.03
constexpr size_t kMostContext = size_t{1} << 30;
constexpr int kPatienceMs = 120'000;  // a start on a busy machine takes a while

std::string name_in(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? std::string() : std::string(value);
}

// 40 of "1.40"; 0: it is none.
int minor_of(std::string_view version) {
  if (!version.starts_with("1.")) return 0;
  return static_cast<int>(parse_number(version.substr(2)).value_or(0));
}

// Why nobody answers there, in the words of somebody who wants to run a container.
Error unreachable(const std::string& socket, const Error& error) {
  if (error.code == Code::kPermission) {
    return Error{Code::kUnsupported, "you may not speak to the container engine at " + socket,
                 "sudo fathom run …, or become a member of its group: sudo usermod -aG docker "
                 "$USER, then log in again"};
  }
  std::string why = error.code == Code::kNotFound ? "there is no " + socket : error.message;
  return Error{Code::kUnsupported, "no container engine answers: " + why,
               fmt::format("start it ({}systemctl start docker, or podman system service --time 0 "
                           "unix:///tmp/podman.sock), or name its socket: DOCKER_HOST=unix:///PATH",
                           geteuid() == 0 ? "" : "sudo ")};
}

// The folder as engines take it.
Result<std::string> tar_of(const std::string& folder, const std::string& dockerfile) {
  std::error_code error;
  if (!std::filesystem::exists(folder + "/" + dockerfile, error))
    return Error{Code::kInvalid, "there is no " + printable(folder) + "/" + printable(dockerfile),
                 "--build, or build: of a compose file, names the folder that holds it"};
  const Fd packed(memfd_create("context", MFD_CLOEXEC));  // goes with us, however we end
  if (!packed.valid()) return errno_error("make room for " + printable(folder));
  const std::string file = fmt::format("/proc/{}/fd/{}", getpid(), packed.get());
  TRY_ASSIGN(const Finished done, run_to_end({"tar", "-C", folder, "-cf", file, "."}));
  if (done.status != 0)
    return Error{Code::kIo, "pack " + printable(folder) + ": " + printable(done.output)};
  return read_file(file, kMostContext);
}

// What an image may be called, of a path's last part.
std::string tag_word(const std::string& folder) {
  std::string word;
  for (const char byte : std::filesystem::absolute(folder).lexically_normal().filename().string()) {
    const bool plain = std::isalnum(static_cast<unsigned char>(byte)) != 0;
    word += plain ? static_cast<char>(std::tolower(byte)) : '-';
  }
  while (word.starts_with('-')) word.erase(0, 1);
  while (word.ends_with('-')) word.pop_back();
  return word.empty() ? "image" : word;
}

}  // namespace

Result<std::string> engine_socket() {
  for (const char* variable : {"DOCKER_HOST", "CONTAINER_HOST"}) {
    const std::string named = name_in(variable);
    if (named.empty()) continue;
    if (named.starts_with("unix://")) return named.substr(7);
    return Error{Code::kUnsupported,
                 fmt::format("{}={} is an engine on another machine, which cannot be watched from "
                             "here",
                             variable, printable(named)),
                 "run fathom on that machine, or unset " + std::string(variable)};
  }
  const std::string home = name_in("XDG_RUNTIME_DIR");
  for (const std::string& usual :
       {std::string("/var/run/docker.sock"), home.empty() ? std::string() : home + "/docker.sock",
        std::string("/run/podman/podman.sock"),
        home.empty() ? std::string() : home + "/podman/podman.sock"}) {
    if (!usual.empty() && access(usual.c_str(), F_OK) == 0) return usual;
  }
  return std::string("/var/run/docker.sock");
}

Engine::Engine(std::string socket, EngineVersion version, std::string api)
    : socket_(std::move(socket)),
      version_(std::move(version)),
      api_(std::move(api)),
      client_(HttpUrl::of_socket(socket_, "/v" + api_), "", kPatienceMs) {}

Engine Engine::again() const { return {socket_, version_, api_}; }

Result<Engine> Engine::open() {
  TRY_ASSIGN(const std::string socket, engine_socket());
  return open_at(socket);
}

Result<Engine> Engine::open_at(const std::string& socket) {
  HttpClient client(HttpUrl::of_socket(socket, ""), "", kPatienceMs);
  auto answer = client.call("GET", "/version");
  if (!answer.ok()) return unreachable(socket, std::move(answer).error());
  if (answer.value().status != 200)
    return Error{Code::kUnsupported,
                 fmt::format("{} answers {} where a container engine tells its "
                             "version",
                             socket, answer.value().status),
                 "DOCKER_HOST=unix:///PATH names an engine's socket"};
  TRY_ASSIGN(EngineVersion version, parse_engine_version(answer.value().body));
  const int most = minor_of(version.api);
  if (most < kMinor) {
    return Error{Code::kUnsupported,
                 fmt::format("{} speaks version {} of its API; 1.{} is the oldest that fathom does",
                             printable(version.name), printable(version.api), kMinor),
                 "Docker 19.03 or later"};
  }
  const int minor = std::max(kMinor, minor_of(version.least_api));
  return Engine(socket, std::move(version), fmt::format("1.{}", minor));
}

Result<HttpAnswer> Engine::ask(std::string_view method, const std::string& path,
                               std::string_view body) {
  const bool has_body = method == "POST";
  auto answer = client_.call(method, path, has_body ? "application/json" : "", body);
  if (!answer.ok()) return unreachable(socket_, std::move(answer).error());
  return answer;
}

Error Engine::refused(std::string_view doing, const HttpAnswer& answer) const {
  std::string why = parse_engine_text(answer.body, "message");
  if (why.empty()) why = parse_engine_text(answer.body, "cause");
  if (why.empty()) why = fmt::format("it answers {}", answer.status);
  return Error{Code::kUnsupported, fmt::format("{}: {}", doing, printable(why)),
               hint_for_refusal(why)};
}

Result<std::string> Engine::cgroup_driver() {
  TRY_ASSIGN(const HttpAnswer answer, ask("GET", "/info"));
  if (answer.status != 200) return refused("ask the engine about itself", answer);
  return parse_engine_text(answer.body, "CgroupDriver");
}

Result<EngineImage> Engine::image(const std::string& name) {
  TRY_ASSIGN(const HttpAnswer answer, ask("GET", "/images/" + url_quote(name) + "/json"));
  if (answer.status == 200) return parse_engine_image(answer.body);
  if (answer.status != 404) return refused("look at image " + printable(name), answer);
  const char* tool = is_podman() ? "podman" : "docker";
  return Error{Code::kInvalid, "there is no image " + printable(name) + " on this machine",
               fmt::format("{0} pull {1}, or build it: fathom run --build DIR …; {0} images lists "
                           "what is there",
                           tool, shell_quote(name))};
}

Result<std::string> Engine::build(const ImageBuild& build) {
  TRY_ASSIGN(const std::string context,
             tar_of(build.folder, build.file.empty() ? "Dockerfile" : build.file));
  std::string tag = "fathom-build-" + tag_word(build.folder);
  for (const std::string& part : {build.file, build.target})
    if (!part.empty()) tag += "-" + tag_word(part);
  std::string query = "/build?rm=1&forcerm=1&t=" + url_quote(tag);
  if (!build.file.empty()) query += "&dockerfile=" + url_quote(build.file);
  if (!build.target.empty()) query += "&target=" + url_quote(build.target);
  std::string arguments;
  for (const auto& [name, value] : build.arguments)
    arguments +=
        fmt::format("{}{}:{}", arguments.empty() ? "" : ",", json_quote(name), json_quote(value));
  if (!arguments.empty()) query += "&buildargs=" + url_quote("{" + arguments + "}");
  auto answer = client_.call("POST", query, "application/x-tar", context);
  if (!answer.ok()) return unreachable(socket_, std::move(answer).error());
  const std::string folder = printable(build.folder);
  if (answer.value().status != 200) return refused("build " + folder, answer.value());
  const std::string why = parse_build_error(answer.value().body);
  if (!why.empty())
    return Error{Code::kInvalid, "build " + folder + ": " + printable(why),
                 "docker build " + shell_quote(build.folder) + " shows all it says"};
  return tag;
}

Result<std::string> Engine::create(const std::string& name, const std::string& body) {
  const std::string query = name.empty() ? "" : "?name=" + url_quote(name);
  TRY_ASSIGN(const HttpAnswer answer, ask("POST", "/containers/create" + query, body));
  if (answer.status == 201) return parse_engine_text(answer.body, "Id");
  Error error = refused("make a container", answer);
  if (answer.status == 409)
    error.hint = "another container has that name: docker rm " + shell_quote(name);
  return error;
}

Status Engine::start(const std::string& id) {
  TRY_ASSIGN(const HttpAnswer answer, ask("POST", "/containers/" + id + "/start"));
  if (answer.status == 204 || answer.status == 304) return {};
  return refused("start the container", answer);
}

Result<int64_t> Engine::wait(const std::string& id) {
  TRY_ASSIGN(const HttpAnswer answer, ask("POST", "/containers/" + id + "/wait"));
  if (answer.status != 200) return refused("wait for the container", answer);
  return parse_engine_number(answer.body, "StatusCode");
}

Status Engine::kill(const std::string& id, int signal_number) {
  TRY_ASSIGN(const HttpAnswer answer,
             ask("POST", fmt::format("/containers/{}/kill?signal={}", id, signal_number)));
  if (answer.status == 204 || answer.status == 409) return {};  // 409: it does not run
  return refused("signal the container", answer);
}

Status Engine::remove(const std::string& id) {
  TRY_ASSIGN(const HttpAnswer answer, ask("DELETE", "/containers/" + id + "?force=1&v=1"));
  if (answer.status == 204 || answer.status == 200 || answer.status == 404) return {};
  if (answer.status == 409) return {};  // its removal is under way
  return refused("remove the container", answer);
}

Result<EngineContainer> Engine::inspect(const std::string& name) {
  TRY_ASSIGN(const HttpAnswer answer, ask("GET", "/containers/" + url_quote(name) + "/json"));
  if (answer.status == 200) return parse_engine_container(answer.body);
  if (answer.status != 404) return refused("look at container " + printable(name), answer);
  return Error{Code::kNotFound, "there is no container " + printable(name),
               is_podman() ? "podman ps lists them" : "docker ps lists them"};
}

Result<std::vector<EngineContainer>> Engine::labelled(std::string_view label) {
  const std::string filters = fmt::format("{{\"label\":[{}]}}", json_quote(label));
  TRY_ASSIGN(const HttpAnswer answer,
             ask("GET", "/containers/json?all=1&filters=" + url_quote(filters)));
  if (answer.status != 200) return refused("list containers", answer);
  return parse_engine_list(answer.body);
}

}  // namespace fathom
