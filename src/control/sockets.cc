#include "control/sockets.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/text.h"

namespace nephila::control {
namespace {

constexpr int kBacklog = 16;
constexpr time_t kConnectSeconds = 30;

Unexpected<Error> Failed(const std::string& what, int sys_errno) {
  return Unexpected(Error::FromErrno(what, sys_errno));
}

// The folder stays the same if it is renamed meanwhile, and its name within
// /proc is short.
Result<net::Descriptor> OpenFolder(const std::string& dir) {
  net::Descriptor folder(
      open(dir.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC, 0));
  if (folder.get() < 0) return Failed(dir, errno);
  return folder;
}

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const size_t size = std::min(path.size(), sizeof(address.sun_path) - 1);
  std::memcpy(address.sun_path, path.data(), size);
  return address;
}

sockaddr_un NameIn(const net::Descriptor& folder, const std::string& name) {
  return AddressOf(fmt::format("/proc/self/fd/{}/{}", folder.get(), name));
}

net::Descriptor UnixSocket() {
  return net::Descriptor(
      socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Of a dead process: whoever asks has the lock.
Status RemoveStale(const net::Descriptor& folder, const std::string& path,
                   const std::string& name) {
  struct stat found {};
  if (fstatat(folder.get(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    return Failed(path, errno);
  }
  if (!S_ISSOCK(found.st_mode)) {
    return Unexpected(Error{ErrorCode::kAlreadyExists,
                            path + ": is in the way of the control socket"});
  }
  if (unlinkat(folder.get(), name.c_str(), 0) != 0 && errno != ENOENT) {
    return Failed(path, errno);
  }
  return {};
}

}  // namespace

Result<net::Descriptor> ListenInFolder(const std::string& dir,
                                       const std::string& name) {
  const std::string path = dir + "/" + name;
  NEPHILA_TRY(const net::Descriptor folder, OpenFolder(dir));
  NEPHILA_RETURN_IF_ERROR(RemoveStale(folder, path, name));
  net::Descriptor listener = UnixSocket();
  // Linux makes the name with the mode of the socket: there is no moment at
  // which it is open to others.
  if (listener.get() < 0 || fchmod(listener.get(), S_IRUSR | S_IWUSR) != 0) {
    return Failed(path, errno);
  }
  const sockaddr_un address = NameIn(folder, name);
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address),
           sizeof(address)) != 0 ||
      listen(listener.get(), kBacklog) != 0) {
    return Failed(path, errno);
  }
  return listener;
}

void RemoveFromFolder(const std::string& dir, const std::string& name) {
  const auto folder = OpenFolder(dir);
  if (folder.has_value()) unlinkat(folder->get(), name.c_str(), 0);
}

Result<net::Descriptor> ConnectInFolder(const std::string& dir,
                                        const std::string& name) {
  const std::string path = dir + "/" + name;
  NEPHILA_TRY(const net::Descriptor folder, OpenFolder(dir));
  const auto nobody = [&path] {
    return Unexpected(Error{ErrorCode::kNotFound, path + ": nobody listens"});
  };
  // The socket itself: connect would follow a symbolic link to another one.
  const net::Descriptor target(
      openat(folder.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC, 0));
  if (target.get() < 0) {
    return errno == ENOENT ? nobody() : Failed(path, errno);
  }
  struct stat found {};
  if (fstat(target.get(), &found) != 0) return Failed(path, errno);
  if (!S_ISSOCK(found.st_mode)) {
    return Unexpected(Error{ErrorCode::kInvalidArgument,
                            path + ": is not the socket of a crawl"});
  }
  net::Descriptor socket = UnixSocket();
  if (socket.get() < 0) return Failed(path, errno);
  // A crawl that has much to do takes clients when it can; for that moment the
  // socket may block.
  const timeval longest{kConnectSeconds, 0};
  const int flags = fcntl(socket.get(), F_GETFL);
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof(longest));
  fcntl(socket.get(), F_SETFL, flags & ~O_NONBLOCK);
  const sockaddr_un address =
      AddressOf(fmt::format("/proc/self/fd/{}", target.get()));
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address),
              sizeof(address)) != 0) {
    // The process that made it is gone.
    if (errno == ECONNREFUSED || errno == ENOENT) return nobody();
    return Failed(path, errno);
  }
  fcntl(socket.get(), F_SETFL, flags);
  return socket;
}

bool IsOwnersPeer(int fd) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == geteuid() || peer.uid == 0);
}

Result<net::Endpoint> ParseLoopback(std::string_view text) {
  std::string full(text);
  const bool is_port = !full.empty() && full.find_first_not_of("0123456789") ==
                                            std::string::npos;
  if (is_port) full.insert(0, "127.0.0.1:");
  // No endpoint of others has it; here the system chooses.
  const bool any_port = full.ends_with(":0");
  if (any_port) full.back() = '1';
  auto endpoint = net::Endpoint::Parse(full, 0);
  if (!endpoint || (!is_port && full.find(':') == std::string::npos)) {
    return Unexpected(
        Error{ErrorCode::kInvalidArgument,
              fmt::format("control.http: '{}' is no address and port such as "
                          "127.0.0.1:9464",
                          EscapeForTerminal(text))});
  }
  const net::IpAddress& address = endpoint->address;
  const bool is_loopback = address.is_v4()
                               ? address.bytes()[0] == 127
                               : address == net::IpAddress::Parse("::1");
  if (!is_loopback) {
    return Unexpected(
        Error{ErrorCode::kInvalidArgument,
              fmt::format("control.http: {} is not of this machine's loopback, "
                          "127.0.0.0/8 or ::1; others reach it by a tunnel",
                          address.ToString())});
  }
  if (any_port) endpoint->port = 0;
  return *endpoint;
}

Result<net::Descriptor> ListenOn(const net::Endpoint& endpoint) {
  sockaddr_storage address{};
  const socklen_t size = endpoint.address.ToSockaddr(endpoint.port, &address);
  net::Descriptor listener(
      socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  // A crawl that was just ended leaves connections behind for a minute.
  if (listener.get() < 0 ||
      setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) !=
          0 ||
      bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), size) !=
          0 ||
      listen(listener.get(), kBacklog) != 0) {
    return Failed("control.http: " + endpoint.ToString(), errno);
  }
  return listener;
}

Result<net::Endpoint> LocalEndpoint(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return Failed("getsockname", errno);
  }
  const auto ip = net::IpAddress::FromSockaddr(
      reinterpret_cast<const sockaddr&>(address), size);
  if (!ip) return Failed("getsockname", EAFNOSUPPORT);
  // The port is at the same place in both families.
  const auto& in = reinterpret_cast<const sockaddr_in&>(address);
  return net::Endpoint{*ip, ntohs(in.sin_port)};
}

}  // namespace nephila::control
