// SPDX-License-Identifier: Apache-2.0
#include "cli/run_container.h"

#include <unistd.h>

#include <array>
#include <filesystem>

#include "base/log.h"
#include "base/text.h"
#include "launch/container/compose.h"
#include "launch/container/container_request.h"
#include "launch/container/engine.h"
#include "launch/container/instructions.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDataFolder = "/data";
// What only a container can have.
constexpr std::array kContainerFlags = {"instructions", "dataset", "limit", "mount",
                                        "network",      "user",    "gpus",  "docker-arg"};

// FOLDER or FOLDER:/INSIDE, which must be there and readable: a mistyped one would be an empty
// folder inside.
Result<ContainerMount> dataset_from(const std::string& text) {
  ContainerMount mount{text, kDataFolder, true};
  if (const size_t colon = text.rfind(":/"); colon != std::string::npos && colon > 0) {
    mount.source = text.substr(0, colon);
    mount.target = text.substr(colon + 1);
  }
  if (access(mount.source.c_str(), F_OK) != 0)
    return Error{Code::kInvalid, "there is no dataset " + printable(mount.source),
                 "--dataset names a folder or file of this machine"};
  if (access(mount.source.c_str(), R_OK) != 0)
    return errno_error("read the dataset " + printable(mount.source))
        .with_hint("chmod -R a+rX " + shell_quote(mount.source));
  mount.source = fs::absolute(mount.source).lexically_normal();
  if (mount.source.size() > 1 && mount.source.ends_with('/')) mount.source.pop_back();
  return mount;
}

// "registry/team/app:1.2@sha256:…" is app.
std::string name_of(const std::string& image) {
  std::string name = image.substr(0, image.find('@'));
  name = name.substr(name.rfind('/') + 1);
  return name.substr(0, name.find(':'));
}

Status read_instructions(const Arguments& arguments, ContainerRequest& request) {
  if (!arguments.has("instructions")) return {};
  TRY_ASSIGN(Instructions found, load_instructions(arguments.text("instructions")));
  request.script = found.script;
  request.steps = std::move(found.steps);
  for (ContainerMount& mount : found.mounts) request.mounts.push_back(std::move(mount));
  return {};
}

Status read_flags(const Arguments& arguments, ContainerRequest& request) {
  for (const std::string& limit : arguments.texts("limit")) TRY(read_limits(limit, request.limits));
  for (const std::string& mount : arguments.texts("mount")) {
    TRY_ASSIGN(ContainerMount read, read_mount(mount));
    request.mounts.push_back(std::move(read));
  }
  if (arguments.has("dataset")) {
    TRY_ASSIGN(ContainerMount mount, dataset_from(arguments.text("dataset")));
    request.dataset = mount.source;
    request.mounts.push_back(std::move(mount));
  }
  TRY(read_docker_arguments(arguments.texts("docker-arg"), request));
  if (arguments.has("network")) request.network = arguments.text("network");
  if (arguments.has("user")) request.user = arguments.text("user");
  if (arguments.has("gpus")) request.gpus = arguments.text("gpus");
  if (arguments.has("cwd")) request.folder = arguments.text("cwd");
  return read_instructions(arguments, request);
}

}  // namespace

bool wants_container(const Arguments& arguments) {
  return arguments.has("image") || arguments.has("build") || arguments.has("compose");
}

Status check_no_container(const Arguments& arguments) {
  for (const char* flag : kContainerFlags) {
    if (!arguments.has(flag)) continue;
    return Error{Code::kInvalid, std::string("--") + flag + " is for a container",
                 std::string("fathom run --image IMAGE --") + flag + " …"};
  }
  return {};
}

namespace {

// The file says everything; images that are to be built are built first.
Result<RunTarget> compose_target_from(const Arguments& arguments) {
  for (const char* flag : {"image", "build", "cwd", "wait-all"})
    if (arguments.has(flag))
      return Error{Code::kInvalid, std::string("--compose and --") + flag + " exclude each other",
                   "leave out one"};
  for (const char* flag : kContainerFlags)
    if (arguments.has(flag))
      return Error{Code::kInvalid, std::string("--") + flag + " is not for a compose file",
                   "write it into the file: docs/formats/compose.md"};
  if (!arguments.program().empty())
    return Error{Code::kInvalid, "a compose file takes no arguments",
                 "write them into the file: command: …"};
  TRY_ASSIGN(ComposeProject project, load_compose(arguments.text("compose")));
  for (ComposeService& service : project.services) {
    if (!service.build) continue;
    TRY_ASSIGN(Engine engine, Engine::open());
    log_info("building the image of service {}", service.name);
    auto built = engine.build(*service.build);
    if (!built.ok()) return std::move(built).error().within("service " + service.name);
    service.request.image = std::move(built).value();
  }
  RunTarget target;
  target.launcher = find_launcher("compose");
  TRY_ASSIGN(target.request.environment, environment_from(arguments));
  target.name = project.name;
  target.request.command = {"compose", project.name};
  auto request = std::make_shared<ContainerRequest>();
  request->compose = std::make_shared<const ComposeProject>(std::move(project));
  target.request.container = std::move(request);
  return target;
}

}  // namespace

Result<RunTarget> container_target_from(const Arguments& arguments) {
  if (arguments.has("compose")) return compose_target_from(arguments);
  auto request = std::make_shared<ContainerRequest>();
  if (arguments.has("image") && arguments.has("build"))
    return Error{Code::kInvalid, "--image and --build exclude each other", "leave out one"};
  TRY(read_flags(arguments, *request));
  request->image = arguments.text("image");
  request->arguments = arguments.program();
  if (arguments.has("build")) {
    TRY_ASSIGN(Engine engine, Engine::open());
    log_info("building the image of {}", printable(arguments.text("build")));
    TRY_ASSIGN(request->image, engine.build({arguments.text("build"), "", "", {}}));
  }
  if (request->image.empty())
    return Error{Code::kInvalid, "no image to run", "fathom run --image IMAGE"};
  if (arguments.has("wait-all"))
    return Error{Code::kInvalid, "a container ends with its first process; --wait-all cannot wait",
                 "leave it out"};
  RunTarget target;
  target.launcher = find_launcher("container");
  TRY_ASSIGN(target.request.environment, environment_from(arguments));
  target.request.command = {request->image};
  target.request.command.insert(target.request.command.end(), request->arguments.begin(),
                                request->arguments.end());
  target.name = name_of(request->image);
  target.request.container = std::move(request);
  return target;
}

}  // namespace fathom
