// What the tests of `budget` share: URLs by domain and number, and BEAST in
// memory, simple enough to be trusted. For tests only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "budget/assignment.h"
#include "budget/budget.h"
#include "config/settings.h"
#include "item/url_record.h"
#include "url/keys.h"

namespace nephila::budget {

inline constexpr uint64_t kSeed = 11;

// URL `number` of domain `domain`, on one of `hosts` hosts.
struct TestUrl {
  uint64_t domain = 0;
  uint64_t number = 0;
  uint64_t host = 0;

  bool operator==(const TestUrl&) const = default;
  auto operator<=>(const TestUrl&) const = default;
};

std::string EncodeUrl(const TestUrl& url);
TestUrl DecodeUrl(std::string_view record);
url::PldKey PldOf(uint64_t domain);

// A budget function with `base` for all and `proportional` to in-degrees.
std::string TestFunction(uint32_t base, uint32_t most);
BudgetOptions SmallOptions(uint64_t first_queues, uint64_t max_queues);

// BEAST as the design has it: sets of queues in memory, a record a domain, and
// rounds counted by hand. Passes happen when it is told, and their answers are
// delivered when it is told.
class ModelBeast {
 public:
  struct Taken {
    TestUrl url;
    uint64_t budget = 0;
    bool operator==(const Taken&) const = default;
  };

  ModelBeast(uint64_t first_queues, uint64_t max_queues, uint32_t base,
             uint32_t most)
      : queues_(first_queues),
        max_queues_(max_queues),
        round_left_(first_queues),
        base_(base),
        most_(most) {}

  void Add(const TestUrl& url) { gathering_.push_back({url, false, 0}); }
  void AddInDegree(uint64_t domain, uint64_t count) {
    gathering_.push_back({TestUrl{domain, 0, 0}, false, count});
  }
  // Freezes and answers all that was added, now or when the pass that is on
  // is delivered.
  void Flush();
  // A restart forgets that a pass was wanted.
  void ForgetFlush() { flush_wanted_ = false; }
  bool PassIsOn() const { return pass_is_on_; }
  // Up to `count` answers go to their queues.
  void Deliver(size_t count);
  // Up to `count` URLs of the Q_F that is split are added.
  size_t SplitStep(size_t count);
  void Advance();
  std::vector<Taken> Take(size_t count);

  uint64_t current() const { return current_; }
  uint64_t queues() const { return queues_; }
  uint64_t InQueues() const;
  uint64_t InFailed() const { return failed_.size() + splitting_.size(); }
  uint64_t InDrum() const;
  bool gathering_is_empty() const { return gathering_.empty(); }
  size_t answers_left() const { return answers_.size(); }
  uint64_t split_left() const { return split_left_; }
  bool WantsFlush() const {
    return split_is_on_ && splitting_.empty() && split_left_ > 0;
  }

 private:
  struct Tuple {
    TestUrl url;
    bool of_split = false;
    uint64_t count = 0;  // of an in-degree; 0: a URL
  };
  struct Domain {
    uint64_t in_degree = 0;
    uint64_t next_queue = 0;
    uint64_t fill = 0;
  };
  struct Answered {
    Tuple tuple;
    uint64_t queue = 0;
    uint64_t budget = 0;
  };

  void BeginPass();
  void Meet(const Tuple& tuple);
  void EndSplitIfOver();

  std::map<uint64_t, Domain> domains_;
  std::map<uint64_t, std::deque<Taken>> numbered_;
  std::deque<TestUrl> failed_;     // Q_F
  std::deque<TestUrl> splitting_;  // the version that is split
  std::vector<Tuple> gathering_;
  std::deque<Answered> answers_;
  bool flush_wanted_ = false;
  bool pass_is_on_ = false;
  uint64_t pass_begun_at_ = 0;
  uint64_t current_ = 1;
  uint64_t queues_;
  uint64_t max_queues_;
  uint64_t round_left_;  // queues of this round, the current one included
  bool split_is_on_ = false;
  uint64_t split_first_ = 0;
  uint64_t split_last_ = 0;
  uint64_t split_left_ = 0;
  uint64_t next_queues_ = 0;
  uint32_t base_;
  uint32_t most_;
};

}  // namespace nephila::budget
