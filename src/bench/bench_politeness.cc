#include "bench/bench_politeness.h"

#include <fmt/core.h>

#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/cpu_time.h"
#include "bench/process.h"
#include "politeness/politeness.h"

namespace nephila::bench {
namespace {

constexpr size_t kUrlBytes = 80;
constexpr uint64_t kHostsPerAddress = 5;
constexpr size_t kBatch = 256;

struct Figures {
  double add_ns = 0;
  double lease_ns = 0;
  double host_bytes = 0;
};

class PolitenessBench {
 public:
  explicit PolitenessBench(uint64_t hosts) : hosts_(hosts) {
    politeness::PolitenessOptions options;
    options.settings.max_hosts = static_cast<int64_t>(2 * hosts);
    options.settings.max_urls = static_cast<int64_t>(4 * hosts);
    politeness_ =
        std::make_unique<politeness::Politeness>(clock_, std::move(options));
  }

  Figures Run(uint64_t leases) {
    Figures figures;
    const uint64_t memory = ResidentBytes();
    double begin = ThreadCpuSeconds();
    for (uint64_t host = 1; host <= hosts_; ++host) Add(host);
    figures.add_ns =
        (ThreadCpuSeconds() - begin) * 1e9 / static_cast<double>(hosts_);
    begin = ThreadCpuSeconds();
    uint64_t done = 0;
    while (done < leases) done += Turn();
    figures.lease_ns =
        (ThreadCpuSeconds() - begin) * 1e9 / static_cast<double>(done);
    const uint64_t now = ResidentBytes();
    figures.host_bytes = static_cast<double>(now > memory ? now - memory : 0) /
                         static_cast<double>(hosts_);
    return figures;
  }

 private:
  void Add(uint64_t host) {
    politeness::ServerKey address;
    const uint64_t number = host / kHostsPerAddress;
    for (size_t i = 0; i < 4; ++i) {
      address.bytes[12 + i] = static_cast<uint8_t>(number >> (8 * i));
    }
    politeness::HostFacts facts;
    facts.host = host;
    facts.domain = host;
    facts.addresses = {&address, 1};
    static_cast<void>(politeness_->Add(facts, politeness::Kind::kPage,
                                       std::string(kUrlBytes, 'u')));
  }

  // What is due now, or else the next time that something is.
  uint64_t Turn() {
    leases_.clear();
    politeness_->Take(kBatch, leases_);
    if (leases_.empty()) {
      const MonoTime due = politeness_->NextDue();
      if (due > clock_.Now()) clock_.Advance(due - clock_.Now());
    }
    for (const politeness::Lease& lease : leases_) {
      politeness::Outcome outcome;
      outcome.contact = outcome.end = clock_.Now();
      politeness_->Done(lease.id, outcome);
      Add(lease.host);
    }
    return leases_.size();
  }

  const uint64_t hosts_;
  ManualClock clock_;
  std::unique_ptr<politeness::Politeness> politeness_;
  std::vector<politeness::Lease> leases_;
};

}  // namespace

Status RunBenchPoliteness(const BenchPolitenessOptions& options,
                          std::ostream& out) {
  for (const uint64_t hosts : options.hosts) {
    const Figures figures = PolitenessBench(hosts).Run(options.leases);
    if (!options.json) {
      out << fmt::format(
          "{} hosts: add {:.0f} ns, lease and done and add {:.0f} ns, {:.0f} "
          "bytes a host with a URL and its share of an address\n",
          hosts, figures.add_ns, figures.lease_ns, figures.host_bytes);
      continue;
    }
    nlohmann::ordered_json line;
    line["hosts"] = hosts;
    line["leases"] = options.leases;
    line["add_cpu_ns"] = figures.add_ns;
    line["lease_cpu_ns"] = figures.lease_ns;
    line["bytes_per_host"] = figures.host_bytes;
    out << line.dump() << '\n';
  }
  return {};
}

}  // namespace nephila::bench
