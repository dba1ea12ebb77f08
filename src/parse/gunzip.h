// Gunzip: the content of a gzip file, in chunks and within bounds.
//
// The one place of this stage that knows zlib. Several members follow each
// other as one content (RFC 1952 s2.2); what stands behind the last is ignored.
//   In: compressed bytes in chunks   Out: content, appended to a string
//   Memory: 40 kB and what one call gives   Threads: one each
//   Cost: linear in the content, which is bounded
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace nephila::parse {

enum class GunzipError : uint8_t {
  kNone,
  kBroken,    // not gzip, or damaged
  kTooLarge,  // the content is longer than allowed
  kBomb,      // the ratio of content to compressed bytes is too high
};

struct GunzipLimits {
  uint64_t max_bytes = uint64_t{50} << 20;
  // Of content to what it was made from; not looked at in the first MiB.
  uint64_t max_ratio = 1000;
};

class Gunzip {
 public:
  explicit Gunzip(const GunzipLimits& limits);
  ~Gunzip();
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  // Appends what the bytes give to *out, up to the bound. After an error
  // nothing more comes.
  GunzipError Feed(std::string_view bytes, std::string* out);

  // Whether the last member is whole.
  bool complete() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace nephila::parse
