// HostSketch: about how many hosts a domain has, in eight bytes.
//
// HyperLogLog (Flajolet et al. 2007) with 16 registers of 4 bits, and counting
// of empty registers while there are such: right to a host for a handful, to a
// quarter for many, up to about 350 000 hosts. It only grows, and is the same
// in whatever order hosts come. In: keys of hosts. Out: an estimate, bytes.
// Threads: a value.
#pragma once

#include <cstdint>

#include "url/keys.h"

namespace nephila::budget {

class HostSketch {
 public:
  HostSketch() = default;
  explicit HostSketch(uint64_t registers) : registers_(registers) {}

  // What of a host counts: 4 bits of register, 4 bits of rank.
  static uint8_t MarkOf(url::HostKey host);

  void Add(uint8_t mark);
  // At least 1.
  uint64_t Estimate() const;

  uint64_t registers() const { return registers_; }
  bool operator==(const HostSketch&) const = default;

 private:
  uint64_t registers_ = 0;
};

}  // namespace nephila::budget
