// SPDX-License-Identifier: Apache-2.0
#include "base/host_lookup.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/clock.h"

namespace fathom {
namespace {

constexpr int64_t kStopPollNs = 50 * kNsPerMs;

struct Lookup {
  std::string host, port;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;  // guarded by mutex, as what follows
  int error = 0;
  HostAddresses found;
};

void run(const std::shared_ptr<Lookup>& lookup, int flags) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = flags;
  addrinfo* raw = nullptr;
  const int error = getaddrinfo(lookup->host.c_str(), lookup->port.c_str(), &wanted, &raw);
  const std::lock_guard lock(lookup->mutex);
  lookup->error = error;
  if (error == 0)
    lookup->found = HostAddresses(raw, [](const addrinfo* all) {
      freeaddrinfo(const_cast<addrinfo*>(all));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    });
  lookup->done = true;
  lookup->changed.notify_all();
}

void start(const std::shared_ptr<Lookup>& lookup) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);  // signals are for the threads of the caller
  std::thread([lookup] { run(lookup, 0); }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

Result<HostAddresses> look_up_host(const std::string& host, const std::string& port, int64_t end_ns,
                                   const std::atomic<bool>* stop) {
  const auto lookup = std::make_shared<Lookup>();
  lookup->host = host;
  lookup->port = port;
  run(lookup, AI_NUMERICHOST);  // asks no server
  std::unique_lock lock(lookup->mutex);
  if (lookup->error == EAI_NONAME) {
    lookup->done = false;
    start(lookup);
  }
  while (!lookup->done) {
    const int64_t left_ns = end_ns - monotonic_ns();
    if (stop != nullptr && *stop) return Error{Code::kIo, "given up"};
    if (left_ns <= 0) return Error{Code::kIo, "look up " + host + ": no response in time"};
    lookup->changed.wait_for(
        lock, std::chrono::nanoseconds(stop == nullptr ? left_ns : std::min(left_ns, kStopPollNs)));
  }
  if (lookup->error != 0) return Error{Code::kIo, gai_strerror(lookup->error)};
  return lookup->found;
}

}  // namespace fathom
