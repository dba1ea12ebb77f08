#include "dns/upstream.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace nephila::dns {
namespace {

// What was not asked in this time may be made up for: questions come in
// bursts, and the timer of the loop is not finer than a millisecond.
constexpr std::chrono::nanoseconds kBurst = std::chrono::milliseconds(20);

// Keeps what is different, up to `most` of it.
void AddDifferent(uint64_t value, size_t most, std::vector<uint64_t>* values) {
  if (values->size() < most &&
      std::find(values->begin(), values->end(), value) == values->end()) {
    values->push_back(value);
  }
}

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
  NEPHILA_RETURN_IF_ERROR(upstream->OpenChannel(true));
  return upstream;
}

Upstream::Health Upstream::HealthAt(MonoTime now) const {
  if (silent_.size() < kSilencesToRest) return Health::kGood;
  return now < rest_end_ ? Health::kResting : Health::kOnProbation;
}

Result<CaresChannel*> Upstream::OpenChannel(bool edns) {
  const auto timeout = edns ? limits_.first_timeout : limits_.timeout;
  NEPHILA_TRY(auto channel,
              CaresChannel::Make(loop_, server_, timeout, edns, sink_));
  auto& channels = channels_[edns ? 1 : 0];
  channels.push_back(std::move(channel));
  return channels.back().get();
}

void Upstream::EdnsNotUnderstood(uint64_t name, MonoTime now) {
  // Asked before it was dropped.
  if (!EdnsAt(now)) return;
  AddDifferent(name, kNamesToDropEdns, &not_understood_);
  if (not_understood_.size() < kNamesToDropEdns) return;
  not_understood_.clear();
  edns_from_ = now + kWithoutEdns;
}

Status Upstream::Send(std::string_view message, bool edns, void* question,
                      MonoTime now) {
  NEPHILA_CHECK(HasRoom());
  const auto& channels = channels_[edns ? 1 : 0];
  CaresChannel* channel = channels.empty() ? nullptr : channels.back().get();
  if (channel == nullptr || channel->full()) {
    NEPHILA_TRY(channel, OpenChannel(edns));
  }
  next_time_ = std::max(next_time_, now - kBurst) + interval_;
  ++in_flight_;
  channel->Send(message, question);
  return {};
}

void Upstream::Replied(ReplyStatus status, bool edns, uint64_t domain,
                       MonoTime now) {
  NEPHILA_CHECK(in_flight_ > 0);
  --in_flight_;
  if (status == ReplyStatus::kNotSent) return;
  if (status == ReplyStatus::kAnswered) {
    silent_.clear();
    return;
  }
  if (status == ReplyStatus::kTimedOut && edns &&
      limits_.first_timeout < limits_.timeout) {
    return;
  }
  AddDifferent(domain, kSilencesToRest, &silent_);
  if (silent_.size() < kSilencesToRest) return;
  // Those in flight together fall silent together: that is one rest.
  if (HealthAt(now) == Health::kResting) return;
  rest_end_ = now + limits_.rest;
  ++rests_;
}

void Upstream::Tidy() {
  for (auto& channels : channels_) {
    if (channels.empty()) continue;
    const auto keep = channels.back().get();
    std::erase_if(channels, [&](const std::unique_ptr<CaresChannel>& channel) {
      return channel->in_flight() == 0 &&
             (channel.get() != keep || channel->full());
    });
  }
}

void Upstream::Reset() {
  for (auto& channels : channels_) channels.clear();
  in_flight_ = 0;
}

}  // namespace nephila::dns
