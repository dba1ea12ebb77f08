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
// its end goes through their passes, then what is in the Drum of `budget`
// through its own. All only while passes are cheap (drum::Drum::FlushIfCheap):
// a crawl that is too large for that passes enough URLs in a batch of each.
//   Threads: the frontier's.   Cost: at most a pass of each stage a queue.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "budget/budget.h"
#include "reputation/reputation.h"
#include "seen/seen.h"

namespace nephila::crawl {

class FreshLinks {
 public:
  // They outlive this.
  FreshLinks(seen::Seen& seen, reputation::Reputation& reputation,
             budget::Budget& budget)
      : seen_(seen), reputation_(reputation), budget_(budget) {}

  // For BudgetOptions::may_leave: false until the turn is over, which steps of
  // all three bring about.
  Result<bool> AreIn();

 private:
  enum class Turn : uint8_t {
    kNone,
    kInFront,  // through seen and reputation
    kBudget,   // through the Drum of budget
  };

  seen::Seen& seen_;
  reputation::Reputation& reputation_;
  budget::Budget& budget_;
  Turn turn_ = Turn::kNone;
};

}  // namespace nephila::crawl
