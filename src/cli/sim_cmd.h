// nephila sim: the simulated web, served, looked at, and its log checked.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace nephila::cli {

struct SimOptions {
  std::vector<std::string> words;  // none, page URL..., seeds N, check LOG
  uint16_t port = 0;
  uint16_t dns_port = 0;
  int threads = 1;
  std::string scenario;
  std::string log;
  // Over those of the scenario.
  std::optional<int64_t> seed;
  std::optional<int64_t> hosts;
  std::optional<int64_t> link_port;
  std::string host_delay = "1s";
  std::string server_delay = "0s";
  bool json = false;
};

// Without a word it serves until SIGINT or SIGTERM, and prints one line when
// it is ready: with --json `port`, `dns_port`, `seed`, `hosts`, `plds`,
// `addresses` and `start`, the URL of the most popular home page.
//   page URL...  what must be found there; with --json `url`, `status`,
//   `bytes`,
//                `gzip`, `links`
//   seeds N      the home pages of the N most popular domains
//   check LOG    whether a log shows a polite crawl; an error if it does not
Status RunSim(const SimOptions& options, std::ostream& out);

}  // namespace nephila::cli
