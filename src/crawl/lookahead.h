// Lookahead: how many URLs are to have left `budget` before they are asked for.
//
// Between `budget` and the ready queue stands the pass of RobotsCache, which
// reads the records of all hosts. The more there are the longer it takes, and
// it is begun only while it is cheap (drum::Drum::FlushIfCheap); so what one
// pass brings must last until the next has come. A small crawl, whose passes
// take no time, takes from `budget` only what is wanted: there the order is
// decided as late as can be.
//   In: URLs that were given out, how long it is from pass to pass
//   Out: a number of URLs: what is given out in twice that time
//   Threads: one   Cost: none
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace nephila::crawl {

class Lookahead {
 public:
  // `most`: URLs are on disk, but have left the order of budgets.
  explicit Lookahead(double most = 200'000) : most_(most) {}

  // `urls` were given out just now; 0 too is news.
  void Given(uint64_t urls, MonoTime now) {
    using std::chrono::seconds;
    given_ += urls;
    if (began_ == MonoTime{}) began_ = now;
    if (now - began_ < seconds(1)) return;
    per_second_ = static_cast<double>(given_) / Seconds(now - began_);
    given_ = 0;
    began_ = now;
  }

  // A crawl that was short of URLs gave out those of one pass, and asks for
  // twice as many from the next.
  uint64_t Urls(std::chrono::nanoseconds from_pass_to_pass) const {
    const double urls = 2 * per_second_ * Seconds(from_pass_to_pass);
    return static_cast<uint64_t>(std::min(urls, most_));
  }

 private:
  const double most_;
  uint64_t given_ = 0;
  MonoTime began_{};
  double per_second_ = 0;
};

}  // namespace nephila::crawl
