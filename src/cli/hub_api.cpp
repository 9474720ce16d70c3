// SPDX-License-Identifier: Apache-2.0
#include "cli/hub_api.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <simdjson.h>
#include <stdlib.h>
#include <unistd.h>

#include <random>

#include "base/clock.h"
#include "base/simdjson.h"
#include "base/text.h"
#include "cli/cli.h"
#include "store/store.h"

namespace fathom {
namespace {

namespace dom = simdjson::dom;

HubJob job_from(const dom::object& object) {
  HubJob job;
  std::string_view description, created;
  if (object["id"].get(job.id) != simdjson::SUCCESS) job.id = 0;
  if (object["rows"].get(job.rows) != simdjson::SUCCESS) job.rows = 0;
  if (object["description"].get(description) == simdjson::SUCCESS) job.description = description;
  if (object["created"].get(created) == simdjson::SUCCESS) job.created = created;
  return job;
}

Result<HubJob> parse_job(const std::string& json) {
  TRY(load_simdjson());
  dom::parser parser;
  dom::object object;
  if (parser.parse(json).get(object) != simdjson::SUCCESS)
    return Error{Code::kCorrupt, "the hub's answer makes no sense"};
  return job_from(object);
}

}  // namespace

Result<std::string> read_token(const std::string& file) {
  if (const char* token = getenv("FATHOM_TOKEN"); token != nullptr && *token != '\0')
    return std::string(token);
  const char* named = getenv("FATHOM_TOKEN_FILE");
  const std::string path = !file.empty() ? file : named != nullptr ? named : "";
  if (path.empty()) return std::string();
  TRY_ASSIGN(std::string token, read_file(path, 4096));
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r' || token.back() == ' '))
    token.pop_back();
  if (token.empty() || token.find_first_of(" \r\n\t") != std::string::npos)
    return Error{Code::kInvalid, path + " holds no token", "one word, at least 16 bytes long"};
  return token;
}

Result<HubTarget> hub_target(const Arguments& arguments) {
  HubTarget target;
  const char* named = getenv("FATHOM_HUB");
  target.url = arguments.has("hub")                 ? arguments.text("hub")
               : named != nullptr && *named != '\0' ? named
                                                    : "http://127.0.0.1:10000";
  TRY(HttpUrl::parse(target.url, kDefaultHubPort));
  TRY_ASSIGN(target.token, read_token(arguments.text("token-file")));
  return target;
}

Result<int64_t> job_number(const std::string& text) {
  const auto id = parse_number(text);
  if (id.ok() && id.value() >= kFirstJob && id.value() <= kLastJob) return id.value();
  return Error{Code::kInvalid, "'" + printable(text) + "' is no job id",
               fmt::format("ids are {} to {}", kFirstJob, kLastJob)};
}

std::string new_sender_name(std::string_view what) {
  std::random_device random;
  return fmt::format("{}-{:016x}-{}-{:08x}", what, clock_ns(CLOCK_REALTIME), getpid(), random());
}

Result<HubApi> HubApi::connect(const HubTarget& target, int64_t limit_ns) {
  TRY_ASSIGN(HttpUrl url, HttpUrl::parse(target.url, kDefaultHubPort));
  HttpClient client(std::move(url), target.token);
  client.set_exchange_limit_ns(limit_ns);
  return HubApi(std::move(client));
}

Result<std::string> HubApi::ask(std::string_view method, std::string_view target,
                                std::string_view type, std::string_view body) {
  TRY_ASSIGN(HttpAnswer answer, client_.call(method, target, type, body));
  if (answer.status / 100 != 2) return hub_error(answer);
  return std::move(answer.body);
}

Status HubApi::stream(std::string_view target, const HttpClient::Take& take) {
  TRY_ASSIGN(const HttpAnswer answer, client_.stream(target, take));
  if (answer.status != 200) return hub_error(answer);
  return {};
}

Result<HubJob> HubApi::create(int64_t id, const std::string& description,
                              const std::string& labels) {
  const std::string number = id == 0 ? "" : fmt::format("\"id\":{},", id);
  TRY_ASSIGN(const std::string made, ask("POST", "/api/v1/jobs", "application/json",
                                         fmt::format("{{{}\"description\":{},\"labels\":{}}}",
                                                     number, json_quote(description), labels)));
  return parse_job(made);
}

Result<std::vector<HubJob>> HubApi::jobs() {
  TRY_ASSIGN(const std::string text, ask("GET", "/api/v1/jobs"));
  TRY(load_simdjson());
  dom::parser parser;
  dom::array list;
  if (parser.parse(text)["jobs"].get(list) != simdjson::SUCCESS)
    return Error{Code::kCorrupt, "the hub's answer makes no sense"};
  std::vector<HubJob> jobs;
  for (const dom::element element : list) {
    dom::object object;
    if (element.get(object) == simdjson::SUCCESS) jobs.push_back(job_from(object));
  }
  return jobs;
}

Result<HubJob> HubApi::job(int64_t id) {
  TRY_ASSIGN(const std::string text, ask("GET", fmt::format("/api/v1/jobs/{}", id)));
  return parse_job(text);
}

std::string job_table(const std::vector<HubJob>& jobs) {
  std::string text = "  id  rows  created               description\n";
  for (const HubJob& job : jobs)
    text += fmt::format("{:4}  {:4}  {:20.19}  {}\n", job.id, job.rows, job.created,
                        printable(job.description));
  return jobs.empty() ? "there are no jobs\n" : text;
}

DumpFile::~DumpFile() {
  if (file_.valid()) unlink(temporary().c_str());
}

Status DumpFile::open() {
  if (path_.empty()) return {};
  TRY_ASSIGN(file_, open_file(temporary(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC));
  return {};
}

Status DumpFile::write(std::string_view text) {
  return path_.empty() ? print_data_out(text) : write_all(file_.get(), text);
}

Status DumpFile::finish() {
  if (path_.empty()) return {};
  if (rename(temporary().c_str(), path_.c_str()) != 0) return errno_error("write " + path_);
  file_.reset();
  return {};
}

}  // namespace fathom
