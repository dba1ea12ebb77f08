#include "sim/dns_zone.h"

#include <arpa/inet.h>

#include <algorithm>

namespace nephila::sim {
namespace {

void AddGiven(const Rule& rule, DnsAnswer* answer) {
  answer->ttl = static_cast<uint32_t>(rule.ttl);
  for (const std::string& text : rule.addresses) {
    in_addr v4{};
    Ipv6 v6{};
    if (inet_pton(AF_INET, text.c_str(), &v4) == 1) {
      answer->v4.push_back(ntohl(v4.s_addr));
    } else if (inet_pton(AF_INET6, text.c_str(), v6.data()) == 1) {
      answer->v6.push_back(v6);
    }
  }
}

}  // namespace

DnsZone::DnsZone(const Site& site)
    : site_(site),
      answers_(std::make_unique<std::atomic<int64_t>[]>(
          site.scenario().rules.size())) {}

void DnsZone::AddOwn(const HostFacts& host, std::string_view name,
                     DnsAnswer* answer) const {
  const AddressList list = site_.AddressesOf(host, name);
  answer->v4.assign(list.span().begin(), list.span().end());
}

void DnsZone::AddRebound(const Rule& rule, const HostFacts& host,
                         std::string_view name, DnsAnswer* answer) {
  const int64_t before = answers_[rule.number]++;
  if (before < std::max<int64_t>(1, rule.count)) {
    AddOwn(host, name, answer);
  } else {
    AddGiven(rule, answer);
  }
  answer->ttl = 0;
}

DnsAnswer DnsZone::Find(std::string_view name) {
  DnsAnswer answer;
  const HostFacts host = site_.FindHost(name);
  const Rule* rule = site_.scenario().Find(Layer::kDns, name, "");
  if (host.kind == HostKind::kNone) {
    answer.rcode = Rcode::kNxDomain;
    return answer;
  }
  if (rule == nullptr) {
    AddOwn(host, name, &answer);
    return answer;
  }
  switch (rule->behaviour) {
    case Behaviour::kDnsNxdomain:
      answer.rcode = Rcode::kNxDomain;
      break;
    case Behaviour::kDnsServfail:
      answer.rcode = Rcode::kServFail;
      break;
    case Behaviour::kDnsTimeout:
      answer.silent = true;
      break;
    case Behaviour::kDnsRebind:
      AddRebound(*rule, host, name, &answer);
      break;
    case Behaviour::kDnsTruncate:
      answer.truncate = true;
      AddOwn(host, name, &answer);
      break;
    case Behaviour::kDnsSlow:
      answer.delay = rule->delay;
      AddOwn(host, name, &answer);
      break;
    case Behaviour::kDnsDrip:
      answer.truncate = true;
      answer.drip = true;
      answer.delay = rule->delay;
      AddOwn(host, name, &answer);
      break;
    default:  // wildcard, address
      AddGiven(*rule, &answer);
      if (rule->addresses.empty()) AddOwn(host, name, &answer);
  }
  return answer;
}

}  // namespace nephila::sim
