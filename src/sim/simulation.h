// Simulation: the simulated web running in this process: HTTP on all loopback
// addresses, DNS on one, and the log of what was asked. What `nephila sim`
// runs, and what tests of a crawl start.
//   Threads: those of its servers. Create, use and destroy it on one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"
#include "sim/dns_server.h"
#include "sim/http_server.h"
#include "sim/request_log.h"
#include "sim/scenario.h"
#include "sim/site.h"

namespace nephila::sim {

struct SimulationOptions {
  uint16_t port = 0;      // of HTTP; 0: one that is free
  uint16_t dns_port = 0;  // 0: one that is free
  size_t threads = 1;
  // More ports that serve the same hosts: for a host name whose ports a crawler
  // may take for different hosts. 0: one that is free. A thread each.
  std::vector<uint16_t> more_ports;
  std::string log;  // a file; empty: none
  // Links name the port of HTTP, unless web.port of the scenario names another:
  // a crawler may reach the servers by another port than they have.
};

class Simulation {
 public:
  // `fs` and `clock` outlive it.
  static Result<std::unique_ptr<Simulation>> Start(
      Scenario scenario, const SimulationOptions& options, FileSystem& fs,
      const Clock& clock);

  const Site& site() const { return site_; }
  uint16_t port() const { return http_->port(); }
  uint16_t dns_port() const { return dns_->port(); }
  // Of SimulationOptions::more_ports. The log does not tell ports apart.
  uint16_t more_port(size_t i) const { return more_.at(i)->port(); }
  // Of all ports.
  HttpCounts counts() const;
  HttpCounts counts_of_more(size_t i) const { return more_.at(i)->counts(); }

  // Ends both servers and writes the log.
  Status Stop();
  // Writes what was logged so far.
  Status FlushLog();

 private:
  explicit Simulation(Site site) : site_(std::move(site)) {}

  Site site_;
  std::unique_ptr<RequestLog> log_;
  std::unique_ptr<HttpServer> http_;
  std::vector<std::unique_ptr<HttpServer>> more_;
  std::unique_ptr<DnsServer> dns_;
};

}  // namespace nephila::sim
