// SPDX-License-Identifier: Apache-2.0
#include "cli/run_hub.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/log.h"
#include "cli/hub_api.h"

namespace fathom {

Result<RunHub> RunHub::from(const Arguments& arguments) {
  RunHub hub;
  if (!arguments.has("hub") && !arguments.has("job")) return hub;
  if (!arguments.has("job"))
    return Error{Code::kInvalid, "--hub goes with a job",
                 "fathom run --hub URL --job 2001 -- COMMAND"};
  TRY_ASSIGN(HubTarget target, hub_target(arguments));
  TRY_ASSIGN(target.job, job_number(arguments.text("job")));
  TRY_ASSIGN(HubApi api, HubApi::connect(target));
  TRY(api.job(target.job));
  hub.target_ = std::move(target);
  return hub;
}

Status RunHub::begin(const std::string& run, const std::string& journal) {
  if (!target_) return {};
  TRY_ASSIGN(shipper_, JournalShipper::start(*target_, run, journal));
  return {};
}

bool RunHub::end(const std::string& folder) {
  if (!shipper_) return true;
  const auto arrived = shipper_->finish(10 * kNsPerSecond);
  if (arrived.ok()) return true;
  log_warning("not all of this run is on the hub: {}", arrived.error().message);
  log_hint("the journal is kept: fathom send --hub {} --job {} --recording {}", target_->url,
           target_->job, folder);
  return false;
}

}  // namespace fathom
