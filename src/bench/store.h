// LinkStore: what is measured by `nephila-bench drum`, ours and its peers.
//
// A store takes every link with its key and hands each distinct one on to the
// sink, once, in any order and at any time up to the end of Finish. The runner
// makes the keys, counts what goes in, and adds the text handed on to the bytes
// of every store in the same way: a queue would write it.
//
// Threads: one calls; a store may have more of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/codec.h"
#include "base/result.h"

namespace nephila::bench {

// The distinct links, as sums that do not depend on their order.
class UniqueSink {
 public:
  void Take(uint64_t key, std::string_view text) {
    ++links_;
    text_bytes_ += text.size();
    key_xor_ ^= key;
  }
  uint64_t links() const { return links_; }
  uint64_t text_bytes() const { return text_bytes_; }
  uint64_t key_xor() const { return key_xor_; }

 private:
  uint64_t links_ = 0;
  uint64_t text_bytes_ = 0;
  uint64_t key_xor_ = 0;
};

struct StoreOptions {
  std::string directory;       // exists, is empty, is the store's alone
  uint64_t memory_bytes = 0;   // for all that grows: batch, caches, buffers
  uint64_t disk_bytes = 0;     // for what waits on disk; not for the keys
  uint64_t expected_keys = 0;  // at the end, for who sizes tables by it
  int threads = 2;             // at most, in the background
  uint64_t hash_seed = 0;      // a link's key is KeyedHash(text, hash_seed)
  std::optional<Codec> codec = std::nullopt;  // of our own; else chosen
  bool page_cache = false;                    // our own without direct I/O
  UniqueSink* sink = nullptr;
  // Asked now and then while preloading, with the keys loaded so far; false
  // ends it with kStopped.
  std::function<bool(uint64_t)> keep_loading = [](uint64_t) { return true; };
};

struct StoreReport {
  uint64_t passes = 0;         // merges with the store; 0 if it has none
  uint64_t bytes_read = 0;     // from disk
  uint64_t bytes_written = 0;  // to disk
  uint64_t log_bytes = 0;      // written of text that waits, if that is apart
  uint64_t keys = 0;
  uint64_t bytes_of_keys = 0;  // what they take on disk
  std::vector<std::pair<std::string, double>> extra;
};

class LinkStore {
 public:
  virtual ~LinkStore() = default;
  LinkStore(const LinkStore&) = delete;
  LinkStore& operator=(const LinkStore&) = delete;

  // Fills the store with the keys of PreloadKeys(count), without the sink.
  // REQUIRES: called at most once, before Add.
  virtual Status Preload(uint64_t count) = 0;
  virtual Status Add(uint64_t key, std::string_view text) = 0;
  // Decides all that waits.
  virtual Status Finish() = 0;
  // All since the store was made, Preload included.
  virtual StoreReport report() = 0;

 protected:
  LinkStore() = default;
};

}  // namespace nephila::bench
