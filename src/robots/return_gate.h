// ReturnGate: how far Q_R may be read again.
//
// A URL goes to Q_R when its fetch stands in Q_D, or has ended: so it may be
// read again once the requests that stood in Q_D at that moment have ended.
// Only some of those pairs of places are kept: where there are too many, the
// last URLs wait for a request more than they need to.
//   Threads: one. Cost: constant; 16 KiB at most.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>

#include "base/bytes.h"

namespace nephila::robots {

class ReturnGate {
 public:
  static constexpr size_t kMostPlaces = 1024;

  // URLs before `urls` wait for requests before `requests` at most. Neither
  // falls from one call to the next.
  void Note(uint64_t urls, uint64_t requests) {
    if (!places_.empty() && (places_.back().requests == requests ||
                             places_.size() >= kMostPlaces)) {
      places_.back() = {urls, requests};
      return;
    }
    places_.push_back({urls, requests});
  }

  // Requests before `ended` have ended: URLs before the result may be read.
  uint64_t OpenUntil(uint64_t ended) {
    while (!places_.empty() && places_.front().requests <= ended) {
      open_ = places_.front().urls;
      places_.pop_front();
    }
    return open_;
  }

  // URLs before the result wait for requests before `requests` at most.
  uint64_t UrlsBefore(uint64_t requests) const {
    const auto behind = std::upper_bound(
        places_.begin(), places_.end(), requests,
        [](uint64_t most, const Place& p) { return most < p.requests; });
    return behind == places_.begin() ? open_ : std::prev(behind)->urls;
  }

  void Write(ByteWriter& writer) const {
    writer.Varint(open_);
    writer.Varint(places_.size());
    for (const Place& place : places_) {
      writer.Varint(place.urls);
      writer.Varint(place.requests);
    }
  }
  bool Read(ByteReader& reader) {
    const auto open = reader.Varint();
    const auto count = reader.Varint();
    if (!open.has_value() || !count.has_value() || *count > kMostPlaces) {
      return false;
    }
    open_ = *open;
    for (uint64_t i = 0; i < *count; ++i) {
      const auto urls = reader.Varint();
      const auto requests = reader.Varint();
      if (!urls.has_value() || !requests.has_value()) return false;
      places_.push_back({*urls, *requests});
    }
    return true;
  }

 private:
  struct Place {
    uint64_t urls = 0;
    uint64_t requests = 0;
  };

  uint64_t open_ = 0;
  std::deque<Place> places_;
};

}  // namespace nephila::robots
