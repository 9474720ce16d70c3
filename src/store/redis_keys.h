// SPDX-License-Identifier: Apache-2.0
// Names of the keys in Redis (docs/formats/hub.md). Pure functions: any thread.
#pragma once

#include <xxhash.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::redis_keys {

constexpr const char* kVersion = "fathom:version";
constexpr const char* kJobs = "fathom:jobs";
constexpr const char* kLive = "fathom:live";
constexpr const char* kReady = "fathom:ready";
constexpr int kBuckets = 256;  // hashes that the sums of a job are spread over

inline std::string of_job(int64_t job, std::string_view what) {
  return "fathom:job:" + std::to_string(job) + ":" + std::string(what);
}

// All events of a node are in the same bucket; `key` is a sum_key().
inline std::string bucket_of(std::string_view key) {
  const size_t first = key.find('\0');
  const size_t second = first == std::string_view::npos ? first : key.find('\0', first + 1);
  return std::to_string(XXH3_64bits(key.data(), std::min(second, key.size())) % kBuckets);
}

constexpr const char* kParts[] = {"runs",  "hosts", "first",  "last",
                                  "units", "rows",  "gauges", "marks"};

inline std::vector<std::string> all_of_job(int64_t job) {
  std::vector<std::string> keys;
  for (const char* part : kParts) keys.push_back(of_job(job, part));
  for (int bucket = 0; bucket < kBuckets; ++bucket)
    keys.push_back(of_job(job, "sums:" + std::to_string(bucket)));
  return keys;
}

}  // namespace fathom::redis_keys
