// Upstream: one name server, with what it may be asked and how it is doing.
//
// At most so many questions in flight and so many a second. One that several
// times in a row did not answer at all, about different domains, is rested, and
// then tried with one question at a time until it answers. (That it answers
// with a failure says nothing against it: names are hostile, and so are their
// servers.)
//   In: messages   Out: replies, through the sink
//   Threads: that of the loop.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "dns/cares_channel.h"
#include "net/event_loop.h"
#include "net/ip_address.h"

namespace nephila::dns {

struct UpstreamLimits {
  std::chrono::milliseconds timeout{5000};
  // Of questions with EDNS, which are first tries.
  std::chrono::milliseconds first_timeout{5000};
  size_t max_in_flight = 2000;
  uint64_t rate = 1000;  // questions a second
  std::chrono::nanoseconds rest{std::chrono::seconds(10)};
};

class Upstream {
 public:
  // About so many domains in a row without an answer, and it is rested. (One
  // dead domain is no fault of whoever looks for it.)
  static constexpr size_t kSilencesToRest = 5;
  // So many names in a row whose questions with EDNS were not understood, and
  // for a while there are no more. (Some servers behind it do not know it: one
  // is no sign.) Then it is tried again: a box on the way may be gone, and
  // without EDNS every long answer has to come by TCP.
  static constexpr size_t kNamesToDropEdns = 3;
  static constexpr std::chrono::minutes kWithoutEdns{15};

  enum class Health : uint8_t {
    kGood,
    kOnProbation,  // rested; whether it is well again is not known
    kResting,
  };

  static Result<std::unique_ptr<Upstream>> Make(net::EventLoop& loop,
                                                const net::Endpoint& server,
                                                const UpstreamLimits& limits,
                                                ReplySink* sink);

  const net::Endpoint& server() const { return server_; }
  Health HealthAt(MonoTime now) const;
  bool HasRoom() const { return in_flight_ < limits_.max_in_flight; }
  // When the rate allows the next question; not after `now` means at once.
  MonoTime next_time() const { return next_time_; }
  size_t in_flight() const { return in_flight_; }
  uint64_t rests() const { return rests_; }

  bool EdnsAt(MonoTime now) const { return now >= edns_from_; }
  // An answer to a question with EDNS had it too, or it was not understood and
  // did not. Names are known by their hashes.
  void EdnsWorked() { not_understood_.clear(); }
  void EdnsNotUnderstood(uint64_t name, MonoTime now);

  // `edns`: whether the message ends with an OPT record. REQUIRES: HasRoom().
  // An error if there is no memory for it.
  Status Send(std::string_view message, bool edns, void* question,
              MonoTime now);
  // For each reply, once. `edns`: as it was sent. `domain`: the hash of that of
  // the question. That a first try had less time than others is no silence.
  void Replied(ReplyStatus status, bool edns, uint64_t domain, MonoTime now);
  // Lets go of channels that have run dry. Not inside c-ares.
  void Tidy();
  // Nothing that is in flight gets a reply. Not inside c-ares.
  void Reset();

 private:
  Upstream(net::EventLoop& loop, const net::Endpoint& server,
           const UpstreamLimits& limits, ReplySink* sink);
  Result<CaresChannel*> OpenChannel(bool edns);

  net::EventLoop& loop_;
  const net::Endpoint server_;
  const UpstreamLimits limits_;
  const std::chrono::nanoseconds interval_;  // one question's share of time
  ReplySink* const sink_;
  // Without EDNS and with. The last one takes questions, the others run dry.
  std::array<std::vector<std::unique_ptr<CaresChannel>>, 2> channels_;
  MonoTime next_time_;
  MonoTime rest_end_ = MonoTime::min();
  size_t in_flight_ = 0;
  std::vector<uint64_t> silent_;          // domains; at most kSilencesToRest
  std::vector<uint64_t> not_understood_;  // names; at most kNamesToDropEdns
  uint64_t rests_ = 0;
  MonoTime edns_from_ = MonoTime::min();
};

}  // namespace nephila::dns
