// SPDX-License-Identifier: Apache-2.0
// The recorder's end of what wire/hold.h describes: a socket in a folder of its own that is mounted
// into the container, and the one fathom-hold that called. Belongs to the recorder's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "wire/hold.h"

namespace fathom {

class HoldChannel {
 public:
  // The folder and the socket are removed with the object.
  static Result<std::unique_ptr<HoldChannel>> listen();
  ~HoldChannel();
  HoldChannel(const HoldChannel&) = delete;
  HoldChannel& operator=(const HoldChannel&) = delete;

  [[nodiscard]] const std::string& folder() const { return folder_; }
  // Readable when somebody calls; after take_call(), when hold has said something or is gone.
  [[nodiscard]] int fd() const { return peer_.valid() ? peer_.get() : listener_.get(); }
  // Takes the call and its HELLO, which says which C libraries there are.
  Result<fathom_hold_message> take_call();
  // Its process id on this machine.
  [[nodiscard]] int64_t pid() const { return pid_; }

  struct Order {
    fathom_hold_order_kind kind;
    uint32_t flags = 0;
    int32_t id = 0, value = 0;
    std::vector<std::string> words = {}, settings = {};
    bool with_descriptors = false;  // our stdin, stdout and stderr
  };
  [[nodiscard]] Status send(const Order& order) const;
  // What it said; absent: nothing yet, or it is gone.
  std::optional<fathom_hold_message> next();
  // Blocks until it says something; absent: it is gone, or has become the command.
  std::optional<fathom_hold_message> wait();
  [[nodiscard]] bool gone() const { return gone_; }

 private:
  HoldChannel() = default;
  std::string folder_;
  Fd listener_, peer_;
  int64_t pid_ = 0;
  bool gone_ = false;
};

}  // namespace fathom
