// FreshLinks: before BEAST leaves a queue, the links that gather in front of it
// get their queues.
//
// A queue has at most B_x URLs of a domain x, and of a link farm it has all of
// them. What keeps a farm's share of a crawl small is that the queue has a few
// URLs of every other domain too; so a crawl that reads queue after queue, and
// splits Q_F, while the links to new domains lie in the batches of `seen` and
// `reputation`, gives the farm what they should have had: breadth-first search
// again (`nephila bench spam` shows it: 80 % of a crawl for farms, or 1 %).
//
// A turn: what gathered in `seen` and `reputation` when the queue was read to
// its end goes through their passes, and through those of `caps` if there are
// some, then what is in the Drum of `budget` through its own. All only while
// passes are cheap (drum::Drum::FlushIfCheap): a crawl that is too large for
// that passes enough URLs in a batch of each.
//   Threads: the frontier's.   Cost: at most a pass of each stage a queue.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "budget/budget.h"
#include "caps/caps.h"
#include "reputation/reputation.h"
#include "seen/seen.h"

namespace nephila::crawl {

class FreshLinks {
 public:
  // They outlive this; `caps` may be null.
  FreshLinks(seen::Seen& seen, caps::Caps* caps,
             reputation::Reputation& reputation, budget::Budget& budget)
      : seen_(seen), caps_(caps), reputation_(reputation), budget_(budget) {}

  // For BudgetOptions::may_leave: false until the turn is over, which steps of
  // all of them bring about.
  Result<bool> AreIn();

 private:
  enum class Turn : uint8_t {
    kNone,
    kInFront,  // through seen and reputation
    kCaps,
    kBudget,  // through the Drum of budget
  };

  seen::Seen& seen_;
  caps::Caps* const caps_;
  reputation::Reputation& reputation_;
  budget::Budget& budget_;
  Turn turn_ = Turn::kNone;
};

}  // namespace nephila::crawl
