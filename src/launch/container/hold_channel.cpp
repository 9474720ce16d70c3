// SPDX-License-Identifier: Apache-2.0
#include "launch/container/hold_channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/scratch_folder.h"

namespace fathom {

Result<std::unique_ptr<HoldChannel>> HoldChannel::listen() {
  auto channel = std::unique_ptr<HoldChannel>(new HoldChannel());
  TRY_ASSIGN(channel->folder_, make_scratch_folder("hold", 0711));
  const std::string path = channel->folder_ + "/hold";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return Error{Code::kInvalid, path + " is too long for a socket", "choose a shorter TMPDIR"};
  path.copy(address.sun_path, path.size());
  channel->listener_ = Fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const int fd = channel->listener_.get();
  if (fd < 0 || bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      chmod(path.c_str(), 0666) != 0 || ::listen(fd, 1) != 0)
    return errno_error("listen at " + path);
  return channel;
}

HoldChannel::~HoldChannel() {
  if (folder_.empty()) return;
  (void)unlink((folder_ + "/hold").c_str());
  (void)rmdir(folder_.c_str());
}

Result<fathom_hold_message> HoldChannel::take_call() {
  peer_ = Fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!peer_.valid()) return errno_error("take the container's call");
  ucred who{};
  socklen_t size = sizeof who;
  if (getsockopt(peer_.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || who.pid <= 0)
    return Error{Code::kUnsupported, "the container's processes are not to be seen from here",
                 "run fathom on the host, not in a container without its process ids"};
  pid_ = who.pid;
  const auto hello = wait();
  if (!hello || hello->kind != FATHOM_HOLD_HELLO)
    return Error{Code::kIo, "the container's first process ended early"};
  return *hello;
}

Status HoldChannel::send(const Order& order) const {
  fathom_hold_order head{};
  head.kind = order.kind;
  head.flags = order.flags;
  head.id = order.id;
  head.value = order.value;
  head.words = static_cast<uint32_t>(order.words.size());
  head.settings = static_cast<uint32_t>(order.settings.size());
  std::string packet(reinterpret_cast<const char*>(&head), sizeof head);
  for (const auto* texts : {&order.words, &order.settings})
    for (const std::string& text : *texts)
      packet.append(text.c_str(), std::strlen(text.c_str()) + 1);
  if (packet.size() > FATHOM_HOLD_MOST_BYTES)
    return Error{Code::kInvalid, "the command is too long", "put it into a script in the dataset"};
  iovec part{packet.data(), packet.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(3 * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (order.with_descriptors) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(3 * sizeof(int));
    const int fds[3] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
    std::memcpy(CMSG_DATA(rights), fds, sizeof fds);
  }
  if (sendmsg(peer_.get(), &message, MSG_NOSIGNAL) < 0)
    return errno_error("speak to the container's first process");
  return {};
}

std::optional<fathom_hold_message> HoldChannel::next() {
  fathom_hold_message message{};
  if (gone_ || !peer_.valid()) return std::nullopt;
  const ssize_t got = recv(peer_.get(), &message, sizeof message, MSG_DONTWAIT);
  if (got == sizeof message) return message;
  if (got >= 0 || (errno != EAGAIN && errno != EINTR)) gone_ = true;
  return std::nullopt;
}

std::optional<fathom_hold_message> HoldChannel::wait() {
  while (!gone_) {
    if (auto message = next()) return message;
    if (gone_) break;
    pollfd ready{peer_.get(), POLLIN, 0};
    (void)poll(&ready, 1, -1);
  }
  return std::nullopt;
}

}  // namespace fathom
