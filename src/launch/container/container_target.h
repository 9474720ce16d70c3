// SPDX-License-Identifier: Apache-2.0
// One container that is made, held before its first instruction, watched and removed: a target, or
// one of several that compose_launcher.cpp puts together. Belongs to the recorder's thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "launch/container/container_request.h"
#include "launch/container/engine.h"
#include "launch/container/hold_channel.h"
#include "launch/container/step_runner.h"
#include "launch/launcher.h"

namespace fathom {

class ContainerStart;

class ContainerTarget final : public Target {
 public:
  ContainerTarget(const LaunchRequest& launch, ContainerRequest request, Engine engine);
  ~ContainerTarget() override;
  ContainerTarget(const ContainerTarget&) = delete;
  ContainerTarget& operator=(const ContainerTarget&) = delete;

  // It is to be counted below this cgroup of ours, which goes with it. Before make().
  void place_in(Cgroup cgroup);
  Status make();
  Status begin_start();
  Status await_hold();
  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] const ContainerRequest& request() const { return request_; }
  [[nodiscard]] Cgroup* own_cgroup() { return cgroup_ ? &*cgroup_ : nullptr; }

  [[nodiscard]] int64_t pid() const override { return hold_->pid(); }
  [[nodiscard]] const Cgroup* cgroup() const override { return cgroup_ ? &*cgroup_ : nullptr; }
  [[nodiscard]] Scope scope() const override {
    return {.kind = Scope::Kind::kTree,
            .roots = {pid()},
            .attached = false,
            .reaped = false,
            .title = {}};
  }
  Status go() override;
  [[nodiscard]] int event_fd() const override { return events_.get(); }
  std::vector<Departure> departures() override;
  [[nodiscard]] bool lost() const override { return false; }
  std::vector<StepEvent> step_events() override {
    return steps_ ? steps_->take_events() : std::vector<StepEvent>();
  }
  [[nodiscard]] TargetFacts facts() const override { return facts_; }
  [[nodiscard]] std::vector<TargetPart> parts() const override;
  std::string end_note() override;
  void signal(int number) override;
  void finish() override;

 private:
  Status make_cgroup();
  [[nodiscard]] std::vector<ContainerMount> own_mounts(const std::string& hold_program) const;
  [[nodiscard]] std::vector<std::string> environment_for(const EngineImage& image) const;
  Status note_volumes();
  Status watch(int fd) const;
  void note_libraries(int32_t found);
  [[nodiscard]] bool killed_for_memory() const;
  [[nodiscard]] Error start_failure(const fathom_hold_message& failed) const;

  LaunchRequest launch_;
  ContainerRequest request_;
  Engine engine_;
  std::string id_;
  std::vector<std::string> command_;  // what the image, or the script, executes
  std::unique_ptr<HoldChannel> hold_;
  std::unique_ptr<ContainerStart> starting_;
  std::unique_ptr<StepRunner> steps_;
  std::optional<Cgroup> cgroup_;
  bool own_cgroup_ = false;
  Fd pidfd_, events_;
  TargetFacts facts_;
  bool departed_ = false, out_of_memory_ = false;
};

}  // namespace fathom
