#include "dns/cares_resolver.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/random.h"
#include "base/text.h"
#include "dns/message.h"

namespace nephila::dns {
namespace {

using std::chrono::nanoseconds;

// A round of the loop sends no more, so that the sockets of a server on this
// machine do not overflow and other work is not kept waiting.
constexpr size_t kSendsPerRound = 128;
constexpr size_t kMaxServers = 64;

// Every outcome but kFound, in their order.
constexpr std::array<std::string_view, kOutcomes - 1> kDropReasons = {
    "no_such_name", "no_address", "server_failure", "server_refused",
    "timed_out",    "bad_answer", "bad_name",       "addresses_refused",
    "overloaded",   "cancelled",
};

size_t DropReason(Outcome outcome) { return static_cast<size_t>(outcome) - 1; }

bool WantsV4(config::Ipv6Mode mode) { return mode != config::Ipv6Mode::kOnly; }
bool WantsV6(config::Ipv6Mode mode) { return mode != config::Ipv6Mode::kOff; }

Result<std::vector<net::Endpoint>> ServersOf(
    const config::DnsSettings& settings) {
  if (settings.servers.empty()) return SystemServers();
  if (settings.servers.size() > kMaxServers) {
    return Unexpected(Error{ErrorCode::kInvalidArgument,
                            "dns.servers: at most 64 can be used"});
  }
  std::vector<net::Endpoint> servers;
  servers.reserve(settings.servers.size());
  for (const std::string& text : settings.servers) {
    const auto server = net::Endpoint::Parse(text, 53);
    if (!server) {
      return Unexpected(Error{
          ErrorCode::kInvalidArgument,
          "dns.servers: \"" + EscapeForTerminal(text.substr(0, 60)) +
              "\" is no address; write it as 192.0.2.1, 192.0.2.1:5353 or "
              "[2001:db8::1]:5353"});
    }
    servers.push_back(*server);
  }
  return servers;
}

Outcome OutcomeOf(AnswerKind kind) {
  switch (kind) {
    case AnswerKind::kFound:
      return Outcome::kFound;
    case AnswerKind::kNoSuchName:
      return Outcome::kNoSuchName;
    case AnswerKind::kNoAddress:
      return Outcome::kNoAddress;
    case AnswerKind::kServerFailure:
    case AnswerKind::kNotUnderstood:
      return Outcome::kServerFailure;
    case AnswerKind::kRefused:
      return Outcome::kServerRefused;
    case AnswerKind::kBad:
      return Outcome::kBadAnswer;
  }
  return Outcome::kBadAnswer;
}

// Whether a server knew: then nobody else is asked.
bool IsFinal(Outcome outcome) {
  return outcome == Outcome::kFound || outcome == Outcome::kNoSuchName ||
         outcome == Outcome::kNoAddress;
}

Answer FromCache(const CachedAnswer& cached, MonoTime now) {
  Answer answer;
  answer.outcome = cached.outcome;
  answer.addresses = cached.addresses;
  answer.refused = cached.refused;
  answer.server = cached.server;
  answer.why = cached.why;
  answer.ttl = cached.expires - now;
  answer.source = Source::kCache;
  return answer;
}

}  // namespace

CaresResolver::CaresResolver(net::EventLoop& loop,
                             const net::AddressGuard& guard,
                             const config::DnsSettings& settings,
                             const AnswerLimits& limits, uint64_t seed)
    : loop_(loop),
      guard_(guard),
      settings_(settings),
      limits_(limits),
      cache_(settings.cache_memory_bytes, seed),
      account_("dns", kDropReasons),
      lookups_(0, NameHash{seed}) {}

Result<std::unique_ptr<CaresResolver>> CaresResolver::Make(
    net::EventLoop& loop, const net::AddressGuard& guard,
    const config::DnsSettings& settings, const AnswerLimits& limits) {
  NEPHILA_TRY(const uint64_t seed, RandomSeed());
  NEPHILA_TRY(const auto servers, ServersOf(settings));
  std::unique_ptr<CaresResolver> resolver(
      new CaresResolver(loop, guard, settings, limits, seed));
  UpstreamLimits upstream_limits;
  upstream_limits.timeout =
      std::chrono::ceil<std::chrono::milliseconds>(settings.timeout);
  upstream_limits.max_in_flight = static_cast<size_t>(settings.max_in_flight);
  upstream_limits.rate = static_cast<uint64_t>(settings.rate);
  upstream_limits.rest = settings.rest;
  for (const net::Endpoint& server : servers) {
    NEPHILA_TRY(auto upstream,
                Upstream::Make(loop, server, upstream_limits, resolver.get()));
    resolver->upstreams_.push_back(std::move(upstream));
  }
  return resolver;
}

CaresResolver::~CaresResolver() {
  loop_.Cancel(deliver_timer_);
  loop_.Cancel(work_timer_);
}

size_t CaresResolver::in_flight() const {
  size_t sum = 0;
  for (const auto& upstream : upstreams_) sum += upstream->in_flight();
  return sum;
}

std::vector<net::Endpoint> CaresResolver::Servers() const {
  std::vector<net::Endpoint> servers;
  servers.reserve(upstreams_.size());
  for (const auto& upstream : upstreams_) servers.push_back(upstream->server());
  return servers;
}

void CaresResolver::Resolve(std::string_view host, Callback callback) {
  const MonoTime now = loop_.clock().Now();
  account_.In();
  account_.Hold(1);
  std::string name;
  if (auto known = AnswerKnown(host, &name)) {
    Deliver(std::move(callback), *std::move(known), now);
    return;
  }
  if (const CachedAnswer* cached = cache_.Find(name, now)) {
    counters_.cache_hits.Add();
    Deliver(std::move(callback), FromCache(*cached, now), now);
    return;
  }
  if (waiting_ >= static_cast<size_t>(settings_.max_waiting)) {
    Answer answer;
    answer.outcome = Outcome::kOverloaded;
    Deliver(std::move(callback), std::move(answer), now);
    return;
  }
  Join(std::move(name), std::move(callback), now);
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
    return address.is_v4() ? !WantsV4(settings_.ipv6)
                           : !WantsV6(settings_.ipv6);
  });
  Answer answer;
  Guard(std::move(addresses), &answer);
  answer.ttl = settings_.max_ttl;
  return answer;
}

void CaresResolver::Join(std::string name, Callback callback, MonoTime now) {
  ++waiting_;
  if (const auto found = lookups_.find(name); found != lookups_.end()) {
    counters_.joined.Add();
    found->second->waiters.push_back(
        {std::move(callback), now, Source::kJoined});
    return;
  }
  auto lookup = std::make_unique<Lookup>();
  lookup->name = std::move(name);
  lookup->waiters.push_back({std::move(callback), now, Source::kAsked});
  if (WantsV4(settings_.ipv6)) StartQuestion(lookup.get(), kTypeA);
  if (WantsV6(settings_.ipv6)) StartQuestion(lookup.get(), kTypeAaaa);
  const std::string_view key = lookup->name;
  lookups_.emplace(key, std::move(lookup));
  ScheduleWork(now);
}

void CaresResolver::StartQuestion(Lookup* lookup, uint16_t type) {
  Question& question = lookup->questions[lookup->count++];
  question.lookup = lookup;
  question.type = type;
  ++lookup->open;
  to_send_.push_back(&question);
}

void CaresResolver::Deliver(Callback callback, Answer answer, MonoTime since) {
  ready_.push_back({std::move(callback), std::move(answer), since});
  if (deliver_timer_ != net::TimerId::kNone) return;
  deliver_timer_ = loop_.At(since, [this] { DeliverReady(); });
}

void CaresResolver::DeliverReady() {
  deliver_timer_ = net::TimerId::kNone;
  const MonoTime now = loop_.clock().Now();
  // Those that callbacks add are for the next round.
  for (size_t left = ready_.size(); left > 0; --left) {
    Ready ready = std::move(ready_.front());
    ready_.pop_front();
    ready.answer.took = now - ready.since;
    account_.Hold(-1);
    if (ready.answer.outcome == Outcome::kFound) {
      account_.Out();
    } else {
      account_.Drop(DropReason(ready.answer.outcome));
    }
    counters_.addresses_refused.Add(ready.answer.refused.size());
    ready.callback(ready.answer);
  }
}

void CaresResolver::CancelAll() {
  for (const auto& upstream : upstreams_) upstream->Reset();
  to_send_.clear();
  to_resend_.clear();
  replies_.clear();
  waiting_ = 0;
  for (const auto& [name, lookup] : lookups_) {
    for (Waiter& waiter : lookup->waiters) {
      Answer answer;
      answer.source = waiter.source;
      Deliver(std::move(waiter.callback), std::move(answer), waiter.since);
    }
  }
  lookups_.clear();
}

void CaresResolver::OnReply(void* question, ReplyStatus status,
                            std::string_view message) {
  replies_.push_back(
      {static_cast<Question*>(question), status, std::string(message)});
}

void CaresResolver::OnReplies() {
  HandleReplies();
  if (!to_send_.empty() || !to_resend_.empty()) {
    ScheduleWork(loop_.clock().Now());
  }
}

void CaresResolver::ScheduleWork(MonoTime time) {
  if (work_timer_ != net::TimerId::kNone) {
    if (work_time_ <= time) return;
    loop_.Cancel(work_timer_);
  }
  work_time_ = time;
  work_timer_ = loop_.At(time, [this] {
    work_timer_ = net::TimerId::kNone;
    Work();
  });
}

void CaresResolver::Work() {
  SendSome(loop_.clock().Now());
  // Those that failed at once.
  HandleReplies();
}

void CaresResolver::SendSome(MonoTime now) {
  for (size_t sent = 0; sent < kSendsPerRound; ++sent) {
    auto& queue = to_resend_.empty() ? to_send_ : to_resend_;
    if (queue.empty()) return;
    Question* question = queue.front();
    MonoTime next = MonoTime::max();
    Upstream* upstream = Choose(*question, now, &next);
    if (upstream == nullptr) {
      // Else a reply makes room.
      if (next != MonoTime::max()) ScheduleWork(next);
      return;
    }
    queue.pop_front();
    counters_.questions.Add();
    // Once with EDNS: some that do not know it, and boxes on the way, say
    // nothing at all (RFC 6891 s6.2.2).
    question->edns = upstream->edns() && question->tries == 0;
    if (question->tries++ > 0) counters_.retries.Add();
    question->upstream = upstream;
    const std::string message = MakeQuestion(
        question->lookup->name, question->type, ids_.Next(), question->edns);
    if (!upstream->Send(message, question, now)) {
      TryAgain(question, Outcome::kServerFailure);
    }
  }
  ScheduleWork(now);
}

Upstream* CaresResolver::Choose(const Question& question, MonoTime now,
                                MonoTime* next) {
  const bool any_good =
      std::any_of(upstreams_.begin(), upstreams_.end(), [&](const auto& u) {
        return u->HealthAt(now) == Upstream::Health::kGood;
      });
  Upstream* best = nullptr;
  for (const auto& upstream : upstreams_) {
    const Upstream::Health health = upstream->HealthAt(now);
    // While others are well, one that is resting is left alone, and one that
    // may be well again gets a single question. If none is, all are tried.
    const size_t allowed = health == Upstream::Health::kOnProbation ? 1 : 0;
    if (any_good && health != Upstream::Health::kGood &&
        upstream->in_flight() >= allowed) {
      continue;
    }
    if (!upstream->HasRoom()) continue;
    if (upstream->next_time() > now) {
      *next = std::min(*next, upstream->next_time());
      continue;
    }
    // Who failed at this very question comes last, then who has most to do.
    const auto rank = [&](const Upstream& u) {
      return std::pair(&u == question.upstream, u.in_flight());
    };
    if (best == nullptr || rank(*upstream) < rank(*best)) best = upstream.get();
  }
  return best;
}

void CaresResolver::HandleReplies() {
  const MonoTime now = loop_.clock().Now();
  // Handling one adds none: it never sends.
  for (const Reply& reply : replies_) Handle(reply, now);
  replies_.clear();
  for (const auto& upstream : upstreams_) upstream->Tidy();
}

void CaresResolver::Handle(const Reply& reply, MonoTime now) {
  Question& question = *reply.question;
  question.upstream->Replied(reply.status, now);
  switch (reply.status) {
    case ReplyStatus::kTimedOut:
      TryAgain(&question, Outcome::kTimedOut);
      return;
    case ReplyStatus::kUnreachable:
      TryAgain(&question, Outcome::kServerFailure);
      return;
    case ReplyStatus::kAnswered:
      break;
  }
  question.parsed =
      ParseAnswer(reply.message, question.lookup->name, question.type, limits_);
  if (question.parsed.kind == AnswerKind::kNotUnderstood && question.edns) {
    // RFC 6891 s7: never again, and this time it does not count as a try.
    question.upstream->DropEdns();
    --question.tries;
  }
  const Outcome outcome = OutcomeOf(question.parsed.kind);
  if (IsFinal(outcome)) {
    EndQuestion(&question, outcome);
  } else {
    TryAgain(&question, outcome);
  }
}

void CaresResolver::TryAgain(Question* question, Outcome outcome) {
  if (question->tries >= settings_.tries) {
    EndQuestion(question, outcome);
    return;
  }
  to_resend_.push_back(question);
  ScheduleWork(loop_.clock().Now());
}

void CaresResolver::EndQuestion(Question* question, Outcome outcome) {
  question->outcome = outcome;
  Lookup* lookup = question->lookup;
  if (--lookup->open == 0) EndLookup(lookup);
}

void CaresResolver::EndLookup(Lookup* lookup) {
  const MonoTime now = loop_.clock().Now();
  Answer answer = Combine(*lookup);
  cache_.Insert(lookup->name,
                {answer.outcome, answer.addresses, answer.refused,
                 answer.server, answer.why, now + answer.ttl},
                now);
  const std::string records = RecordsOf(*lookup);
  waiting_ -= lookup->waiters.size();
  for (Waiter& waiter : lookup->waiters) {
    Answer copy = answer;
    copy.source = waiter.source;
    if (waiter.source == Source::kAsked) copy.records = records;
    Deliver(std::move(waiter.callback), std::move(copy), waiter.since);
  }
  lookups_.erase(lookups_.find(lookup->name));
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
    if (c >= '0' && c <= '9' && text.size() < 14) text.push_back(c);
  }
  return text.append("\n").append(records);
}

}  // namespace nephila::dns
