// SPDX-License-Identifier: Apache-2.0
// A client of a hub in C++: custom_client PORT JOB. Build it with CMakeLists.txt beside it.
#include <fathom/client.h>

#include <cstdlib>
#include <iostream>

class CustomClient : public fathom::ProfClient {
 public:
  using ProfClient::ProfClient;

  fathom::Messages run_on_job() override {
    for (int i = 0; i < 10; ++i) {
      const fathom::Sent sent = send_data(
          {fathom::Message("PROFILING").text("node", "main").text("execname", "app").count("cache-misses", 1)});
      if (!sent.ok) return {};
    }
    return {fathom::Message("PROFILING").text("node", "main").text("execname", "app").count("cache-misses", 7),
            fathom::Message("BENCHMARK").real("Exectime", 1.5).count("cache-misses", 7)};
  }
};

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const fathom::Sent sent = CustomClient("127.0.0.1", std::atoi(argv[1])).start(std::atoi(argv[2]));
  if (!sent.ok) std::cerr << "custom_client: " << sent.error << '\n';
  return sent.ok ? 0 : 1;
}
