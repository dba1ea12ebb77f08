// Scenario: which hosts and paths of the simulated web behave how, read from a
// TOML file: `[web]` is the shape, each `[[rule]]` a behaviour.
//
//   [[rule]]
//   host = "*.com"        # '*' is any text
//   share = 100           # of a thousand hosts that match, drawn by the seed
//   behaviour = "slow-drip"
//   delay = "100ms"
//
// In each layer (answers, spaces, names) the first rule that matches applies.
// The path "*", the default, is every path but /robots.txt; "/*" is all.
// Errors are one line that begins with the place in the file; unknown keys,
// keys that a behaviour does not read and values out of range are refused.
//   Threads: immutable.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/behaviour.h"
#include "sim/shape.h"

namespace nephila::sim {

struct Rule {
  std::string host = "*";
  std::string path = "*";
  int64_t share = 1000;
  Behaviour behaviour = Behaviour::kPage;

  int64_t status = 0;  // 0: what fits the behaviour
  std::string text;
  std::string type;
  std::string target;
  std::string name;
  std::string of;
  int64_t count = 0;  // 0: what fits the behaviour
  uint64_t bytes = 0;
  int64_t by = 10;
  int64_t plds = 100;
  int64_t hosts = 10;
  int64_t entry = 10;
  int64_t ttl = 300;
  std::chrono::nanoseconds delay = std::chrono::seconds(2);
  std::chrono::nanoseconds period = std::chrono::seconds(60);
  std::chrono::nanoseconds length = std::chrono::seconds(10);
  std::vector<std::string> addresses;

  // The number of the rule in its file, from 0: what shares are drawn by.
  uint64_t number = 0;
};

struct Scenario {
  Shape shape;
  std::vector<Rule> rules;

  // The first rule of the layer that applies to the host, null if none does.
  // For Layer::kHttp also to the path; paths of others are not looked at.
  const Rule* Find(Layer layer, std::string_view host,
                   std::string_view path) const;
  // Whether a rule makes a host exist that the web does not know: it names the
  // host without a '*', or as a wildcard of DNS, or the host is under one of
  // the top-level names that are kept for tests (RFC 2606). A rule for "*.com"
  // makes no host.
  bool Names(std::string_view host) const;
};

inline constexpr size_t kMaxScenarioBytes = size_t{1} << 20;
inline constexpr size_t kMaxRules = 1000;

// The rows of `[[rule]]`, for docs and tests.
std::span<const config::Row> RuleRows();

// `file_name` is only for messages. The shape is as written (CompleteShape).
Result<Scenario> ParseScenario(std::string_view text,
                               std::string_view file_name);

}  // namespace nephila::sim
