// What CaresResolver answers: without asking, and from what servers said.
#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "dns/cares_resolver.h"
#include "dns/message.h"

namespace nephila::dns {

using std::chrono::nanoseconds;

bool CaresResolver::IsFinal(Outcome outcome) {
  return outcome == Outcome::kFound || outcome == Outcome::kNoSuchName ||
         outcome == Outcome::kNoAddress;
}

bool CaresResolver::WantsV4() const {
  return settings_.ipv6 != config::Ipv6Mode::kOnly;
}

bool CaresResolver::WantsV6() const {
  return settings_.ipv6 != config::Ipv6Mode::kOff;
}

std::optional<Answer> CaresResolver::AnswerKnown(std::string_view host,
                                                 std::string* name) {
  std::string_view literal = host;
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    literal = host.substr(1, host.size() - 2);
  }
  if (const auto address = net::IpAddress::Parse(literal);
      address && (literal.size() == host.size() || address->is_v6())) {
    return AnswerAddresses({*address});
  }
  Answer answer;
  auto normal = NormalName(host);
  if (!normal) {
    answer.outcome = Outcome::kBadName;
    return answer;
  }
  switch (KindOf(*normal)) {
    case NameKind::kLocalhost:
      return AnswerAddresses({net::IpAddress::V4(127, 0, 0, 1),
                              net::IpAddress::V6({0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                                  0, 0, 0, 0, 0, 1})});
    case NameKind::kNeverAsked:
      answer.outcome = Outcome::kNoSuchName;
      answer.ttl = settings_.negative_ttl;
      return answer;
    case NameKind::kOrdinary:
      break;
  }
  *name = *std::move(normal);
  return std::nullopt;
}

// Of the families that are wanted, in their order.
Answer CaresResolver::AnswerAddresses(
    std::vector<net::IpAddress> addresses) const {
  std::erase_if(addresses, [&](const net::IpAddress& address) {
    return address.is_v4() ? !WantsV4() : !WantsV6();
  });
  Answer answer;
  Guard(std::move(addresses), &answer);
  answer.ttl = settings_.max_ttl;
  return answer;
}

Answer CaresResolver::Combine(const Lookup& lookup) const {
  const std::span<const Question> questions(lookup.questions.data(),
                                            lookup.count);
  // The one whose outcome counts: found, else that there is no such name, else
  // a failure, else that there is no address.
  const auto rank = [](const Question& question) {
    switch (question.outcome) {
      case Outcome::kFound:
        return 0;
      case Outcome::kNoSuchName:
        return 1;
      case Outcome::kNoAddress:
        return 3;
      default:
        return 2;
    }
  };
  const Question& best = *std::min_element(
      questions.begin(), questions.end(),
      [&](const Question& a, const Question& b) { return rank(a) < rank(b); });
  Answer answer;
  answer.outcome = best.outcome;
  answer.why = best.outcome == Outcome::kBadAnswer ? best.parsed.why : "";
  if (best.upstream != nullptr) answer.server = best.upstream->server();
  if (best.outcome == Outcome::kFound) {
    std::vector<net::IpAddress> addresses;
    for (const Question& question : questions) {
      if (question.outcome != Outcome::kFound) continue;
      const auto& found = question.parsed.addresses;
      addresses.insert(addresses.end(), found.begin(), found.end());
    }
    Guard(std::move(addresses), &answer);
  }
  answer.ttl = TtlOf(lookup, answer.outcome);
  return answer;
}

void CaresResolver::Guard(std::vector<net::IpAddress> addresses,
                          Answer* answer) const {
  const bool v6_first = settings_.ipv6 == config::Ipv6Mode::kPrefer;
  std::stable_sort(addresses.begin(), addresses.end(),
                   [&](const net::IpAddress& a, const net::IpAddress& b) {
                     return v6_first ? a.is_v6() && b.is_v4()
                                     : a.is_v4() && b.is_v6();
                   });
  answer->addresses.reserve(addresses.size());
  for (const net::IpAddress& address : addresses) {
    const net::GuardAnswer verdict = guard_.Check(address);
    if (verdict.refused()) {
      answer->refused.push_back({address, verdict.block, verdict.embedded});
    } else {
      answer->addresses.push_back(address);
    }
  }
  answer->outcome = Outcome::kFound;
  if (!answer->addresses.empty()) return;
  answer->outcome = answer->refused.empty() ? Outcome::kNoAddress
                                            : Outcome::kAddressesRefused;
}

nanoseconds CaresResolver::TtlOf(const Lookup& lookup, Outcome outcome) const {
  const bool found =
      outcome == Outcome::kFound || outcome == Outcome::kAddressesRefused;
  if (!found && !IsFinal(outcome)) return settings_.failure_ttl;
  nanoseconds ttl = found ? settings_.max_ttl : settings_.negative_ttl;
  for (const Question& question :
       std::span<const Question>(lookup.questions.data(), lookup.count)) {
    if (!IsFinal(question.outcome)) {
      // Half of what there is to know: not for long.
      ttl = std::min(ttl, settings_.failure_ttl);
      continue;
    }
    // Absence that nobody put a time to holds for the shortest.
    const nanoseconds said =
        std::chrono::seconds(question.parsed.ttl_s.value_or(0));
    ttl = std::min(ttl, std::max(said, settings_.min_ttl));
  }
  return ttl;
}

std::string CaresResolver::RecordsOf(const Lookup& lookup) const {
  std::string records;
  for (const Question& question : lookup.questions) {
    if (!IsFinal(question.outcome)) continue;
    records.append(question.parsed.records);
  }
  if (records.empty()) return records;
  std::string text;
  for (const char c : FormatUtc(loop_.clock().WallNow())) {
    if (IsDigit(c) && text.size() < 14) text.push_back(c);
  }
  return text.append("\n").append(records);
}

}  // namespace nephila::dns
