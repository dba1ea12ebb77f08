// What `bench fetch` downloads from, each in a process of its own so that its
// CPU is not counted: the simulated web for HTTP, nginx for HTTPS.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "fetch/nginx_testing.h"
#include "net/ip_address.h"

namespace nephila::bench {

// A page to ask for.
struct FetchTarget {
  std::string url;
  std::string host;
  uint16_t port = 80;
  bool https = false;
  net::IpAddress address;
};

// Ends with the object, and with this process if that ends first.
class SimProcess {
 public:
  static Result<std::unique_ptr<SimProcess>> Start(uint64_t hosts);
  ~SimProcess();
  SimProcess(const SimProcess&) = delete;
  SimProcess& operator=(const SimProcess&) = delete;

  // `count` pages of as many hosts, sizes and links as the papers have them.
  Result<std::vector<FetchTarget>> Targets(size_t count) const;

 private:
  SimProcess(pid_t pid, uint16_t port, uint64_t hosts)
      : pid_(pid), port_(port), hosts_(hosts) {}
  const pid_t pid_;
  const uint16_t port_;
  const uint64_t hosts_;
};

// One page of 21 KB under many names of its wildcard certificate.
std::vector<FetchTarget> NginxTargets(const fetch::TestNginx& nginx,
                                      size_t count);

// The same page over HTTP, which comes at 256 bytes a second.
std::vector<FetchTarget> SlowTargets(const fetch::TestNginx& nginx,
                                     size_t count);

}  // namespace nephila::bench
