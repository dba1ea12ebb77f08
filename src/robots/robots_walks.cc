// The part of RobotsStage::Impl that is about walks: sites whose robots.txt is
// redirected.
#include <chrono>
#include <utility>

#include "base/check.h"
#include "robots/robots_stage_impl.h"
#include "robots/stage_queues.h"

namespace nephila::robots {

using item::Admission;
using item::RobotsFetchEnd;

Status RobotsStage::Impl::RobotsRedirected(const RobotsRedirect& redirect) {
  const auto place = PlaceOf(redirect.origin, redirect.target);
  if (!place.has_value()) {
    return Unexpected(Error{ErrorCode::kInvalidArgument,
                            "robots: " + std::string(redirect.origin) + ": " +
                                std::string(place.error())});
  }
  const auto next = TargetOf(redirect.next, options_.seed);
  if (!next.has_value() || redirect.hops > options_.max_redirects) {
    RobotsEnd end;
    end.origin = redirect.origin;
    end.target = redirect.target;
    end.when = redirect.when;
    end.end = next.has_value() ? RobotsFetchEnd::kTooManyRedirects
                               : RobotsFetchEnd::kBadRedirect;
    NEPHILA_TRY(const uint64_t fetch, EndFile(*place, end));
    EndRequest(place->request, fetch);
    return {};
  }
  // First what a full disk may refuse: the walk is not in its queue twice.
  RedirectChange change;
  change.fetch = counts_[kEnded] + 1;
  change.when = MillisecondsOf(redirect.when);
  change.max_age = static_cast<uint64_t>(
      std::chrono::ceil<std::chrono::milliseconds>(options_.settings.max_age)
          .count());
  change.next = redirect.next;
  NEPHILA_RETURN_IF_ERROR(
      Change(place->key, RedirectValue(place->file, change)));
  if (!IsTarget(place->file)) {
    Walk walk;
    walk.hops = redirect.hops;
    walk.when = change.when;
    walk.origin = place->origin.text;
    walk.url = redirect.next;
    NEPHILA_RETURN_IF_ERROR(AddWalk(walk));
  }
  ++counts_[kEnded];
  EndRequest(place->request, change.fetch);
  return {};
}

Status RobotsStage::Impl::AddWalk(const Walk& walk) {
  const std::string record = EncodeWalk(walk);
  NEPHILA_TRY(const uint64_t ordinal,
              queues_->Append(kWalkQueue, EncodeWaiting({0, 0, record})));
  static_cast<void>(ordinal);
  ++counts_[kWalks];
  return {};
}

Result<bool> RobotsStage::Impl::DecideWalk(const UrlAnswer& answer,
                                           const WaitingUrl& url) {
  const auto walk = DecodeWalk(url.record);
  NEPHILA_CHECK(walk.has_value());
  switch (answer.state) {
    case UrlState::kUnknown:
    case UrlState::kExpired:
      return WaitForFetch(answer, url);
    case UrlState::kDelayed:
      return Park(answer, url);
    case UrlState::kRedirected:
      return FollowWalk(*walk, answer.text);
    case UrlState::kAllowed:
    case UrlState::kInLog:
      return ResolveWalk(answer, url, *walk);
    case UrlState::kUnreachable:
    case UrlState::kTooManyPorts:
    case UrlState::kDenied:  // not of a walk
      break;
  }
  RobotsEnd end;
  end.end = RobotsFetchEnd::kNetwork;
  NEPHILA_RETURN_IF_ERROR(EndWalk(*walk, end));
  return true;
}

Result<bool> RobotsStage::Impl::FollowWalk(const Walk& walk,
                                           std::string_view next) {
  Walk further = walk;
  ++further.hops;
  further.url = next;
  const std::string record = EncodeWalk(further);
  const auto place = PlaceOf(record);
  if (!place.has_value() || further.hops > options_.max_redirects) {
    RobotsEnd end;
    end.end = place.has_value() ? RobotsFetchEnd::kTooManyRedirects
                                : RobotsFetchEnd::kBadRedirect;
    NEPHILA_RETURN_IF_ERROR(EndWalk(walk, end));
    return true;
  }
  NEPHILA_TRY(const Admission admission, Check(*place, {0, 0, record}, 0));
  return admission == Admission::kTaken;
}

Result<bool> RobotsStage::Impl::ResolveWalk(const UrlAnswer& answer,
                                            const WaitingUrl& url,
                                            const Walk& walk) {
  std::string rules = answer.text;
  if (answer.state == UrlState::kInLog) {
    const auto place = PlaceOf(url.record);
    NEPHILA_CHECK(place.has_value());
    auto read = log_->Read(place->key, answer.place);
    if (!read.has_value() && read.error().code == ErrorCode::kStopped) {
      return Unexpected(std::move(read).error());
    }
    if (!read.has_value()) {
      // As with a URL: the record forgets these rules.
      NEPHILA_TRY(const Admission admission, Check(*place, url, answer.fetch));
      if (admission == Admission::kFull) return false;
      ++counts_[kDamagedRules];
      return true;
    }
    rules = *std::move(read);
  }
  RobotsEnd end;
  end.end = RobotsFetchEnd::kAnswer;
  end.status = 200;
  end.rules = rules;
  // They are as old as the file.
  end.when = TimeOf(answer.asked);
  const std::chrono::milliseconds delay(
      static_cast<int64_t>(answer.crawl_delay));
  end.crawl_delay = delay;
  // The first request of the walk was a contact of its host.
  end.not_before = TimeOf(walk.when + answer.crawl_delay);
  NEPHILA_RETURN_IF_ERROR(EndWalk(walk, end));
  return true;
}

Status RobotsStage::Impl::EndWalk(const Walk& walk, RobotsEnd end) {
  const auto place = PlaceOf(walk.origin, {});
  NEPHILA_CHECK(place.has_value());
  end.origin = walk.origin;
  if (end.when == WallTime{}) end.when = context_.clock.WallNow();
  NEPHILA_RETURN_IF_ERROR(EndFile(*place, end));
  // Its request ended when it was redirected.
  --counts_[kWalks];
  return {};
}

}  // namespace nephila::robots
