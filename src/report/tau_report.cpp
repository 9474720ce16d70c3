// SPDX-License-Identifier: Apache-2.0
#include "report/tau_report.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/fd.h"
#include "report/tau_profile.h"

namespace fathom {

Status write_tau_table(const Recording& recording, const ReportOptions& options) {
  TRY_ASSIGN(const std::vector<TauThread> threads, load_tau_profile(recording));
  TRY(print_to(options.out, "Reading Profile files in profile.*\n"));
  for (const TauThread& thread : threads) TRY(print_to(options.out, tau_table(thread)));
  return {};
}

Status write_tau_files(const Recording& recording, const std::string& folder) {
  TRY_ASSIGN(const std::vector<TauThread> threads, load_tau_profile(recording));
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  for (const TauThread& thread : threads) {
    TRY(write_file(fmt::format("{}/profile.{}.0.{}", folder, thread.node, thread.thread),
                   tau_file(thread)));
  }
  return {};
}

}  // namespace fathom
