// Host, Server and Fifo: what Politeness has of each host and address.
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
  MonoTime ready_at{};     // the end of its wait
  MonoTime not_before{};   // of its record
  MonoTime last_end{};     // of a transfer; 0: none in this life
  MonoTime later_until{};  // due time of the last URL that was sent away
  Fifo urgent;
  Fifo pages;
  std::array<uint32_t, kMostAddresses> servers{};
  uint8_t server_count = 0;
  Place place = Place::kHeap;
  DelayReason reason = DelayReason::kHostDelay;
  bool contacted = false;  // ever, as far as is known
  bool parked = false;     // and not forgotten by its owner
  uint32_t line_next = kNone;
  uint32_t line_server = kNone;  // with kLine and kFlight
  uint32_t failures = 0;         // in a row
  uint32_t overloads = 0;        // in a row

  size_t urls() const { return urgent.size() + pages.size(); }
};

struct Server {
  ServerKey key;
  MonoTime ready_at{};
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
