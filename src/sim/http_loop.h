// HttpLoop: the connections of one thread of the simulated HTTP server, in one
// epoll. Private to http_server.cc.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "sim/answer.h"
#include "sim/descriptor.h"
#include "sim/http_request.h"
#include "sim/request_log.h"
#include "sim/site.h"

namespace nephila::sim {

class HttpLoop {
 public:
  // `listener` listens already and does not block.
  static Result<std::unique_ptr<HttpLoop>> Make(
      const Site& site, const Clock& clock, RequestLog* log,
      std::atomic<uint64_t>* next_connection, Descriptor listener);

  // Serves until Stop.
  void Run();
  // From any thread.
  void Stop();

  std::atomic<uint64_t> connections{0};
  std::atomic<uint64_t> requests{0};
  std::atomic<uint64_t> robots{0};  // of them
  std::atomic<uint64_t> bytes{0};

 private:
  struct Connection {
    Descriptor socket;
    uint64_t id = 0;
    uint64_t timer = 0;  // the one that counts; others are stale
    int64_t accepted_us = 0;
    std::string address;
    std::string in;
    size_t searched = 0;  // of `in`
    std::string out;      // what the system did not take yet
    size_t out_sent = 0;
    uint64_t sent = 0;  // of this answer
    // Before the last bytes of this answer were given to the system.
    std::optional<MonoTime> given;
    uint32_t events = 0;
    bool busy = false;  // a request is being answered
    bool open = false;  // it is logged, its end is not
    Step step;
    Exchange exchange;
  };
  struct Timer {
    MonoTime at;
    int fd = -1;
    uint64_t number = 0;
    bool operator>(const Timer& other) const { return at > other.at; }
  };

  HttpLoop(const Site& site, const Clock& clock, RequestLog* log,
           std::atomic<uint64_t>* next_connection, Descriptor listener);
  Status Open();
  void Listen(bool on);
  void AcceptAll();
  void Accept(int fd);
  void OnEvent(int fd, uint32_t events);
  void OnReadable(Connection* connection);
  void OnTimers();
  int TimeoutMs() const;
  // Answers what has been read, until that is not a whole request, or the
  // answer needs time. Each of these may destroy the connection, and then
  // returns false.
  bool Serve(Connection* connection);
  bool Advance(Connection* connection, std::string* fresh);
  bool Finish(Connection* connection);
  // Sends what it can of `fresh`, behind what waits.
  bool Send(Connection* connection, std::string* fresh);
  void Watch(Connection* connection, uint32_t events);
  void Close(Connection* connection, std::string_view end);

  const Site& site_;
  const Clock& clock_;
  RequestLog* const log_;
  std::atomic<uint64_t>* const next_connection_;
  Descriptor listener_;
  Descriptor epoll_;
  Descriptor wake_;
  bool listening_ = false;
  std::atomic<bool> stop_{false};
  Answerer answerer_;
  Request request_;
  std::string read_;
  std::string fresh_;
  uint64_t next_timer_ = 1;
  std::vector<std::unique_ptr<Connection>> by_fd_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
};

}  // namespace nephila::sim
