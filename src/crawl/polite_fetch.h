// PoliteFetch: a list of URLs, fetched as a crawl would fetch them: robots.txt
// first, one request to a host at a time and its delay between them, the page
// read for its links and, if a store is given, archived. No frontier: links are
// found, not followed.
//   In: URLs   Out: a FetchedUrl for each, in the order in which they end
//   Threads: the loop's   Memory: with the URLs and their sites
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/settings.h"
#include "crawl/contacts.h"
#include "crawl/page_processor.h"
#include "crawl/robots_reader.h"
#include "fetch/fetch_result.h"
#include "fetch/robots_walk.h"
#include "store/store.h"
#include "url/public_suffix.h"

namespace nephila::crawl {

// What robots.txt said.
struct RobotsWord {
  bool allowed = false;
  std::string rule;  // that decided, "Disallow: /x"; "" if none did
  uint32_t line = 0;
  std::string_view verdict;  // of the fetch: robots::VerdictName
  int status = 0;            // of robots.txt, 0 if there was no answer
  // How its last hop ended, and what was wrong.
  item::FetchOutcome outcome = item::FetchOutcome::kInternalError;
  std::string error;
};

// Views live as long as the call.
struct FetchedUrl {
  std::string_view url;
  std::string_view via;  // the URL that redirected here
  item::FetchOutcome outcome = item::FetchOutcome::kInternalError;
  RobotsWord robots;
  // Null where robots.txt forbade it.
  const fetch::FetchResult* result = nullptr;
  const dns::Answer* answer = nullptr;
  PageFacts facts;
  std::vector<std::string> links;
  std::string_view location;   // of a redirect, as the crawl would take it
  std::string_view record_id;  // in the archive
};

class PoliteFetch {
 public:
  struct Parts {
    Contacts::Parts contacts;
    const config::Settings& settings;
    const url::PublicSuffixList& suffixes;
    store::Store* store;  // null: nothing is archived
    int redirects;        // so many are followed, each as a URL of its own
    std::function<void(const FetchedUrl&)> report;
  };

  // All of it outlives this.
  explicit PoliteFetch(const Parts& parts);

  // kInvalidArgument for what is no http or https URL.
  Status Add(std::string_view url);
  // Whether there is anything left to do: then run the loop.
  bool busy() const { return open_ > 0; }
  // The first error of the store; nothing is fetched after it.
  const Status& status() const { return status_; }

 private:
  struct Job {
    url::Url url;
    std::string via;
    int redirects = 0;
  };
  // Rules are for a scheme, host and port (RFC 9309 s2.3).
  struct Site {
    Site(const config::FetchSettings& fetch, const config::UrlSettings& urls)
        : walk(fetch, urls) {}
    fetch::RobotsWalk walk;
    std::string rules;  // compiled; empty: not known yet
    RobotsWord word;    // but for the rule
    std::vector<Job> waiting;
  };

  void Begin(Job job);
  void AskRobots(Site* site);
  void OnRobots(Site* site, const fetch::FetchResult& result);
  void TakeRules(Site* site);
  void AskPage(Site* site, Job job);
  void OnPage(const Job& job, const RobotsWord& word,
              const fetch::FetchResult& result, const dns::Answer& answer);
  RobotsWord Check(const Site& site, const url::Url& url) const;
  // With the name's records, the first time that they are seen.
  void Archive(const fetch::FetchResult& result, const dns::Answer& answer,
               std::string_view via, std::string* record_id);
  void Write(const item::FetchedPage& page, std::string* record_id);

  const Parts parts_;
  Contacts contacts_;
  PageProcessor processor_;
  RobotsReader robots_;
  std::map<std::string, std::unique_ptr<Site>, std::less<>> sites_;
  std::set<std::string, std::less<>> archived_names_;
  size_t open_ = 0;
  Status status_;
};

}  // namespace nephila::crawl
