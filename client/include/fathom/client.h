// SPDX-License-Identifier: Apache-2.0
// A client of a Fathom hub for C++17 programs, with nothing but the C++ library and sockets.
//
//   #include <fathom/client.h>
//
//   class CustomClient : public fathom::ProfClient {
//    public:
//     using ProfClient::ProfClient;
//     fathom::Messages run_on_job() override {
//       return {fathom::Message("PROFILING").text("node", "main").count("cache-misses", 7)};
//     }
//   };
//
//   const fathom::Sent sent = CustomClient("127.0.0.1", 10000).start(2001);
//   if (!sent.ok) std::cerr << sent.error << '\n';
//
// What is sent and not answered is sent again and counts once: batches carry a run and a sequence.
// A hub that has answered before is waited for (set_patience_seconds); if none ever has, the first
// failure is reported at once.
// A client belongs to one thread. Nothing is thrown.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// One command with its fields, as JSON.
class Message {
 public:
  explicit Message(std::string_view command) { text("command", command); }
  Message& text(std::string_view name, std::string_view value);
  Message& count(std::string_view name, std::int64_t value);
  Message& real(std::string_view name, double value);
  // Fields of an object inside, such as those of a benchmark row.
  Message& inside(std::string_view name, const Message& fields);
  // An object of fields without a command, for inside().
  static Message fields() { return Message(); }
  [[nodiscard]] std::string json() const { return "{" + json_ + "}"; }

 private:
  Message() = default;
  void add(std::string_view name, const std::string& value);
  std::string json_;
};
using Messages = std::vector<Message>;

struct Sent {
  bool ok = false;
  int status = 0;      // of the last answer; 0: none came
  std::string error;   // in the hub's own words: which message by its number, and what was taken
  std::string answer;  // the last one, JSON
};

class ProfClient {
 public:
  // The token is in the environment, FATHOM_TOKEN, where the hub asks for one.
  ProfClient(std::string bindaddr, int port);
  virtual ~ProfClient();
  ProfClient(const ProfClient&) = delete;
  ProfClient& operator=(const ProfClient&) = delete;

  // Does the work. May call send_data() as often as it likes, and may return messages, too.
  virtual Messages run_on_job() { return {}; }

  // Runs run_on_job() for a job and sends what it returns. The first that failed of all it sent, or
  // the last.
  Sent start(int job);
  Sent send_data(const Messages& messages);
  [[nodiscard]] int job() const { return job_; }
  void set_patience_seconds(double seconds) { patience_seconds_ = seconds; }

 private:
  Sent send_some(const std::string& json);
  Sent post(const std::string& target, const std::string& body);
  bool connect();
  void drop();
  bool receive(Sent& sent);

  std::string host_, token_, run_;
  int port_, job_ = 0;
  std::map<int, std::uint64_t> sequences_;  // by job
  double patience_seconds_ = 60;
  Sent first_failed_;  // status -1: none has
  int socket_ = -1;
  bool has_answered_ = false;  // the hub, since the start
  std::string problem_;        // of the last attempt
};

}  // namespace fathom
