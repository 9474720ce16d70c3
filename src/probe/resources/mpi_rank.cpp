// SPDX-License-Identifier: Apache-2.0
#include "probe/resources/mpi_rank.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "base/fd.h"

namespace fathom {
namespace {

using namespace std::string_view_literals;

constexpr size_t kMostEnvironment = size_t{1} << 20;
constexpr std::array kStarters = {
    "mpirun"sv, "mpiexec"sv, "mpiexec.hydra"sv,   "orterun"sv,   "prterun"sv,    "orted"sv,
    "prted"sv,  "prun"sv,    "hydra_pmi_proxy"sv, "srun"sv,      "slurmstepd"sv, "flux-shell"sv,
    "palsd"sv,  "aprun"sv,   "hydra_bstrap_pr"sv, "mpirun_rsh"sv};
// Open MPI; PMIx; MPICH and Intel MPI; MVAPICH; Cray; Flux; Slurm, which says it of all its tasks.
constexpr std::array kVariables = {"OMPI_COMM_WORLD_RANK="sv, "PMIX_RANK="sv,   "PMI_RANK="sv,
                                   "MV2_COMM_WORLD_RANK="sv,  "PALS_RANKID="sv, "FLUX_TASK_RANK="sv,
                                   "SLURM_PROCID="sv};

Maybe number_of(std::string_view text) {
  int64_t rank = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (error != std::errc() || stop != text.data() + text.size() || rank < 0) return std::nullopt;
  return rank;
}

}  // namespace

bool starts_ranks(std::string_view process_name) {
  return std::find(kStarters.begin(), kStarters.end(), process_name) != kStarters.end();
}

Maybe mpi_rank_in(std::string_view environment) {
  size_t best = kVariables.size();
  Maybe rank;
  for (size_t at = 0; at < environment.size();) {
    const size_t end = std::min(environment.find('\0', at), environment.size());
    const std::string_view entry = environment.substr(at, end - at);
    for (size_t i = 0; i < best; ++i) {
      if (!entry.starts_with(kVariables[i])) continue;
      if (const Maybe found = number_of(entry.substr(kVariables[i].size()))) {
        rank = found;
        best = i;
      }
      break;
    }
    at = end + 1;
  }
  return rank;
}

Maybe mpi_rank_of(int64_t pid) {
  const auto environment =
      read_start("/proc/" + std::to_string(pid) + "/environ", kMostEnvironment);
  return environment.ok() ? mpi_rank_in(environment.value()) : std::nullopt;
}

}  // namespace fathom
