// SPDX-License-Identifier: Apache-2.0
#include "cli/run_hub.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/hub_api.h"

namespace fathom {
namespace {

constexpr int64_t kFirstContactNs = 3 * kNsPerSecond;
// After the end of the command: in all, and without progress.
constexpr int64_t kEndNs = 30 * kNsPerSecond, kStalledNs = 5 * kNsPerSecond;

}  // namespace

Result<RunHub> RunHub::from(const Arguments& arguments) {
  RunHub hub;
  if (!arguments.has("hub") && !arguments.has("job")) return hub;
  if (!arguments.has("job"))
    return Error{Code::kInvalid, "--hub goes with a job",
                 "fathom run --hub URL --job 2001 -- COMMAND"};
  TRY_ASSIGN(HubTarget target, hub_target(arguments));
  TRY_ASSIGN(target.job, job_number(arguments.text("job")));
  TRY_ASSIGN(HubApi api, HubApi::connect(target, kFirstContactNs));
  const auto job = api.job(target.job);
  // A wrong job or token is reported before the start; a hub that is down does not prevent it.
  if (!job.ok() && job.error().code != Code::kIo) return job.error();
  if (!job.ok()) {
    log_warning("{}; recording without it", job.error().message);
    log_info("this run is shipped when {} responds, or later by hand", target.url);
  }
  hub.is_away_ = !job.ok();
  hub.token_file_ = arguments.text("token-file");
  hub.target_ = std::move(target);
  return hub;
}

Status RunHub::begin(const std::string& run, const std::string& journal) {
  if (!target_) return {};
  TRY_ASSIGN(shipper_, JournalShipper::start(*target_, run, journal, JournalShipper::Of::kNew));
  return {};
}

bool RunHub::end(const std::string& folder) {
  if (!shipper_) return true;
  // One that was away before, and still is, is not waited for.
  const bool never_there = is_away_ && shipper_->shipped() == 0;
  const auto arrived = shipper_->finish(kEndNs, never_there ? kNsPerSecond : kStalledNs);
  if (arrived.ok()) return true;
  log_warning("not all of this run is on the hub: {}", arrived.error().message);
  log_hint(
      "its journal is kept; ship the rest later: fathom send --hub {} --job {}{} --recording {}",
      shell_quote(target_->url), target_->job,
      token_file_.empty() ? "" : " --token-file " + shell_quote(token_file_), shell_quote(folder));
  return false;
}

}  // namespace fathom
