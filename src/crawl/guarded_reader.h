// GuardedReader: a VisitReader that says in a slot of the job's folder what it
// reads, so that a page that ends the process can be told after a restart, and
// leaves alone what did so twice (job/quarantine.h).
//   In, out: those of VisitReader; a page that is left alone gives no links, a
//   robots.txt that is allows nothing. So does one that there is no memory for
//   (std::bad_alloc), which the visit says (out_of_memory)   Threads: one
//   Cost: that of VisitReader, and two small writes
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "crawl/visit.h"
#include "crawl/visit_reader.h"
#include "fetch/robots_walk.h"
#include "item/fetched_page.h"
#include "job/quarantine.h"

namespace nephila::crawl {

class GuardedReader {
 public:
  struct Parts {
    VisitReader& reader;
    job::Quarantine* quarantine = nullptr;  // null: all is read
    size_t slot = 0;
    uint64_t seed = 0;  // of the job's keys
    // For tests: before a page is read.
    std::function<void(std::string_view url)> on_read = nullptr;
  };
  explicit GuardedReader(const Parts& parts) : parts_(parts) {}

  // As those of VisitReader; `record` of the visit says which page it is. An
  // error is one of the disk.
  Status ReadPage(const item::FetchedPage& page, FinishedVisit* finished);
  Status ReadSitemaps(const item::FetchedPage& page, FinishedVisit* finished);
  Status GiveSitemaps(std::span<const std::string> sitemaps,
                      FinishedVisit* finished);

  // A hop of a robots.txt: what the walk does next, and at its end the rules
  // and the sitemaps.
  struct RobotsStep {
    fetch::RobotsWalk::Step step = fetch::RobotsWalk::Step::kEnd;
    std::vector<std::string> sitemaps;
  };
  Result<RobotsStep> ReadRobots(const item::FetchedPage& page,
                                fetch::RobotsWalk* walk,
                                FinishedVisit* finished);

 private:
  // Runs `read` unless the page is left alone, which the visit then says.
  // Memory that runs out is said there too.
  Status Guard(FinishedVisit* finished, const std::function<void()>& read);

  const Parts parts_;
};

// As if a robots.txt had been read that forbids all.
void SetDisallowAll(FinishedVisit* finished);

}  // namespace nephila::crawl
