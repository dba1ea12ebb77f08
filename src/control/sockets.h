// The sockets of a crawl's control: one in the job's folder, one on loopback.
//
//   In: a folder, or an address as `control.http` has it   Out: descriptors
//   that do not block, or one line that says why not   Threads: any
//
// The one in the folder belongs to its owner from its first moment: its mode is
// set before it has a name. It is reached by way of the opened folder, so the
// length of the path does not matter (sun_path has 108 bytes).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "net/descriptor.h"
#include "net/ip_address.h"

namespace nephila::control {

// Makes `name` in `dir` anew, in place of the socket of a process that is gone.
// REQUIRES: the caller has the lock of the folder. kAlreadyExists if something
// else than a socket has the name.
Result<net::Descriptor> ListenInFolder(const std::string& dir,
                                       const std::string& name);
// Takes the name away again.
void RemoveFromFolder(const std::string& dir, const std::string& name);
// kNotFound if nobody listens there. Blocks while the other end is busy, but
// not for long.
Result<net::Descriptor> ConnectInFolder(const std::string& dir,
                                        const std::string& name);
// Whether the process at the other end is ours, or the administrator's.
bool IsOwnersPeer(int fd);

// "127.0.0.1:9464", "[::1]:9464" or "9464"; with port 0 the system chooses one.
// kInvalidArgument for what is not this machine's loopback.
Result<net::Endpoint> ParseLoopback(std::string_view text);
Result<net::Descriptor> ListenOn(const net::Endpoint& endpoint);
// Where a listening socket is: with port 0 the system has chosen.
Result<net::Endpoint> LocalEndpoint(int fd);

}  // namespace nephila::control
