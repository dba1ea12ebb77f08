#include "dns/upstream.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace nephila::dns {
namespace {

// What was not asked in this time may be made up for: questions come in
// bursts, and the timer of the loop is not finer than a millisecond.
constexpr std::chrono::nanoseconds kBurst = std::chrono::milliseconds(20);

}  // namespace

Upstream::Upstream(net::EventLoop& loop, const net::Endpoint& server,
                   const UpstreamLimits& limits, ReplySink* sink)
    : loop_(loop),
      server_(server),
      limits_(limits),
      interval_(std::chrono::nanoseconds(std::chrono::seconds(1)) /
                static_cast<int64_t>(limits.rate)),
      sink_(sink) {}

Result<std::unique_ptr<Upstream>> Upstream::Make(net::EventLoop& loop,
                                                 const net::Endpoint& server,
                                                 const UpstreamLimits& limits,
                                                 ReplySink* sink) {
  NEPHILA_CHECK(limits.rate > 0 && limits.max_in_flight > 0);
  std::unique_ptr<Upstream> upstream(new Upstream(loop, server, limits, sink));
  // Now, so that what is wrong with it is said at the start.
  NEPHILA_RETURN_IF_ERROR(upstream->OpenChannel());
  return upstream;
}

Upstream::Health Upstream::HealthAt(MonoTime now) const {
  if (silences_ < kSilencesToRest) return Health::kGood;
  return now < rest_end_ ? Health::kResting : Health::kOnProbation;
}

Result<CaresChannel*> Upstream::OpenChannel() {
  NEPHILA_TRY(auto channel,
              CaresChannel::Make(loop_, server_, limits_.timeout, sink_));
  channels_.push_back(std::move(channel));
  return channels_.back().get();
}

Status Upstream::Send(std::string_view message, void* question, MonoTime now) {
  NEPHILA_CHECK(HasRoom());
  CaresChannel* channel = channels_.empty() ? nullptr : channels_.back().get();
  if (channel == nullptr || channel->full()) {
    NEPHILA_TRY(channel, OpenChannel());
  }
  next_time_ = std::max(next_time_, now - kBurst) + interval_;
  ++in_flight_;
  channel->Send(message, question);
  return {};
}

void Upstream::Replied(ReplyStatus status, MonoTime now) {
  NEPHILA_CHECK(in_flight_ > 0);
  --in_flight_;
  if (status == ReplyStatus::kAnswered) {
    silences_ = 0;
    return;
  }
  if (++silences_ < kSilencesToRest) return;
  // Those in flight together fall silent together: that is one rest.
  if (HealthAt(now) == Health::kResting) return;
  rest_end_ = now + limits_.rest;
  ++rests_;
}

void Upstream::Tidy() {
  if (channels_.empty()) return;
  const auto keep = channels_.back().get();
  std::erase_if(channels_, [&](const std::unique_ptr<CaresChannel>& channel) {
    return channel->in_flight() == 0 &&
           (channel.get() != keep || channel->full());
  });
}

void Upstream::Reset() {
  channels_.clear();
  in_flight_ = 0;
}

}  // namespace nephila::dns
