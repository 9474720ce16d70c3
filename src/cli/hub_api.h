// SPDX-License-Identifier: Apache-2.0
// A hub as commands see it: where it is, whose token is used, jobs and dumps. Belongs to one
// thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/http_client.h"
#include "base/result.h"
#include "cli/arguments.h"
#include "sink/hub_link.h"

namespace fathom {

struct HubJob {
  int64_t id = 0, rows = 0;
  std::string description, created;
};

// From FATHOM_TOKEN, else the file (or FATHOM_TOKEN_FILE); empty: none.
Result<std::string> read_token(const std::string& file);
// --hub, else FATHOM_HUB, else this machine; --token-file.
Result<HubTarget> hub_target(const Arguments& arguments);
Result<int64_t> job_number(const std::string& text);
// A name that no other run has.
std::string new_sender_name(std::string_view what);

class HubApi {
 public:
  // Each ask() takes at most `limit_ns`.
  static Result<HubApi> connect(const HubTarget& target, int64_t limit_ns = 60'000'000'000);

  // The body of a success; else the hub's own words as an error.
  Result<std::string> ask(std::string_view method, std::string_view target,
                          std::string_view type = {}, std::string_view body = {});
  [[nodiscard]] std::string url() const { return client_.url().text(); }
  Status stream(std::string_view target, const HttpClient::Take& take);

  Result<HubJob> create(int64_t id, const std::string& description, const std::string& labels);
  Result<std::vector<HubJob>> jobs();
  Result<HubJob> job(int64_t id);

 private:
  explicit HubApi(HttpClient client) : client_(std::move(client)) {}
  HttpClient client_;
};

// "ID  rows  created  description" for people.
std::string job_table(const std::vector<HubJob>& jobs);

// Where a dump goes: stdout, or a file that appears when it is whole.
class DumpFile {
 public:
  explicit DumpFile(std::string path) : path_(std::move(path)) {}
  DumpFile(const DumpFile&) = delete;
  DumpFile& operator=(const DumpFile&) = delete;
  ~DumpFile();
  Status open();
  Status write(std::string_view text);
  Status finish();
  [[nodiscard]] std::string temporary() const { return path_ + ".part"; }

 private:
  std::string path_;  // empty: stdout
  Fd file_;
};

}  // namespace fathom
