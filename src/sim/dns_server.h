// DnsServer: the name server of the simulated web, by UDP and TCP on 127.0.0.1.
//
// It answers for the names of its Site with authority, and NXDOMAIN for all
// others: nothing is ever asked further.
//   In: questions (dns_message.h)   Out: answers (dns_zone.h), D lines of the
//   log Threads: one of its own; Stop ends it. Bounds: kMaxQuestionBytes a
//   question, kMaxTcpConnections at once (more are closed), one answer at a
//   time on each, kMaxLater answers that wait for their time (more are not
//   given). A slow answer costs a timer, not a thread.
#pragma once

#include <cstdint>
#include <memory>
#include <thread>

#include "base/result.h"
#include "sim/request_log.h"
#include "sim/site.h"

namespace nephila::sim {

inline constexpr size_t kMaxTcpConnections = 1000;
inline constexpr size_t kMaxLater = 100'000;

class DnsServer {
 public:
  // Port 0 is one that is free, the same for UDP and TCP. `site` and `log`
  // (null: none) outlive it.
  static Result<std::unique_ptr<DnsServer>> Start(const Site& site,
                                                  RequestLog* log,
                                                  uint16_t port);
  ~DnsServer();
  DnsServer(const DnsServer&) = delete;
  DnsServer& operator=(const DnsServer&) = delete;

  void Stop();
  uint16_t port() const { return port_; }

 private:
  class Loop;
  DnsServer();

  uint16_t port_ = 0;
  std::unique_ptr<Loop> loop_;
  std::thread thread_;
};

}  // namespace nephila::sim
