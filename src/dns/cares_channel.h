// CaresChannel: questions to one name server through c-ares: sockets, random
// source ports, TCP where an answer by UDP was truncated, and its time.
//
// One try: who asks again, and whom, is decided above. A channel has one UDP
// socket at a time, with a source port of the kernel's choosing, which c-ares
// closes whenever nothing is in flight. So that a port does not stay the same
// for long, and no socket has more answers waiting than its buffer holds, a
// channel takes only kMaxQuestions and is then let run dry.
//   In: messages (MakeQuestion)   Out: replies, through the owner
//   Threads: that of the loop. Time: c-ares has its own, real clock; the loop
//   must have a real one too for questions to time out when they should.
#pragma once

#include <ares.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/event_loop.h"
#include "net/ip_address.h"

namespace nephila::dns {

enum class ReplyStatus : uint8_t {
  kAnswered,  // with a message
  kTimedOut,
  kUnreachable,  // the connection was refused or ended
  kNotSent,      // for want of something here: descriptors, ports, memory
};

// Who asked.
class ReplySink {
 public:
  virtual ~ReplySink() = default;
  // Called inside c-ares, even inside Send: keep it and do nothing else.
  virtual void OnReply(void* question, ReplyStatus status,
                       std::string_view message) = 0;
  // c-ares is left: now something may be done about it. Not after a Send.
  virtual void OnReplies() = 0;
};

class CaresChannel {
 public:
  static constexpr size_t kMaxQuestions = 200;

  // Its questions have all EDNS or none: c-ares takes an OPT record off the
  // end of what was not understood, and must not where there is none.
  static Result<std::unique_ptr<CaresChannel>> Make(
      net::EventLoop& loop, const net::Endpoint& server,
      std::chrono::milliseconds timeout, bool edns, ReplySink* sink);
  // What is in flight gets no reply.
  ~CaresChannel();
  CaresChannel(const CaresChannel&) = delete;
  CaresChannel& operator=(const CaresChannel&) = delete;

  // `question` comes back with the reply. REQUIRES: !full().
  void Send(std::string_view message, void* question);

  bool full() const { return sent_ == kMaxQuestions; }
  size_t in_flight() const { return in_flight_; }

 private:
  // c-ares has a socket for UDP and one for TCP; more only while one replaces
  // another.
  static constexpr size_t kMaxSockets = 8;

  class Socket : public net::FdHandler {
   public:
    void OnReady(uint32_t events) override;
    CaresChannel* channel = nullptr;
    int fd = -1;
  };
  struct Question {
    CaresChannel* channel;
    void* question;
  };

  CaresChannel(net::EventLoop& loop, std::chrono::milliseconds timeout,
               ReplySink* sink);
  // The sockets of c-ares, so that we know why one could not be used: c-ares
  // calls that a refused connection.
  static const ares_socket_functions& SocketFunctions();
  void NoteError(int error);
  static void OnState(void* self, ares_socket_t fd, int readable, int writable);
  static void OnAnswer(void* question, int status, int timeouts,
                       unsigned char* message, int size);
  void Watch(int fd, uint32_t events);
  void Process(ares_socket_t read_fd, ares_socket_t write_fd);
  void SetTimer(std::chrono::nanoseconds wait);

  net::EventLoop& loop_;
  const std::chrono::milliseconds timeout_;
  ReplySink* const sink_;
  ares_channel channel_ = nullptr;
  std::array<Socket, kMaxSockets> sockets_;
  net::TimerId timer_ = net::TimerId::kNone;
  size_t sent_ = 0;
  size_t in_flight_ = 0;
  bool closing_ = false;
  bool local_error_ = false;  // since c-ares was entered
};

// The name servers of this machine, as c-ares reads them.
Result<std::vector<net::Endpoint>> SystemServers(
    const std::string& path = "/etc/resolv.conf");

}  // namespace nephila::dns
