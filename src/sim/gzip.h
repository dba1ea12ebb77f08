// Gzip for simulated answers, by ISA-L: the only header that knows it.
//
// What it packs is the same for everyone once unpacked; the packed bytes may
// differ between machines.
//   Threads: one object each. Cost: about 37 us for 20 KB.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace nephila::sim {

class Gzip {
 public:
  Gzip();
  ~Gzip();
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  // Appends one gzip member.
  void Append(std::string_view bytes, std::string* out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A gzip member of any number of zeros, made piece by piece: a thousandth of
// what it unpacks to.
class GzipBomb {
 public:
  // Unpacks to `bytes`, rounded up to whole pieces of 1 MiB.
  explicit GzipBomb(uint64_t bytes);

  // Appends the next piece, about 1 KB. False after the last.
  bool Next(std::string* out);

 private:
  uint64_t left_;  // pieces
  uint64_t done_ = 0;
  uint32_t crc_ = 0;
};

}  // namespace nephila::sim
