#include "fetch/robots_walk.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "url/parser.h"

namespace nephila::fetch {
namespace {

using coding::DecodeState;
using item::FetchOutcome;
using item::RobotsFetchEnd;
using item::Truncation;
using Chunks = coding::ChunkedDecoder::Outcome;

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 ||
         status == 308;
}

// Whether all that was sent, or all that we want, has come. What we ended
// ourselves, at a limit, is cut for its decoders. What names a coding that it
// is not in, or that we do not know, is read as it is: mostly it is plain text.
bool IsWhole(const RobotsHop& hop) {
  const bool limit = hop.truncation == Truncation::kLength;
  if (hop.truncation != Truncation::kNone && !limit) return false;
  if (hop.chunks == Chunks::kBroken || hop.content == DecodeState::kBroken) {
    return false;
  }
  const bool cut =
      hop.chunks == Chunks::kCut || hop.content == DecodeState::kCut;
  return limit || !cut;
}

// What we decided ourselves, not what the network did.
bool IsRefusal(FetchOutcome outcome) {
  return outcome == FetchOutcome::kAddressRefused ||
         outcome == FetchOutcome::kBlocked ||
         outcome == FetchOutcome::kOutOfScope;
}

}  // namespace

RobotsWalk::RobotsWalk(const config::FetchSettings& fetch,
                       const config::UrlSettings& urls)
    : max_redirects_(static_cast<size_t>(fetch.robots_redirects)),
      max_url_bytes_(std::min<size_t>(urls.max_length_bytes, kMostTargetBytes)),
      ports_(urls) {}

void RobotsWalk::Start(const url::Url& page) {
  NEPHILA_CHECK(page.is_http());
  next_ = page;
  next_.RemoveFragment();
  next_.RemoveQuery();
  next_.RemoveUserinfo();
  next_.ReplacePath("/robots.txt");
  asked_.clear();
  asked_.emplace_back(next_.href());
  is_target_ = false;
  status_ = 0;
}

void RobotsWalk::StartAt(const url::Url& target) {
  NEPHILA_CHECK(target.is_http());
  next_ = target;
  asked_.clear();
  asked_.emplace_back(next_.href());
  is_target_ = true;
  status_ = 0;
}

RobotsWalk::Step RobotsWalk::End(RobotsFetchEnd end) {
  end_ = end;
  return Step::kEnd;
}

RobotsWalk::Step RobotsWalk::OnResult(const RobotsHop& hop) {
  if (hop.outcome == FetchOutcome::kInterrupted) return Step::kAsk;
  if (hop.outcome != FetchOutcome::kResponse) {
    // Of the site itself a refusal tells as little as silence.
    const bool refused =
        (is_target_ || redirects() > 0) && IsRefusal(hop.outcome);
    return End(refused ? RobotsFetchEnd::kRefusedRedirect
                       : RobotsFetchEnd::kNetwork);
  }
  status_ = hop.status;
  if (IsRedirect(hop.status)) return Follow(hop.location);
  // What an error page says does not matter, cut or not.
  const bool success = hop.status / 100 == 2;
  if (success && !IsWhole(hop)) return End(RobotsFetchEnd::kNetwork);
  return End(RobotsFetchEnd::kAnswer);
}

RobotsWalk::Step RobotsWalk::Follow(std::string_view location) {
  if (url::TrimUrl(location).empty()) return End(RobotsFetchEnd::kBadRedirect);
  // Before it is parsed: a Location is as long as a head.
  if (location.size() > max_url_bytes_) {
    return End(RobotsFetchEnd::kRefusedRedirect);
  }
  if (!url::Parse(location, &next_, &target_)) {
    return End(RobotsFetchEnd::kBadRedirect);
  }
  if (!target_.is_http() || ports_.Refuses(target_.port())) {
    return End(RobotsFetchEnd::kRefusedRedirect);
  }
  target_.RemoveFragment();
  target_.RemoveUserinfo();
  if (target_.href().size() > max_url_bytes_) {
    return End(RobotsFetchEnd::kRefusedRedirect);
  }
  const bool circle =
      std::find(asked_.begin(), asked_.end(), target_.href()) != asked_.end();
  if (circle || redirects() == max_redirects_) {
    return End(RobotsFetchEnd::kTooManyRedirects);
  }
  std::swap(next_, target_);
  asked_.emplace_back(next_.href());
  return Step::kAsk;
}

}  // namespace nephila::fetch
