// SPDX-License-Identifier: Apache-2.0
// The run's Unix socket: a path in a folder of its own, and those who are connected to it. What
// they say is told line by line. Somebody else's programs are at the other end: every size is
// bounded, a client that floods is read in turns with the others, and nobody is ever waited for.
// Belongs to the recorder's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "probe/line_buffer.h"

namespace fathom {

class AppSocket {
 public:
  // The socket and its folder are removed with the object. Anybody who knows the path may connect.
  static Result<std::unique_ptr<AppSocket>> listen();
  ~AppSocket();
  AppSocket(const AppSocket&) = delete;
  AppSocket& operator=(const AppSocket&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  // Readable when somebody said or wants something.
  [[nodiscard]] int event_fd() const { return events_.get(); }

  // Takes connections and reads until nothing is left or `most_ns` have passed. `take` gets each
  // line with its sender's process id. Returns whether there was anything.
  using Take = std::function<void(std::string_view line, int64_t pid)>;
  bool drain(int64_t most_ns, const Take& take);
  // Takes no more connections and nothing that is not said yet; reads what is, however long that
  // takes, and ends all connections. A last line may lack its end.
  void hang_up(const Take& take);

  [[nodiscard]] size_t clients() const { return clients_.size(); }
  [[nodiscard]] int64_t accepted() const { return accepted_; }
  [[nodiscard]] int64_t refused() const { return refused_; }
  [[nodiscard]] int64_t too_long() const;

 private:
  struct Client {
    Fd socket;
    int64_t pid = 0;
    LineBuffer lines;
  };

  AppSocket() = default;
  Status bind_in(const std::string& folder);
  void accept_all(const Take& take);
  void admit(Fd socket);
  bool make_room(const Take& take);
  // Whether there was something, and there may be more.
  bool read_from(int fd, const Take& take);
  void part_from(std::map<int, Client>::iterator client, const Take& take);

  std::string folder_, path_;
  Fd listener_, events_, spare_;
  std::map<int, Client> clients_;  // by descriptor
  std::string buffer_;
  int64_t accepted_ = 0, refused_ = 0, too_long_before_ = 0;
};

}  // namespace fathom
