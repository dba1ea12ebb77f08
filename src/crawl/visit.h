// Visit: a URL on its way from the frontier to a server and back. It is made by
// the Frontier, waits for its turn in the Dispatcher, is fetched, archived and
// read by a Downloader, and comes back to the Frontier as a FinishedVisit.
//
// A visit belongs to one of them at a time.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "crawl/byte_budget.h"
#include "dns/answer.h"
#include "fetch/robots_walk.h"
#include "item/fetch_outcome.h"
#include "item/fetched_page.h"
#include "item/robots_fetch.h"
#include "item/url_record.h"
#include "job/entry.h"
#include "net/ip_address.h"
#include "politeness/politeness.h"
#include "reputation/pair_aggregator.h"
#include "url/canonicalizer.h"

namespace nephila::crawl {

// How long host, authority and address are left alone now, and how often in a
// row the authority did not answer or the host asked for less: for the journal.
struct Waits {
  std::chrono::milliseconds host{0};
  std::chrono::milliseconds authority{0};
  std::chrono::milliseconds address{0};
  uint32_t failures = 0;  // of the authority
  uint32_t overloads = 0;
};

struct Visit {
  // From the frontier.
  item::FetchKind kind = item::FetchKind::kPage;  // kPage or kRobots
  // Encoded UrlRecord; for kRobots that of the root of the site, with a target
  // if it is the one that another site's robots.txt is redirected to.
  std::string record;
  uint64_t place = 0;  // in the ready queue, of a page
  uint32_t attempt = 1;
  uint64_t budget = 0;  // of its domain
  // What the record of its host says.
  std::chrono::milliseconds crawl_delay{0};
  WallTime not_before{};
  uint32_t overloads = 0;
  // Of its authority, likewise.
  WallTime authority_not_before{};
  uint32_t failures = 0;

  // What is asked for now: the URL of the record, or where a redirect led that
  // is followed (of a robots.txt, of a page whose target has its key).
  std::string url;
  std::string host;  // of `url`, as the engine wants it
  uint16_t port = 80;
  bool https = false;
  uint64_t host_key = 0;  // of `host`, as records of it have it
  uint64_t domain_key = 0;
  uint32_t hops = 0;      // redirects that were followed
  bool is_again = false;  // a kept connection was gone when it was used
  std::unique_ptr<fetch::RobotsWalk> walk;  // with kRobots: one hop of it

  // From the dispatcher, with a lease.
  uint64_t lease = 0;
  dns::Answer answer;  // how its name was resolved
  net::IpAddress address;
  bool keep_connection = false;
  // Without one: why there is none (kDnsFailed, kNoSuchHost, kAddressRefused,
  // kHostDead, kBlocked);
  // the downloader then only writes it down.
  std::optional<item::FetchOutcome> failure;
  std::string error;
  Waits left;  // with a failure: of its host, since

  // The memory that the visit takes, of the share for visits.
  ByteCharge charge;
};

using VisitPtr = std::unique_ptr<Visit>;

// The authority that is asked now (politeness/authority.h).
inline uint32_t AuthorityOf(const Visit& visit) {
  return politeness::AuthorityOf(visit.port, visit.https);
}

// Whether it is to bring the page of this URL.
inline bool IsPageOf(const Visit& visit, std::string_view url) {
  if (visit.kind != item::FetchKind::kPage) return false;
  const auto record = item::ReadUrl(visit.record);
  return record.has_value() && record->url == url;
}

// What a page gave, link by link, before anything is thought of it.
struct FoundCounts {
  uint64_t links = 0;     // found by `parse`
  uint64_t unwanted = 0;  // dropped there: too many, too long
  uint64_t nofollow = 0;
  uint64_t repeated = 0;
  uint64_t roots = 0;  // of other hosts, made besides their links
  // By url::DropReason.
  std::array<uint64_t, url::kDropReasonNames.size()> not_crawled{};
  uint64_t over_limit = 0;  // behind the limit of one page
  uint64_t out = 0;         // in `links` of the visit
};

// An attempt that is over: archived, in the journal, and read. The frontier
// takes them in the order of `entry`.
struct FinishedVisit {
  uint64_t entry = 0;  // its number in the journal
  // It is no attempt: a seed, which is the one record of `links`.
  bool is_seed = false;
  // As if it had not happened: what it archived was lost with the power, or it
  // is no matter of the frontier.
  bool is_void = false;
  // It is what somebody wants of the crawl (retry_command.h).
  std::string command;
  item::FetchKind kind = item::FetchKind::kPage;
  std::string record;
  uint64_t place = 0;
  uint32_t attempt = 1;
  uint64_t budget = 0;
  item::FetchOutcome outcome = item::FetchOutcome::kInternalError;
  int status = 0;
  bool archived = false;
  uint64_t body_bytes = 0;
  // This was a redirect that is followed, to `next`: of a page, which is asked
  // for like a retry, once robots.txt allows it; of a robots.txt, which is for
  // `robots` to follow. Its entry says `retry` too.
  bool goes_on = false;
  std::string next;
  // Its body is gone from the archive, and with it the links that were not
  // taken: the page is to be fetched again.
  bool body_lost = false;
  // Nobody may read it (job/quarantine.h): it gives no links.
  bool quarantined = false;
  // There was no memory to read it: it gives no links.
  bool out_of_memory = false;
  // Its page was not read, since what is on its way to the frontier had used up
  // its memory. The frontier has the page read from `archive` when the entry is
  // the next one to be taken (deferred_reader.h).
  bool unread = false;
  std::optional<job::ArchivePlace> archive;
  std::optional<job::ArchivePlace> original;  // of a revisit: the body
  // Of the URL: it stays open, and comes again after so long, with this number
  // of its attempt.
  bool retry = false;
  std::chrono::milliseconds url_wait{0};
  uint32_t next_attempt = 1;
  WallTime when{};
  // Of host or authority, the longer, from then on: for those who look.
  std::chrono::milliseconds host_wait{0};

  // Encoded UrlRecords, each behind its length as a varint, of a page, or the
  // sitemaps of a robots.txt: without what all of them share, see
  // visit_links.h. Then links to other domains, each once.
  std::string links;
  std::vector<reputation::DomainPair> edges;
  FoundCounts found;

  // Of a robots.txt.
  item::RobotsFetchEnd robots_end = item::RobotsFetchEnd::kNetwork;
  int robots_status = 0;
  std::string rules;  // compiled, if there was a file
  std::optional<std::chrono::milliseconds> robots_delay;

  // The memory that all of this takes, of the share for finished visits.
  ByteCharge charge;
};

// The memory that a finished visit takes.
uint64_t BytesOf(const FinishedVisit& visit);
uint64_t BytesOf(const Visit& visit);

}  // namespace nephila::crawl
