// Host, ParkedHost, Server and Fifo: what Politeness has of each host and
// address.
//
// Plain data, by small numbers (slots.h); politeness_impl.h keeps it in order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "politeness/delays.h"
#include "politeness/politeness.h"

namespace nephila::politeness {

inline constexpr uint32_t kNone = UINT32_MAX;

struct Item {
  Kind kind = Kind::kPage;
  std::string payload;
};

// A queue that takes no memory when it is empty.
class Fifo {
 public:
  void Push(Item item) { items_.push_back(std::move(item)); }
  const Item& front() const { return items_[head_]; }
  Item Pop() {
    Item item = std::move(items_[head_++]);
    if (head_ == items_.size()) {
      std::vector<Item>().swap(items_);
      head_ = 0;
    } else if (head_ >= 32 && head_ * 2 >= items_.size()) {
      items_.erase(items_.begin(),
                   items_.begin() + static_cast<std::ptrdiff_t>(head_));
      head_ = 0;
    }
    return item;
  }
  size_t size() const { return items_.size() - head_; }
  bool empty() const { return size() == 0; }

 private:
  std::vector<Item> items_;
  size_t head_ = 0;
};

enum class Place : uint8_t {
  kHeap,    // waits for its time, or is idle
  kLine,    // due, and waits for its address
  kFlight,  // has a lease
};

struct Host {
  uint64_t key = 0;
  uint64_t domain = 0;
  HostPace pace;
  MonoTime ready_at{};        // the end of its wait
  MonoTime not_before{};      // of its record
  MonoTime last_end{};        // of a transfer; 0: none in this life
  MonoTime later_until{};     // due time of the last URL that was sent away
  MonoTime crawl_delay_at{};  // when its crawl delay was last said
  MonoTime domain_turn{};     // its domain's turn that it has; 0: none
  Fifo urgent;
  Fifo pages;
  std::array<uint32_t, kMostAddresses> servers{};
  uint32_t site_delays = 0;  // by which its delay was looked up
  uint8_t server_count = 0;
  Place place = Place::kHeap;
  DelayReason reason = DelayReason::kHostDelay;
  bool contacted = false;  // ever, as far as is known
  bool hopped = false;     // a redirect led here
  bool held = false;       // by Hold, and nothing was heard of its record yet
  uint32_t line_next = kNone;
  uint32_t line_server = kNone;  // with kLine and kFlight
  Trouble trouble;
  Trouble recorded;  // what its record says, as far as is known
  // Of a note that not all URLs have seen yet (Forget); 0: none.
  uint64_t noted = 0;

  size_t urls() const { return urgent.size() + pages.size(); }
};

// A host that is not due for long, without URLs: its clock, until its owner has
// it. Its record is told what it says here.
struct ParkedHost {
  MonoTime ready_at{};
  MonoTime last_end{};
  MonoTime later_until{};
  uint64_t epoch = 0;  // of its last note
  Trouble trouble;
  DelayReason reason = DelayReason::kHostDelay;
};

struct Server {
  ServerKey key;
  MonoTime ready_at{};
  MonoTime leased_at{};   // the last time
  MonoTime contact{};     // the last one; 0: none in this life
  MonoTime away_until{};  // due time of the last host sent away from its line
  // From a lease to when the next may be given, lately; 0: not known.
  Length interval{0};
  // A lease was given and its contact not reported.
  uint64_t pending_lease = 0;
  uint32_t in_flight = 0;
  uint32_t hosts = 0;  // that have this address
  uint32_t line_first = kNone;
  uint32_t line_last = kNone;
  uint32_t line_size = 0;
  uint32_t domains = 0;
  double budgets = 0;  // their sum

  double MeanBudget() const {
    return domains == 0 ? 0 : budgets / static_cast<double>(domains);
  }
};

}  // namespace nephila::politeness
