// SPDX-License-Identifier: Apache-2.0
#include "probe/resources/mpi_rank.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace fathom {
namespace {

using namespace std::string_view_literals;

TEST(MpiRank, IsWhatTheLauncherSays) {
  EXPECT_EQ(mpi_rank_in("HOME=/\0OMPI_COMM_WORLD_RANK=17\0X=1\0"sv), 17);
  EXPECT_EQ(mpi_rank_in("PMI_RANK=0\0"sv), 0);
  EXPECT_EQ(mpi_rank_in("SLURM_PROCID=3"sv), 3);
}

TEST(MpiRank, TheOwnLauncherCountsMoreThanTheBatchSystem) {
  EXPECT_EQ(mpi_rank_in("SLURM_PROCID=0\0OMPI_COMM_WORLD_RANK=5\0"sv), 5);
  EXPECT_EQ(mpi_rank_in("OMPI_COMM_WORLD_RANK=5\0SLURM_PROCID=0\0"sv), 5);
}

TEST(MpiRank, WhatIsNoNumberIsNoRank) {
  for (const auto text : {""sv, "A=1"sv, "PMI_RANK="sv, "PMI_RANK=x\0"sv, "PMI_RANK=-1\0"sv,
                          "PMI_RANK=99999999999999999999\0"sv, "XPMI_RANK=1\0"sv, "PMI_RANK=1x"sv})
    EXPECT_FALSE(mpi_rank_in(text)) << text;
}

TEST(MpiRank, AProcessThatIsNotThereHasNone) { EXPECT_FALSE(mpi_rank_of(INT32_MAX)); }

TEST(MpiRank, LaunchersAreKnownByName) {
  EXPECT_TRUE(starts_ranks("mpirun"));
  EXPECT_FALSE(starts_ranks("mpirun2"));
  EXPECT_FALSE(starts_ranks(""));
}

}  // namespace
}  // namespace fathom
