// SPDX-License-Identifier: Apache-2.0
#include "base/host.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "base/subprocess.h"

namespace fathom {
namespace {

TEST(HostTest, AgreesWithTheSystem) {
  const HostFacts facts = host_facts();
  EXPECT_EQ(facts.name + "\n", run_to_end({"uname", "-n"}).value().output);
  EXPECT_EQ(facts.kernel + "\n", run_to_end({"uname", "-r"}).value().output);
  EXPECT_EQ(facts.cores, sysconf(_SC_NPROCESSORS_ONLN));
  EXPECT_GT(facts.memory_bytes, int64_t{64} << 20);
  EXPECT_FALSE(facts.user.empty());
#if defined(__x86_64__)
  EXPECT_FALSE(facts.cpu_model.empty());
  EXPECT_FALSE(facts.virtualization.empty());
#endif
  EXPECT_EQ(facts.cpu_model.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace fathom
