// PolitenessCheck: proves from the servers' own log that no host and no server
// was contacted early, or names the lines that say otherwise. Two kinds of log
// are read: that of the simulated web (request_log.h), and the access log of an
// nginx with a log_format of its own (nginx_log.h); docs/formats/request-log.md
// has both.
//
// The rules (ARCHITECTURE.md, stage `politeness`):
//   - one request in flight per host;
//   - a request to a host comes at least host_delay after the END of the last
//     transfer from it; only the host's first robots.txt need not wait;
//   - contacts of one server (an IPv4 address, an IPv6 /64) are at least
//     server_delay apart, from contact to contact: the accept of a connection
//     that is fresh, else the arrival of a request. The first request of a
//     fresh connection is no contact of its own.
//   - what answers asked for (Crawl-delay, Retry-After), if the caller knows
//     it, holds from the end of the answer on.
// A host is its name alone: ports share its clock.
//   In: lines in order   Out: violations, the first ones with their lines
//   Memory: hosts, addresses and open connections. Time: linear in the log.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/table_hash.h"
#include "net/server_group.h"
#include "sim/nginx_log.h"

namespace nephila::sim {

// What an answer asked its host's visitors for.
struct AskedFor {
  std::chrono::nanoseconds retry_after{0};
  // With a robots.txt: what holds of the host from now on.
  std::optional<std::chrono::nanoseconds> crawl_delay;
};

struct PolitenessRules {
  std::chrono::nanoseconds host_delay{0};
  std::chrono::nanoseconds server_delay{0};
  std::chrono::nanoseconds tolerance = std::chrono::milliseconds(10);
  // Longer delays of some hosts (Crawl-delay, Retry-After), by name.
  std::map<std::string, std::chrono::nanoseconds, std::less<>> host_delays;
  // Of hosts that have a delay of their own in place of host_delay.
  std::function<std::optional<std::chrono::nanoseconds>(std::string_view host)>
      site_delay;
  // Asked once for each answer, in the order of the log.
  std::function<AskedFor(std::string_view host, std::string_view path,
                         int status)>
      asked_for;
  // Most requests in flight at one address; 0 is any number.
  uint64_t server_in_flight = 0;
  // Which addresses are one server.
  net::ServerGroups groups;
  size_t reported = 20;  // violations that are described; all are counted
};

struct Violation {
  uint64_t line = 0;     // from 1
  uint64_t earlier = 0;  // the line that it came too soon after
  std::string what;
};

struct PolitenessReport {
  uint64_t requests = 0;
  uint64_t connections = 0;
  uint64_t hosts = 0;
  uint64_t addresses = 0;
  uint64_t asked_for = 0;  // answers that asked for a wait
  uint64_t violations = 0;
  std::vector<Violation> first;
};

class PolitenessCheck {
 public:
  explicit PolitenessCheck(PolitenessRules rules) : rules_(std::move(rules)) {}

  // The next line, without its '\n'. An error names the line's number: a log
  // that cannot be read proves nothing.
  Status Line(std::string_view line);
  // Behind the last one.
  Status Finish();
  PolitenessReport Report() const;

 private:
  struct Host {
    int64_t end_us = 0;
    uint64_t end_line = 0;   // 0: never contacted
    uint64_t open_line = 0;  // the R in flight; 0: none
    bool robots_seen = false;
    std::chrono::nanoseconds crawl_delay{0};
    int64_t not_before_us = 0;     // by Retry-After
    uint64_t not_before_line = 0;  // of the answer
  };
  struct Server {
    int64_t contact_us = 0;
    uint64_t contact_line = 0;
    uint64_t in_flight = 0;
  };
  struct Connection {
    std::string address;  // the name of its server's group
    std::string host;     // of the request in flight
    std::string path;
    int64_t accepted_us = 0;
    bool fresh = true;
    bool busy = false;
  };

  Status Event(const LogEvent& event);
  Status Accepted(int64_t time, uint64_t id, std::string_view address);
  Status Requested(int64_t time, uint64_t id, std::string_view host,
                   std::string_view path);
  Status Ended(int64_t time, uint64_t id, int status, bool kept);
  void TakeAskedFor(int64_t time, const Connection& connection, int status,
                    Host* host);
  void Contact(int64_t time, const std::string& address);
  void CheckHost(int64_t time, const std::string& name, bool robots,
                 const Host& host);
  void Add(uint64_t earlier, std::string what);
  Error Bad(std::string_view what) const;

  const PolitenessRules rules_;
  PolitenessReport report_;
  NginxLog nginx_;
  uint64_t lines_ = 0;  // that were read
  uint64_t line_ = 0;   // that the event in hand is of
  int64_t last_us_ = 0;
  std::unordered_map<std::string, Host, TableHash> hosts_;
  std::unordered_map<std::string, Server, TableHash> servers_;
  std::unordered_map<uint64_t, Connection> connections_;
};

// A whole log. `fs` is only read from.
Result<PolitenessReport> CheckPoliteness(FileSystem& fs,
                                         const std::string& path,
                                         const PolitenessRules& rules);

}  // namespace nephila::sim
