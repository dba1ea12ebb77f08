#include "dns/cares_resolver.h"

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "base/text.h"
#include "dns/message.h"

namespace nephila::dns {
namespace {

// A round of the loop sends no more, so that the sockets of a server on this
// machine do not overflow and other work is not kept waiting.
constexpr size_t kSendsPerRound = 128;
constexpr size_t kMaxServers = 64;
// A domain has at most this part of the questions in flight.
constexpr size_t kDomainPart = 10;
// A name that is asked for again may have an answer that takes its time.
constexpr std::chrono::milliseconds kFirstTry = std::chrono::seconds(1);

// Every outcome but kFound, in their order.
constexpr std::array<std::string_view, kOutcomes - 1> kDropReasons = {
    "no_such_name", "no_address", "server_failure", "server_refused",
    "timed_out",    "bad_answer", "bad_name",       "addresses_refused",
    "overloaded",   "cancelled",
};

size_t DropReason(Outcome outcome) { return static_cast<size_t>(outcome) - 1; }

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
      lookups_(0, NameHash{seed}),
      domains_(0, NameHash{seed}) {}

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
  upstream_limits.first_timeout =
      settings.tries > 1 ? std::min(upstream_limits.timeout, kFirstTry)
                         : upstream_limits.timeout;
  upstream_limits.max_in_flight = static_cast<size_t>(settings.max_in_flight);
  upstream_limits.rate = static_cast<uint64_t>(settings.rate);
  upstream_limits.rest = settings.rest;
  resolver->domain_share_ = std::max<size_t>(
      servers.size() * upstream_limits.max_in_flight / kDomainPart, 1);
  resolver->most_again_ =
      std::max<size_t>(servers.size() * upstream_limits.max_in_flight / 2, 1);
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
  if (WantsV4()) StartQuestion(lookup.get(), kTypeA);
  if (WantsV6()) StartQuestion(lookup.get(), kTypeAaaa);
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
  domains_.clear();
  again_ = 0;
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

std::deque<CaresResolver::Question*>& CaresResolver::NextQueue() {
  const bool resend = !to_resend_.empty() && again_ < most_again_ &&
                      (resend_next_ || to_send_.empty());
  return resend ? to_resend_ : to_send_;
}

void CaresResolver::SendSome(MonoTime now) {
  for (size_t done = 0; done < kSendsPerRound; ++done) {
    auto& queue = NextQueue();
    if (queue.empty()) return;
    Question* question = queue.front();
    if (IsSuperfluous(*question)) {
      queue.pop_front();
      // Another may have been let go for it.
      const auto domain = domains_.find(DomainOf(*question));
      if (domain != domains_.end()) ReleaseOne(&domain->second);
      EndQuestion(question, question->outcome);
      continue;
    }
    if (WaitsForItsDomain(question)) {
      queue.pop_front();
      continue;
    }
    MonoTime next = MonoTime::max();
    Upstream* upstream = Choose(*question, now, &next);
    if (upstream == nullptr) {
      // Else a reply makes room.
      if (next != MonoTime::max()) ScheduleWork(next);
      return;
    }
    queue.pop_front();
    resend_next_ = &queue == &to_send_;
    Send(question, upstream, now);
  }
  ScheduleWork(now);
}

void CaresResolver::Send(Question* question, Upstream* upstream, MonoTime now) {
  counters_.questions.Add();
  // Once with EDNS: some that do not know it, and boxes on the way, say
  // nothing at all (RFC 6891 s6.2.2).
  question->edns =
      upstream->EdnsAt(now) && question->tries == 0 && !question->plain;
  question->is_again = question->tries++ > 0;
  if (question->is_again) {
    counters_.retries.Add();
    ++again_;
  }
  question->upstream = upstream;
  question->domain =
      &*domains_.try_emplace(std::string(DomainOf(*question))).first;
  ++question->domain->second.in_flight;
  const std::string message = MakeQuestion(
      question->lookup->name, question->type, ids_.Next(), question->edns);
  if (!upstream->Send(message, question->edns, question, now)) {
    LeaveDomain(question);
    EndQuestion(question, Outcome::kOverloaded);
  }
}

std::string_view CaresResolver::DomainOf(const Question& question) const {
  const std::string_view name = question.lookup->name;
  const std::string_view domain =
      suffixes_.RegistrableDomain(name, url::PublicSuffixList::Rules::kIcann);
  return domain.empty() ? name : domain;
}

bool CaresResolver::WaitsForItsDomain(Question* question) {
  const auto found = domains_.find(DomainOf(*question));
  if (found == domains_.end() || found->second.in_flight < domain_share_) {
    return false;
  }
  found->second.waiting.push_back(question);
  return true;
}

void CaresResolver::LeaveDomain(Question* question) {
  if (std::exchange(question->is_again, false)) --again_;
  Domain* domain = std::exchange(question->domain, nullptr);
  --domain->second.in_flight;
  ReleaseOne(&domain->second);
  if (domain->second.in_flight == 0 && domain->second.waiting.empty()) {
    domains_.erase(domains_.find(domain->first));
  }
}

void CaresResolver::ReleaseOne(Share* share) {
  if (share->waiting.empty()) return;
  // Before the others: it has waited already.
  to_send_.push_front(share->waiting.front());
  share->waiting.pop_front();
  ScheduleWork(loop_.clock().Now());
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
  question.upstream->Replied(reply.status, question.edns,
                             domains_.hash_function()(question.domain->first),
                             now);
  LeaveDomain(&question);
  switch (reply.status) {
    case ReplyStatus::kTimedOut:
      TryAgain(&question, Outcome::kTimedOut);
      return;
    case ReplyStatus::kUnreachable:
      TryAgain(&question, Outcome::kServerFailure);
      return;
    case ReplyStatus::kNotSent:
      EndQuestion(&question, Outcome::kOverloaded);
      return;
    case ReplyStatus::kAnswered:
      break;
  }
  question.parsed =
      ParseAnswer(reply.message, question.lookup->name, question.type, limits_);
  counters_.addresses_dropped.Add(question.parsed.addresses_dropped);
  if (question.edns) NoteEdns(&question);
  const Outcome outcome = OutcomeOf(question.parsed.kind);
  if (IsFinal(outcome)) {
    EndQuestion(&question, outcome);
  } else {
    TryAgain(&question, outcome);
  }
}

void CaresResolver::NoteEdns(Question* question) {
  if (question->parsed.has_opt) question->upstream->EdnsWorked();
  if (question->parsed.kind != AnswerKind::kNotUnderstood) return;
  if (!question->parsed.has_opt) {
    question->upstream->EdnsNotUnderstood(
        lookups_.hash_function()(question->lookup->name), loop_.clock().Now());
  }
  // RFC 6891 s7: without it then, and this time does not count as a try.
  question->plain = true;
  --question->tries;
}

bool CaresResolver::IsSuperfluous(const Question& question) {
  const auto& all = question.lookup->questions;
  return question.tries > 0 &&
         std::any_of(all.begin(), all.end(), [&](const Question& other) {
           return &other != &question && other.outcome == Outcome::kFound;
         });
}

void CaresResolver::TryAgain(Question* question, Outcome outcome) {
  if (question->tries >= settings_.tries || IsSuperfluous(*question)) {
    EndQuestion(question, outcome);
    return;
  }
  question->outcome = outcome;
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
  // That we could not ask says nothing about the name.
  if (answer.outcome != Outcome::kOverloaded) {
    cache_.Insert(lookup->name,
                  {answer.outcome, answer.addresses, answer.refused,
                   answer.server, answer.why, now + answer.ttl},
                  now);
  }
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

}  // namespace nephila::dns
