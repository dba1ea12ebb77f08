// SeedWatch: what a user has to know while a crawl has no page yet: who does
// not answer, what is waited for and until when. And at its end, if there is
// still none, why. Silent from the first page on.
//
//   In: attempts as they end   Out: a few lines, and a verdict
//   Threads: one   Memory: a number for each site that has no robots.txt
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/result.h"
#include "config/settings.h"
#include "crawl/crawl_status.h"
#include "crawl/visit.h"

namespace nephila::cli {

class SeedWatch {
 public:
  using Say = std::function<void(const std::string& line)>;

  SeedWatch(const config::Settings& settings, Say say);

  void See(const crawl::FinishedVisit& visit);
  void See(const crawl::CrawlStatus& status);  // now and then
  // An error if a crawl that ran to its end, or to the end of its time, has no
  // page. `seed` is one of its seeds, "" if that is not known.
  Status Verdict(const crawl::CrawlStatus& status, const std::string& seed,
                 const std::string& job) const;

 private:
  void SeeRobots(const std::string& url, const crawl::FinishedVisit& visit);
  void SeePage(const std::string& url, const crawl::FinishedVisit& visit);
  // `then` is what is done about it.
  void Note(const std::string& trouble, const std::string& then);

  const config::RobotsSettings settings_;
  const Say say_;
  bool is_over_ = false;  // there is a page
  int lines_ = 0;
  std::map<std::string, uint32_t> tries_;  // by site
  std::string first_;  // trouble that is not tried again, else any
  bool first_is_final_ = false;
  uint64_t troubles_ = 0;
  std::string disk_;  // what is waited for there
};

}  // namespace nephila::cli
