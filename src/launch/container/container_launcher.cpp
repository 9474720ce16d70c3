// SPDX-License-Identifier: Apache-2.0
#include "launch/container/container_launcher.h"

#include "launch/container/container_target.h"
#include "launch/container/engine.h"

namespace fathom {

Result<std::unique_ptr<Target>> launch_container(const LaunchRequest& request) {
  if (!request.container) return Error{Code::kInternal, "no container was asked for"};
  auto engine = request.container->socket.empty() ? Engine::open()
                                                  : Engine::open_at(request.container->socket);
  if (!engine.ok()) return std::move(engine).error();
  auto target =
      std::make_unique<ContainerTarget>(request, *request.container, std::move(engine).value());
  TRY(target->make());
  TRY(target->begin_start());
  TRY(target->await_hold());
  return std::unique_ptr<Target>(std::move(target));
}

}  // namespace fathom
