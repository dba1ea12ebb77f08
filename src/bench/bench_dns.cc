#include "bench/bench_dns.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/cpu_time.h"
#include "config/settings.h"
#include "dns/cares_resolver.h"
#include "net/address_guard.h"
#include "net/event_loop.h"
#include "sim/dns_server.h"
#include "sim/scenario.h"
#include "sim/site.h"

namespace nephila::bench {
namespace {

struct Figures {
  double asked_us = std::numeric_limits<double>::max();
  double cached_us = std::numeric_limits<double>::max();
  double names_per_s = 0;
};

std::vector<std::string> NamesOf(const sim::Web& web, size_t count) {
  std::vector<std::string> names;
  names.reserve(count);
  for (uint64_t pld = 0; names.size() < count && pld < web.pld_count(); ++pld) {
    std::string name;
    web.AppendHostName({pld, 0}, &name);
    names.push_back(std::move(name));
  }
  return names;
}

// CPU seconds of this thread for all names; -1 if one was not found.
double ResolveAll(net::EventLoop& loop, dns::Resolver& resolver,
                  const std::vector<std::string>& names) {
  const double begin = ThreadCpuSeconds();
  size_t ended = 0;
  bool found = true;
  for (const std::string& name : names) {
    resolver.Resolve(name, [&](const dns::Answer& answer) {
      ++ended;
      found = found && answer.outcome == dns::Outcome::kFound;
    });
  }
  while (ended < names.size()) loop.RunOnce(MonoTime::max());
  return found ? ThreadCpuSeconds() - begin : -1;
}

Status RunPass(const config::DnsSettings& settings,
               const net::AddressGuard& guard,
               const std::vector<std::string>& names, Figures* figures) {
  const RealClock clock;
  const auto count = static_cast<double>(names.size());
  NEPHILA_TRY(auto loop, net::EventLoop::Make(clock));
  NEPHILA_TRY(auto resolver, dns::CaresResolver::Make(*loop, guard, settings));
  const MonoTime begin = clock.Now();
  const double asked = ResolveAll(*loop, *resolver, names);
  const std::chrono::duration<double> took = clock.Now() - begin;
  const double cached = ResolveAll(*loop, *resolver, names);
  if (asked < 0 || cached < 0) {
    return Unexpected(Error{ErrorCode::kIo, "a name was not found"});
  }
  figures->asked_us = std::min(figures->asked_us, asked / count * 1e6);
  figures->cached_us = std::min(figures->cached_us, cached / count * 1e6);
  figures->names_per_s = std::max(figures->names_per_s, count / took.count());
  return {};
}

}  // namespace

Status RunBenchDns(const BenchDnsOptions& options, std::ostream& out) {
  sim::Scenario scenario;
  scenario.shape.hosts = 1'000'000;
  NEPHILA_TRY(const sim::Site site, sim::Site::Make(std::move(scenario)));
  NEPHILA_TRY(const auto server, sim::DnsServer::Start(site, nullptr, 0));
  config::DnsSettings settings;
  settings.servers = {"127.0.0.1:" + std::to_string(server->port())};
  settings.max_in_flight = options.in_flight;
  settings.rate = 1'000'000;
  settings.max_waiting = options.names;
  config::GuardSettings guard_settings;
  guard_settings.allow = {"127.0.0.0/8"};
  NEPHILA_TRY(const auto guard, net::AddressGuard::Make(guard_settings));
  const std::vector<std::string> names =
      NamesOf(site.web(), static_cast<size_t>(options.names));
  Figures figures;
  for (int i = 0; i < options.passes; ++i) {
    NEPHILA_RETURN_IF_ERROR(RunPass(settings, guard, names, &figures));
  }
  if (options.json) {
    nlohmann::ordered_json line;
    line["bench"] = "dns";
    line["names"] = names.size();
    line["in_flight"] = options.in_flight;
    line["names_per_s"] = figures.names_per_s;
    line["cpu_us_per_name"] = figures.asked_us;
    line["cpu_us_per_cached_name"] = figures.cached_us;
    out << line.dump() << '\n';
  } else {
    out << fmt::format(
        "{} names, {} in flight: {:.0f} names/s, {:.1f} us of CPU a name, "
        "{:.2f} us from the cache\n",
        names.size(), options.in_flight, figures.names_per_s, figures.asked_us,
        figures.cached_us);
  }
  return {};
}

}  // namespace nephila::bench
