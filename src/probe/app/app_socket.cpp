// SPDX-License-Identifier: Apache-2.0
#include "probe/app/app_socket.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/clock.h"
#include "base/scratch_folder.h"

namespace fathom {
namespace {

constexpr size_t kMostClients = 512;
constexpr size_t kReadBytes = size_t{64} << 10;
constexpr int kMostReads = 64;  // of one, while somebody waits to be let in

Status watch(const Fd& events, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (epoll_ctl(events.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    return errno_error("watch a connection");
  return {};
}

int64_t peer_of(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

}  // namespace

Result<std::unique_ptr<AppSocket>> AppSocket::listen() {
  auto made = std::unique_ptr<AppSocket>(new AppSocket());
  TRY_ASSIGN(made->folder_, make_scratch_folder("app", 0711));
  TRY(made->bind_in(made->folder_));
  made->events_ = Fd(epoll_create1(EPOLL_CLOEXEC));
  if (!made->events_.valid()) return errno_error("set up the socket of applications");
  TRY(watch(made->events_, made->listener_.get()));
  made->spare_ = Fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  return made;
}

Status AppSocket::bind_in(const std::string& folder) {
  path_ = folder + "/socket";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path_.size() >= sizeof address.sun_path)
    return Error{Code::kInvalid, path_ + " is too long for a socket", "choose a shorter TMPDIR"};
  path_.copy(address.sun_path, path_.size());
  listener_ = Fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener_.valid() ||
      bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      chmod(path_.c_str(), 0666) != 0 || ::listen(listener_.get(), SOMAXCONN) != 0)
    return errno_error("listen at " + path_);
  return {};
}

AppSocket::~AppSocket() {
  if (!path_.empty()) (void)unlink(path_.c_str());
  if (!folder_.empty()) (void)rmdir(folder_.c_str());
}

void AppSocket::admit(Fd socket) {
  if (clients_.size() >= kMostClients || !watch(events_, socket.get()).ok()) {
    ++refused_;
    return;
  }
  ++accepted_;
  Client client;
  client.pid = peer_of(socket.get());
  const int fd = socket.get();
  client.socket = std::move(socket);
  clients_.insert_or_assign(fd, std::move(client));
}

// Who has gone may not have been noticed yet: a recorder that is late would refuse newcomers.
bool AppSocket::make_room(const Take& take) {
  for (auto client = clients_.begin(); client != clients_.end();) {
    const int fd = (client++)->first;
    for (int left = kMostReads; left > 0 && read_from(fd, take); --left) continue;
  }
  return clients_.size() < kMostClients;
}

void AppSocket::accept_all(const Take& take) {
  for (bool may_have_room = true;;) {
    Fd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.valid()) {
      if (clients_.size() >= kMostClients && may_have_room) may_have_room = make_room(take);
      admit(std::move(socket));
    } else if ((errno == EMFILE || errno == ENFILE) && spare_.valid()) {
      // Else it would wait there, ready for ever. There may be nobody: no descriptor, no answer.
      spare_.reset();
      const bool was_there = Fd(accept(listener_.get(), nullptr, nullptr)).valid();
      spare_ = Fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
      if (!was_there) return;
      ++refused_;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return;
    }
  }
}

bool AppSocket::read_from(int fd, const Take& take) {
  const auto found = clients_.find(fd);
  if (found == clients_.end()) return false;
  Client& client = found->second;
  buffer_.resize(kReadBytes);
  const ssize_t got = recv(fd, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
  if (got > 0) {
    client.lines.add(std::string_view(buffer_).substr(0, static_cast<size_t>(got)),
                     [&](std::string_view line) { take(line, client.pid); });
  } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
    part_from(found, take);
  }
  return got > 0;
}

void AppSocket::part_from(std::map<int, Client>::iterator client, const Take& take) {
  client->second.lines.end([&](std::string_view line) { take(line, client->second.pid); });
  too_long_before_ += client->second.lines.too_long();
  clients_.erase(client);
}

bool AppSocket::drain(int64_t most_ns, const Take& take) {
  const int64_t end_ns = monotonic_ns() + most_ns;
  std::array<epoll_event, 64> ready{};
  bool any = false;
  do {
    const int count = epoll_wait(events_.get(), ready.data(), static_cast<int>(ready.size()), 0);
    if (count <= 0) return any;
    any = true;
    for (int i = 0; i < count; ++i) {
      const int fd = ready[static_cast<size_t>(i)].data.fd;
      if (fd == listener_.get())
        accept_all(take);
      else
        read_from(fd, take);
    }
  } while (monotonic_ns() < end_ns);
  return any;
}

void AppSocket::hang_up(const Take& take) {
  (void)shutdown(listener_.get(), SHUT_RD);
  accept_all(take);
  while (!clients_.empty()) {
    const int fd = clients_.begin()->first;
    (void)shutdown(fd, SHUT_RD);  // it can say nothing more, so that what it said has an end
    while (read_from(fd, take)) continue;
    if (const auto left = clients_.find(fd); left != clients_.end()) part_from(left, take);
  }
}

int64_t AppSocket::too_long() const {
  int64_t sum = too_long_before_;
  for (const auto& [fd, client] : clients_) sum += client.lines.too_long();
  return sum;
}

}  // namespace fathom
