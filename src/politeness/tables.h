// Host, Lane, ParkedHost, Server and Fifo: what Politeness has of each host,
// authority and address.
//
// Plain data, by small numbers (slots.h); politeness_impl.h keeps it in order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
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

// A queue that takes no memory when it is empty. Urgent items come first.
class Fifo {
 public:
  void Push(Item item) {
    if (item.kind == Kind::kPage) return items_.push_back(std::move(item));
    items_.insert(At(head_ + urgent_), std::move(item));
    ++urgent_;
  }
  const Item& front() const { return items_[head_]; }
  Item Pop() {
    Item item = std::move(items_[head_++]);
    if (urgent_ > 0) --urgent_;
    if (head_ == items_.size()) {
      std::vector<Item>().swap(items_);
      head_ = 0;
    } else if (head_ >= 32 && size_t{head_} * 2 >= items_.size()) {
      items_.erase(items_.begin(), At(head_));
      head_ = 0;
    }
    return item;
  }
  Item PopBack() {
    Item item = std::move(items_.back());
    items_.pop_back();
    if (head_ == items_.size()) {
      std::vector<Item>().swap(items_);
      head_ = 0;
    }
    return item;
  }
  size_t size() const { return items_.size() - head_; }
  size_t urgent() const { return urgent_; }
  bool empty() const { return size() == 0; }

 private:
  std::vector<Item>::iterator At(uint32_t place) {
    return items_.begin() + static_cast<std::ptrdiff_t>(place);
  }

  std::vector<Item> items_;
  uint32_t head_ = 0;
  uint32_t urgent_ = 0;
};

// A list whose first element is not allocated: nearly every host has one
// authority. A reference is good until the next Add or Remove.
template <typename T>
class Few {
 public:
  size_t size() const { return size_; }
  T& operator[](size_t at) { return at == 0 ? first_ : (*more_)[at - 1]; }
  const T& operator[](size_t at) const {
    return at == 0 ? first_ : (*more_)[at - 1];
  }
  T& Add() {
    if (size_++ == 0) return first_;
    if (more_ == nullptr) more_ = std::make_unique<std::vector<T>>();
    return more_->emplace_back();
  }
  // The last element takes its place.
  void Remove(size_t at) {
    const size_t last = --size_;
    if (at != last) (*this)[at] = std::move((*this)[last]);
    if (last == 0) {
      first_ = T();
    } else {
      more_->pop_back();
      if (more_->empty()) more_.reset();
    }
  }

 private:
  T first_;
  std::unique_ptr<std::vector<T>> more_;
  uint32_t size_ = 0;
};

// What is known of one authority of a host.
struct LaneState {
  MonoTime ready_at{};     // the end of its back-off
  MonoTime later_until{};  // due time of the last URL that was sent away
  uint32_t authority = 0;
  uint32_t failures = 0;  // in a row
  uint32_t recorded = 0;  // what its record says, as far as is known
  DelayReason reason = DelayReason::kBackOff;  // of its wait
  bool told = false;  // a note, or the record, has the end of its back-off
};

// An authority of a host in memory, with its URLs. The authorities of a host
// take turns.
struct Lane : LaneState {
  bool answered = false;   // the last time
  bool in_flight = false;  // it has the lease of its host
  bool held = false;       // by Hold, and nothing was heard of its record yet
  uint32_t turn = 0;       // number of its last lease, of those of the host
  Fifo urls;
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
  MonoTime later_until{};     // as of a lane, for the lanes to come
  MonoTime crawl_delay_at{};  // when its crawl delay was last said
  MonoTime domain_turn{};     // its domain's turn that it has; 0: none
  std::array<uint32_t, kMostAddresses> servers{};
  uint32_t site_delays = 0;  // by which its delay was looked up
  uint8_t server_count = 0;
  Place place = Place::kHeap;
  DelayReason reason = DelayReason::kHostDelay;
  bool contacted = false;  // ever, as far as is known
  bool hopped = false;     // a redirect led here
  bool proven = false;     // host_class.h
  bool slow = false;
  bool held = false;       // by Hold, and nothing was heard of its record yet
  bool tried = false;      // the last turn was of a lane that had not answered
  uint8_t line_class = 0;  // its HostClass when it entered its line
  uint32_t line_next = kNone;
  uint32_t line_previous = kNone;
  uint32_t line_server = kNone;  // with kLine and kFlight
  uint32_t overloads = 0;
  uint32_t recorded = 0;  // the overloads of its record, as far as is known
  uint32_t turns = 0;     // leases
  Few<Lane> lanes;
  // Of a note that not all URLs have seen yet (Forget); 0: none.
  uint64_t noted = 0;

  size_t urls() const {
    size_t urls = 0;
    for (size_t i = 0; i < lanes.size(); ++i) urls += lanes[i].urls.size();
    return urls;
  }
  bool has_urls() const {
    for (size_t i = 0; i < lanes.size(); ++i) {
      if (!lanes[i].urls.empty()) return true;
    }
    return false;
  }
};

// A host that is not due for long, without URLs: its clock, until its owner has
// it. Its record is told what it says here.
struct ParkedHost {
  MonoTime ready_at{};
  MonoTime last_end{};
  MonoTime later_until{};
  uint64_t epoch = 0;  // of its last note
  uint32_t overloads = 0;
  DelayReason reason = DelayReason::kHostDelay;
  Few<LaneState> lanes;  // those that are in trouble, or wait
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
