// nephila sim: the simulated web, served and looked at.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace nephila::cli {

struct SimOptions {
  std::vector<std::string> words;  // none, page URL..., seeds N
  uint16_t port = 0;
  uint16_t dns_port = 0;
  int threads = 1;
  std::string scenario;
  std::string log;
  // Over those of the scenario.
  std::optional<int64_t> seed;
  std::optional<int64_t> hosts;
  std::optional<int64_t> link_port;
  bool json = false;
};

// Without a word it serves until SIGINT or SIGTERM, and prints one line when
// it is ready: with --json `port`, `dns_port`, `seed`, `hosts`, `plds`,
// `addresses` and `start`, the URL of the most popular home page.
//   page URL...  what must be found there; with --json `url`, `status`,
//   `bytes`,
//                `gzip`, `links`
//   seeds N      the home pages of the N most popular domains
Status RunSim(const SimOptions& options, std::ostream& out);

}  // namespace nephila::cli
