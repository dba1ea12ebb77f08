// CaresResolver: the resolver of the crawl, over c-ares.
//
// A host that is an address, or a name that is in the cache, is answered
// without a question; identical questions in flight are joined. The others go
// to the name server that has least to do; a question that gets no good answer
// is asked again, elsewhere if possible, `dns.tries` times in all; once if the
// other family of the name is known. A registrable domain has at most a tenth
// of all questions in flight, so that a dead one leaves room for the rest. For
// the same reason a first try has a second at most, and questions that are
// asked again have half of all that may be in flight: names whose servers say
// nothing do not keep others waiting. The search list and the hosts file of the
// machine are not used.
//   In: hosts, hostile   Out: answers; every one passed the guard
//   Drops: what could not be resolved, by outcome (account())
//   Threads: that of the loop, whose clock is a real one (CaresChannel).
//   Memory: cache_memory, below 2 KiB for each of at most max_waiting, and
//   until an answer is fetched its records (AnswerLimits::max_text_bytes).
//   Cost: a name from the cache about 1 us, besides the loop's round.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/metrics.h"
#include "base/result.h"
#include "config/settings.h"
#include "dns/answer_parser.h"
#include "dns/cache.h"
#include "dns/cares_channel.h"
#include "dns/question_ids.h"
#include "dns/resolver.h"
#include "dns/upstream.h"
#include "net/address_guard.h"
#include "net/event_loop.h"
#include "url/public_suffix.h"

namespace nephila::dns {

// Besides the account. Any thread may read them.
struct ResolverCounters {
  Counter cache_hits;
  Counter joined;
  Counter questions;  // sent, those asked again included
  Counter retries;
  Counter addresses_dropped;  // behind AnswerLimits::max_addresses
  Counter addresses_refused;  // by the guard, in the answers given
};

class CaresResolver final : public Resolver, private ReplySink {
 public:
  // What a server sends is parsed within `limits`. An error is one line about
  // the settings or the system's name servers. Loop and guard outlive it.
  static Result<std::unique_ptr<CaresResolver>> Make(
      net::EventLoop& loop, const net::AddressGuard& guard,
      const config::DnsSettings& settings, const AnswerLimits& limits = {});
  // Who still waits is not called. Not inside a callback.
  ~CaresResolver() override;

  void Resolve(std::string_view host, Callback callback) override;
  void CancelAll() override;

  const StageAccount& account() const { return account_; }
  const ResolverCounters& counters() const { return counters_; }
  const Cache& cache() const { return cache_; }
  size_t in_flight() const;
  std::vector<net::Endpoint> Servers() const;

 private:
  struct Lookup;
  struct Question;
  struct Share {
    size_t in_flight = 0;
    std::deque<Question*> waiting;  // until others of the domain have ended
  };
  using Domains =
      std::unordered_map<std::string, Share, NameHash, std::equal_to<>>;
  using Domain = Domains::value_type;  // nodes of a map do not move
  // A question of a lookup: one type.
  struct Question {
    Lookup* lookup = nullptr;
    uint16_t type = 0;
    int64_t tries = 0;
    Upstream* upstream = nullptr;  // who was asked last
    Domain* domain = nullptr;      // while it is in flight
    bool edns = false;
    bool is_again = false;  // in flight, and not for the first time
    bool plain = false;     // EDNS was not understood: not again
    Outcome outcome = Outcome::kCancelled;
    ParsedAnswer parsed;
  };
  struct Waiter {
    Callback callback;
    MonoTime since;
    Source source = Source::kAsked;
  };
  // A name that is being asked for.
  struct Lookup {
    std::string name;
    std::vector<Waiter> waiters;
    std::array<Question, 2> questions;
    size_t count = 0;  // of the questions
    size_t open = 0;   // that have not ended
  };
  struct Reply {
    Question* question = nullptr;
    ReplyStatus status{};
    std::string message;
  };
  struct Ready {
    Callback callback;
    Answer answer;
    MonoTime since;
  };

  CaresResolver(net::EventLoop& loop, const net::AddressGuard& guard,
                const config::DnsSettings& settings, const AnswerLimits& limits,
                uint64_t seed);

  void OnReply(void* question, ReplyStatus status,
               std::string_view message) override;
  void OnReplies() override;

  // Whether a server knew: then nobody else is asked.
  static bool IsFinal(Outcome outcome);
  bool WantsV4() const;
  bool WantsV6() const;
  // The answer to a host for which nobody has to be asked, else nothing and
  // its name.
  std::optional<Answer> AnswerKnown(std::string_view host, std::string* name);
  Answer AnswerAddresses(std::vector<net::IpAddress> addresses) const;
  void Join(std::string name, Callback callback, MonoTime now);
  void Deliver(Callback callback, Answer answer, MonoTime since);
  void DeliverReady();

  // Sends what may be sent, a burst each round. From the loop.
  void Work();
  void SendSome(MonoTime now);
  // Those asked again and those asked for the first time in turn, so that
  // names that fail do not keep others waiting. Empty if none may be sent.
  std::deque<Question*>& NextQueue();
  void Send(Question* question, Upstream* upstream, MonoTime now);
  // The registrable domain of the name; the name if it is a public suffix.
  std::string_view DomainOf(const Question& question) const;
  // If its domain has its share in flight it has to wait.
  bool WaitsForItsDomain(Question* question);
  // When a question is no longer in flight: another of its domain may go.
  void LeaveDomain(Question* question);
  void ReleaseOne(Share* share);
  // Asked before, and the other family is found meanwhile.
  static bool IsSuperfluous(const Question& question);
  void NoteEdns(Question* question);
  // Handles what has come. Not inside c-ares.
  void HandleReplies();
  // Null if all have to wait; then *next is when one of them need not.
  Upstream* Choose(const Question& question, MonoTime now, MonoTime* next);
  void ScheduleWork(MonoTime time);
  void Handle(const Reply& reply, MonoTime now);
  // Unless it was asked often enough; then it ends with `outcome`.
  void TryAgain(Question* question, Outcome outcome);
  void EndQuestion(Question* question, Outcome outcome);
  void StartQuestion(Lookup* lookup, uint16_t type);
  void EndLookup(Lookup* lookup);
  Answer Combine(const Lookup& lookup) const;
  void Guard(std::vector<net::IpAddress> addresses, Answer* answer) const;
  std::chrono::nanoseconds TtlOf(const Lookup& lookup, Outcome outcome) const;
  std::string RecordsOf(const Lookup& lookup) const;

  net::EventLoop& loop_;
  const net::AddressGuard& guard_;
  const config::DnsSettings settings_;
  const AnswerLimits limits_;
  Cache cache_;
  QuestionIds ids_;
  StageAccount account_;
  ResolverCounters counters_;
  std::vector<std::unique_ptr<Upstream>> upstreams_;
  // By the names inside the lookups.
  std::unordered_map<std::string_view, std::unique_ptr<Lookup>, NameHash>
      lookups_;
  std::deque<Question*> to_send_;
  std::deque<Question*> to_resend_;
  bool resend_next_ = false;
  const url::PublicSuffixList suffixes_ = url::PublicSuffixList::BuiltIn();
  Domains domains_;  // those with questions in flight
  size_t domain_share_ = 1;
  size_t most_again_ = 1;  // in flight, of questions that are asked again
  size_t again_ = 0;
  std::vector<Reply> replies_;
  std::deque<Ready> ready_;
  size_t waiting_ = 0;
  net::TimerId deliver_timer_ = net::TimerId::kNone;
  net::TimerId work_timer_ = net::TimerId::kNone;
  MonoTime work_time_;
};

}  // namespace nephila::dns
