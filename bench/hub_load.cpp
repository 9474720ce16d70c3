// SPDX-License-Identifier: Apache-2.0
// Load for a hub, and what it does under it. bench/hub calls this; alone:
//
//   hub_load load URL JOB CLIENTS SECONDS UPDATES_A_BATCH KEYS RATE
//                                         counters a second, exactness, and time from send to
//                                         visible on the event stream meanwhile. RATE: updates per
//                                         second of all clients; 0: as many as the hub accepts
//   hub_load idle URL CONNECTIONS         memory of the hub per connection
//   hub_load fill URL JOB COUNTERS        as many different counters
//   hub_load body URL KIND                the body of an attack: names (a row of 150,000 names) or
//                                         bombs (small frames that decompress to 60 MB each)
//
// Each prints one JSON object; body prints the body.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/http_client.h"
#include "base/text.h"
#include "record/frame.h"
#include "sink/hub_link.h"

namespace fathom {
namespace {

constexpr int64_t kMostWaitNs = 60 * kNsPerSecond;

constexpr int kInFlight = 8;  // requests of one client
constexpr int kFrames = 16;   // different ones of each client

// Ranks 0 … keys-1 with probability proportional to 1 / (rank + 1).
class Zipf {
 public:
  explicit Zipf(size_t keys) {
    double sum = 0;
    for (size_t i = 0; i < keys; ++i) ends_.push_back(sum += 1.0 / static_cast<double>(i + 1));
  }
  size_t operator()(std::mt19937_64& random) const {
    const double at = std::uniform_real_distribution(0.0, ends_.back())(random);
    return static_cast<size_t>(std::lower_bound(ends_.begin(), ends_.end(), at) - ends_.begin());
  }

 private:
  std::vector<double> ends_;
};

struct Made {
  std::string frame;
  int64_t sum = 0;
};

std::string key_name(size_t key) { return fmt::format("some::function_of_a_program_{}(int)", key); }

Made make_frame(const std::vector<size_t>& keys) {
  Interner names;
  Rows rows;
  Made made;
  const StringId program = names.string("app"), event = names.string("cache-misses"),
                 unit = names.string("events");
  for (const size_t key : keys) {
    const auto count = static_cast<int64_t>(key % 97 + 1);
    rows.of<NodeSum>().push_back({names.string(key_name(key)), {}, program, event, unit, count});
    made.sum += count;
  }
  made.frame = FrameEncoder().encode(names.dictionary(), rows).value();
  return made;
}

struct Tally {
  std::atomic<int64_t> updates{0}, sum{0}, failures{0};
};

// What one client sends.
struct Batches {
  const std::vector<Made>& frames;
  size_t updates = 0;  // of each
  int64_t gap_ns = 0;  // between two; 0: kInFlight at a time
};

// Sends until `end_ns`, then receives the remaining responses.
void run_client(const HttpUrl& url, const std::string& job, const std::string& run,
                const Batches& batches, int64_t end_ns, Tally& tally) {
  HttpClient http(url, "", 60'000);
  const std::string target = fmt::format("/api/v1/jobs/{}/batches?run={}&sequence=", job, run);
  const auto& frames = batches.frames;
  size_t sent = 0, heard = 0;
  int64_t due_ns = monotonic_ns();
  while (true) {
    while (monotonic_ns() < end_ns && due_ns <= monotonic_ns() && sent - heard < kInFlight) {
      if (!http.send("POST", target + std::to_string(sent + 1), kFramesType,
                     frames[sent % frames.size()].frame)
               .ok())
        break;
      ++sent;
      due_ns += batches.gap_ns;
    }
    if (sent == heard) {
      if (monotonic_ns() >= end_ns || batches.gap_ns == 0) return;
      usleep(1'000);
      continue;
    }
    const auto answer = http.receive();
    if (!answer.ok() || answer.value().status != 200) {
      ++tally.failures;
      return;
    }
    tally.updates += static_cast<int64_t>(batches.updates);
    tally.sum += frames[heard++ % frames.size()].sum;
  }
}

// The sum of all counters of a job that load() adds to.
int64_t total_of(const HttpUrl& url, const std::string& job) {
  HttpClient http(url, "");
  int64_t total = 0;
  std::string rest;
  const auto take = [&](std::string_view part) -> Status {
    rest += part;
    size_t from = 0;
    for (size_t end = 0; (end = rest.find('\n', from)) != std::string::npos; from = end + 1) {
      const std::string_view line = std::string_view(rest).substr(from, end - from);
      if (line.find(",cache-misses,") != std::string_view::npos)
        total += parse_number(line.substr(line.rfind(',') + 1)).value_or(0);
    }
    rest.erase(0, from);
    return {};
  };
  (void)http.stream("/api/v1/jobs/" + job + "/profile?as=csv", take);
  return total;
}

double percentile(std::vector<double>& values, double share) {
  if (values.empty()) return NAN;
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1,
                         static_cast<size_t>(share * static_cast<double>(values.size())))];
}

// Time from send to visible on the event stream, of small batches. They are due every kProbeGapNs,
// whether or not those before were acknowledged, and their time counts from then: waiting for each
// would send most of them while the hub is idle.
class Probe {
 public:
  Probe(const HttpUrl& url, std::string job)
      : url_(url), job_(std::move(job)), watcher_([this] { watch(); }) {
    while (!watching_) usleep(1'000);
  }

  // Sends until `end_ns`, then waits until all were seen. Called once.
  void send_until(int64_t end_ns) {
    HttpClient http(url_, "");
    const std::string target = fmt::format("/api/v1/jobs/{}/lines?run={}&sequence=", job_, run_);
    int64_t sent = 0, heard = 0;
    for (int64_t due_ns = monotonic_ns(); due_ns < end_ns; due_ns += kProbeGapNs) {
      for (int64_t now; (now = monotonic_ns()) < due_ns;)
        usleep(static_cast<useconds_t>((due_ns - now) / 1'000 + 1));
      if (sent - heard == kProbesInFlight && !http.receive().ok()) break;
      heard += sent - heard == kProbesInFlight ? 1 : 0;
      {
        const std::lock_guard lock(mutex_);
        due_ns_[sent + 1] = due_ns;
      }
      if (!http.send("POST", target + std::to_string(++sent), kLinesType,
                     R"({"node":"probe","x":1})")
               .ok())
        break;
    }
    while (heard < sent && http.receive().ok()) ++heard;
    while (unseen() > 0 && monotonic_ns() < end_ns + kMostWaitNs) usleep(10'000);
    over_ = true;
    (void)HttpClient(url_, "").call("POST", "/api/v1/jobs/" + job_ + "/lines", kLinesType,
                                    R"({"mark":"over"})");
    watcher_.join();
  }
  std::string json() {
    return fmt::format(R"({{"probes":{},"unseen":{},"p50_ms":{:.1f},"p99_ms":{:.1f}}})",
                       times_ms_.size(), unseen(), percentile(times_ms_, 0.5),
                       percentile(times_ms_, 0.99));
  }

 private:
  static constexpr int64_t kProbeGapNs = 20 * kNsPerMs;
  static constexpr int64_t kProbesInFlight = 32;  // what a hub reads ahead of one connection

  size_t unseen() {
    const std::lock_guard lock(mutex_);
    return due_ns_.size();
  }
  void watch() {
    HttpClient http(url_, "", 5'000);
    std::string rest;
    (void)http.stream("/api/v1/jobs/" + job_ + "/events", [&](std::string_view part) -> Status {
      watching_ = true;
      rest += part;
      for (size_t end; (end = rest.find("\n\n")) != std::string::npos; rest.erase(0, end + 2)) {
        const int64_t applied = json_number(std::string_view(rest).substr(0, end), run_);
        const std::lock_guard lock(mutex_);
        while (!due_ns_.empty() && due_ns_.begin()->first <= applied) {
          times_ms_.push_back(static_cast<double>(monotonic_ns() - due_ns_.begin()->second) / 1e6);
          due_ns_.erase(due_ns_.begin());
        }
      }
      return over_ ? Status(Error{Code::kExists, "over"}) : Status();
    });
  }

  const HttpUrl url_;
  const std::string job_, run_ = fmt::format("probe-{}", getpid());
  std::mutex mutex_;
  std::map<int64_t, int64_t> due_ns_;  // by sequence, those not seen yet
  std::vector<double> times_ms_;
  std::atomic<bool> watching_{false}, over_{false};
  std::thread watcher_;
};

int load(const HttpUrl& url, char** words) {
  const std::string job = words[0];
  const int clients = std::atoi(words[1]);
  const double seconds = std::atof(words[2]);
  const auto updates = static_cast<size_t>(std::atoll(words[3]));
  const Zipf zipf(static_cast<size_t>(std::atoll(words[4])));
  const double rate = std::atof(words[5]);
  const auto gap_ns =
      static_cast<int64_t>(rate > 0 ? 1e9 * clients * static_cast<double>(updates) / rate : 0);
  // A thousand clients share the frames of sixteen: making them is not what is measured.
  std::vector<std::vector<Made>> frames(static_cast<size_t>(std::min(clients, 16)));
  std::mt19937_64 random(7);
  for (auto& list : frames) {
    for (int i = 0; i < kFrames; ++i) {
      std::vector<size_t> keys(updates);
      for (size_t& key : keys) key = zipf(random);
      list.push_back(make_frame(keys));
    }
  }
  Tally tally;
  const int64_t before = total_of(url, job);
  Probe probe(url, job);
  const int64_t begin_ns = monotonic_ns();
  const int64_t end_ns = begin_ns + static_cast<int64_t>(seconds * 1e9);
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(clients));
  for (int i = 0; i < clients; ++i)
    threads.emplace_back([&, i] {
      run_client(url, job, fmt::format("load-{}-{}", getpid(), i),
                 {frames[static_cast<size_t>(i) % frames.size()], updates, gap_ns}, end_ns, tally);
    });
  std::thread prober([&] { probe.send_until(end_ns); });
  for (std::thread& thread : threads) thread.join();
  const double took = static_cast<double>(monotonic_ns() - begin_ns) / 1e9;
  prober.join();
  const bool exact = total_of(url, job) - before == tally.sum;
  fmt::print(
      "{{\"clients\":{},\"updates\":{},\"seconds\":{:.3f},\"per_second\":{:.0f},"
      "\"failures\":{},\"exact\":{},\"visible\":{}}}\n",
      clients, tally.updates.load(), took, static_cast<double>(tally.updates) / took,
      tally.failures.load(), exact, probe.json());
  return exact && tally.failures == 0 ? 0 : 1;
}

int64_t resident_bytes(const HttpUrl& url) {
  HttpClient http(url, "");
  const std::string page = http.call("GET", "/metrics").value().body;
  const std::string name = "\nfathom_hub_resident_memory_bytes ";
  const size_t at = page.find(name);
  return at == std::string::npos ? 0
                                 : static_cast<int64_t>(std::atof(page.c_str() + at + name.size()));
}

int idle(const HttpUrl& url, char** words) {
  const int count = std::atoi(words[0]);
  const int64_t before = resident_bytes(url);
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < count; ++i) {
    clients.push_back(std::make_unique<HttpClient>(url, ""));
    if (!clients.back()->call("GET", "/healthz").ok()) return 1;
  }
  fmt::print("{{\"connections\":{},\"bytes_each\":{}}}\n", count,
             (resident_bytes(url) - before) / count);
  return 0;
}

int fill(const HttpUrl& url, char** words) {
  const std::string job = words[0];
  const auto counters = static_cast<size_t>(std::atoll(words[1]));
  constexpr size_t kEach = 50'000;
  HttpClient http(url, "", 120'000);
  const int64_t begin_ns = monotonic_ns();
  size_t frames = 0, heard = 0;
  const auto hear = [&] {
    const auto answer = http.receive();
    ++heard;
    return answer.ok() && answer.value().status == 200;
  };
  for (size_t key = 0; key < counters; key += kEach) {
    std::vector<size_t> keys;
    for (size_t i = key; i < std::min(counters, key + kEach); ++i) keys.push_back(i);
    const Made made = make_frame(keys);
    if (!http.send("POST",
                   fmt::format("/api/v1/jobs/{}/batches?run=fill-{}&sequence={}", job, getpid(),
                               ++frames),
                   kFramesType, made.frame)
             .ok())
      return 1;
    if (frames - heard >= kInFlight && !hear()) return 1;
  }
  while (heard < frames)
    if (!hear()) return 1;
  fmt::print("{{\"counters\":{},\"seconds\":{:.1f}}}\n", counters,
             static_cast<double>(monotonic_ns() - begin_ns) / 1e9);
  return 0;
}

int body(const HttpUrl& /*url*/, char** words) {
  std::string text;
  if (std::string_view(words[0]) == "names") {
    text = "{\"benchmark\":{\"time\":1";
    for (int i = 0; i < 150'000; ++i) text += fmt::format(",\"n{:06}\":1", i);
    text += "}}\n";
  } else {
    Interner names;
    Rows rows;
    rows.of<Mark>().push_back({1, names.string(std::string(size_t{60} << 20, 'x'))});
    const auto frame = FrameEncoder().encode(names.dictionary(), rows);
    if (!frame.ok()) return 1;
    for (int i = 0; i < 100; ++i) text += frame.value();
  }
  return fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}

}  // namespace
}  // namespace fathom

int main(int argc, char** argv) {
  using namespace fathom;
  struct Mode {
    const char* name;
    int words;
    int (*run)(const HttpUrl& url, char** words);
  };
  constexpr Mode kModes[] = {
      {"load", 6, load}, {"idle", 1, idle}, {"fill", 2, fill}, {"body", 1, body}};
  for (const Mode& mode : kModes) {
    if (argc != mode.words + 3 || std::string_view(argv[1]) != mode.name) continue;
    const auto url = HttpUrl::parse(argv[2], kDefaultHubPort);
    return url.ok() ? mode.run(url.value(), argv + 3) : 2;
  }
  fmt::print(stderr, "see the first lines of bench/hub_load.cpp\n");
  return 2;
}
