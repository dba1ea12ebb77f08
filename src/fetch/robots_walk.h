// RobotsWalk: from a site to its robots.txt, hop by hop, as a machine without
// sockets: it says which URL to ask, is told what came, and says the next one
// or how it ended (RFC 9309 s2.3.1). Every hop is a request of its own to a
// host of its own, so whoever fetches gets a lease for each.
//
// Five redirects at least are followed, also to other hosts and schemes; a
// circle ends at once. A redirect to what we do not fetch (another scheme, a
// URL that is too long, an address, host or port that is refused) is refused,
// which gives no permission (robots/policy.h). An answer that breaks off is
// none, be it the connection, the chunks or the content coding: rules may be
// missing from it. One that is longer than `robots.max_size` is whole (s2.5).
//   In: a URL of the site, then results   Out: URLs, then an end
//   Threads: one per object.   Memory: the URLs of the hops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coding/chunked_decoder.h"
#include "coding/content_decoder.h"
#include "config/settings.h"
#include "item/fetch_outcome.h"
#include "item/fetched_page.h"
#include "item/robots_fetch.h"
#include "net/port_guard.h"
#include "url/url.h"

namespace nephila::fetch {

// What became of the hop that was asked.
struct RobotsHop {
  item::FetchOutcome outcome = item::FetchOutcome::kInternalError;
  int status = 0;             // with kResponse
  std::string_view location;  // raw
  item::Truncation truncation = item::Truncation::kNone;
  // How the codings of the body ended, as its decoders tell.
  coding::ChunkedDecoder::Outcome chunks =
      coding::ChunkedDecoder::Outcome::kWhole;
  coding::DecodeState content = coding::DecodeState::kWhole;
};

class RobotsWalk {
 public:
  enum class Step : uint8_t {
    kAsk,  // next()
    kEnd,  // end(), and with kAnswer status(): the body is that of this hop
  };

  RobotsWalk(const config::FetchSettings& fetch,
             const config::UrlSettings& urls);

  // The first hop: /robots.txt of the site of `page`, any http(s) URL of it.
  void Start(const url::Url& page);
  // One hop alone: `target`, which the robots.txt of a site is redirected to.
  void StartAt(const url::Url& target);
  // REQUIRES: the last step was kAsk. After kInterrupted the same is asked
  // again.
  Step OnResult(const RobotsHop& hop);

  // REQUIRES: the last step was kAsk.
  const url::Url& next() const { return next_; }
  // REQUIRES (both): the last step was kEnd.
  item::RobotsFetchEnd end() const { return end_; }
  int status() const { return status_; }
  // Redirects that were followed.
  size_t redirects() const { return asked_.size() - 1; }

  // No redirect to a longer URL is followed: those that wait for theirs are in
  // memory.
  static constexpr size_t kMostTargetBytes = 2048;

 private:
  Step Follow(std::string_view location);
  Step End(item::RobotsFetchEnd end);

  const size_t max_redirects_;
  const size_t max_url_bytes_;
  const net::PortGuard ports_;
  url::Url next_;
  url::Url target_;
  std::vector<std::string> asked_;  // with next()
  bool is_target_ = false;          // the first of them
  item::RobotsFetchEnd end_ = item::RobotsFetchEnd::kNetwork;
  int status_ = 0;
};

}  // namespace nephila::fetch
