// Site: everything that the simulated hosts hold. The web, the farms and the
// endless spaces of the scenario: which names exist, at which addresses, and
// what is found at a path. How it is sent is answer.h's.
//   Threads: immutable. Cost: a page's, see web.h; one look at each rule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sim/http_request.h"
#include "sim/scenario.h"
#include "sim/web.h"

namespace nephila::sim {

enum class HostKind : uint8_t {
  kNone,   // no such host
  kWeb,    // of the simulated web
  kFarm,   // of a link farm
  kNamed,  // a rule of the scenario names it; every path is a page
};

struct HostFacts {
  HostKind kind = HostKind::kNone;
  HostId id;                   // kWeb
  const Rule* farm = nullptr;  // kFarm
  uint64_t seed = 0;           // what its pages are drawn by, besides kWeb's
};

// What is found at a path.
struct Found {
  int status = 404;
  std::string_view type = "text/html; charset=utf-8";
  uint64_t version = 0;  // for ETag
  bool gzip = false;
  bool chunked = false;
  bool session = false;  // give the client a cookie
};

class Site {
 public:
  // Completes the scenario's shape.
  static Result<Site> Make(Scenario scenario);

  const Web& web() const { return web_; }
  const Scenario& scenario() const { return scenario_; }

  HostFacts FindHost(std::string_view host) const;
  // REQUIRES: the host is some kind's.
  AddressList AddressesOf(const HostFacts& host, std::string_view name) const;

  // Appends the body of the request's answer.
  Found Find(const Request& request, std::string* body) const;

 private:
  Site(Scenario scenario, Web web)
      : scenario_(std::move(scenario)), web_(std::move(web)) {}

  std::optional<HostFacts> FindFarmHost(std::string_view host) const;
  Found FindRobots(const HostFacts& host, std::string* body) const;
  Found FindWebPage(const Request& request, const HostFacts& host,
                    const Rule* space, std::string* body) const;
  Found FindFarmPage(const Request& request, const HostFacts& host,
                     std::string* body) const;
  Found FindSmallSitePage(const Request& request, const Rule& rule,
                          const HostFacts& host, std::string* body) const;
  void AppendFarmUrl(const Rule& farm, uint64_t bits, std::string* out) const;
  // Links that lead from an ordinary page into the spaces of its host, and
  // from some into the farms.
  void AppendEntries(const Rule* space, uint64_t page_bits,
                     std::string* out) const;

  Scenario scenario_;
  Web web_;
};

}  // namespace nephila::sim
