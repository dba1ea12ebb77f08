// What nephila's own store costs, and the choices that this makes.
//
// The paper's DRUM with three of its assumptions dropped (docs/drum-model.md,
// whose (S1) to (S7) are cited here): text goes to one compressed log in
// arrival order, sorted keys are Rice-coded gaps, and Z is not rewritten by
// every pass but kept as runs of different sizes. alpha is, as in the papers,
// how often each byte of the text of all links is read or written. It depends
// on the state of the runs, so passes are simulated one by one.
//
// Pure functions; bytes, links and nanoseconds. Arguments are positive, no
// bounds are checked. Threads: any. Cost: microseconds a call, at most 2 ms.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/drum_model.h"

namespace nephila::model {

struct StoreParameters {
  double link_bytes = 62;                // b
  double text_ratio = 7;                 // c, of zstd -1 in blocks of 1 MiB
  double log_block_bytes = 1 << 20;      // before compression
  double key_record_bytes = 7;           // w, see KeyRecordBytes
  double unique_share = 1.0 / 9;         // p
  double disk_bytes = 4.0 * (1 << 30);   // D, of two batches
  double ram_bytes = 512.0 * (1 << 20);  // R
  double buckets = 512;                  // k
  double sort_bytes = 16;   // that a tuple takes while it is sorted
  double known_keys = 1e8;  // N, in Z at the start
  double tier_growth = 1;   // T: 0 never merges, kRewrite always
};

// T of a store that rewrites Z in every pass, as the paper's does.
inline constexpr double kRewrite = 1e300;

// (S1): a run of gaps between `keys` random 64-bit keys. At most 8.2 bytes.
double RiceBytesPerKey(double keys);

// A record of a bucket's file: with 256 buckets its number has the first byte.
double KeyRecordBytes(double buckets);

// (S2): b / c, and half a page and a header for every block.
double LogBytesPerLink(const StoreParameters& parameters);

// (S3), n: what the disk holds of one of two batches, or what k buckets can
// have if each is to be sorted in a quarter of the memory.
double LinksPerPass(const StoreParameters& parameters);

// The runs of Z, oldest first, that passes from an empty store on leave behind
// when `known_keys` are in it. Above kMaxPasses passes the first run has the
// rest.
inline constexpr uint64_t kMaxPasses = 20'000;
std::vector<double> GrownRuns(const StoreParameters& parameters);

// The passes that double a store of `known_keys`, at least 1, at most
// kMaxPasses: over so many each size of run is merged as often as it should.
uint64_t DoublingPasses(const StoreParameters& parameters);

// What each byte of text costs, by its parts (S4), and the runs meanwhile.
struct StoreAlpha {
  double log = 0;
  double buckets = 0;
  double z_read = 0;
  double z_written = 0;
  double unique_text = 0;
  double mean_runs = 0;  // that a pass reads
  double most_runs = 0;
  std::vector<double> runs = {};  // after the last pass

  double alpha() const {
    return log + buckets + z_read + z_written + unique_text;
  }
};
// REQUIRES: passes > 0.
StoreAlpha AlphaStore(const StoreParameters& parameters,
                      std::vector<double> runs, uint64_t passes);
// From GrownRuns on, over DoublingPasses.
StoreAlpha AlphaStore(const StoreParameters& parameters);

// Theorem 2 for the same links on the same machine: b, p, N, R, D of the store
// and the paper's H, P, M and Delta.
double AlphaPaper(const StoreParameters& parameters, uint64_t passes);

// A codec as measured, both ways together.
struct CodecCosts {
  double ns_per_byte;
  double ratio;
};
struct Machine {
  double cores = 2;
  double disk_bytes_per_s = 1.7e9;
  // Of the disk, what the store may have: the archive of a crawl writes too.
  double disk_share = 0.25;
};

// Time of a link: what it takes of all cores, and of the disk. The slower of
// both is what a link takes (S5).
struct LinkTime {
  double cpu_ns;
  double disk_ns;
  double ns() const { return cpu_ns > disk_ns ? cpu_ns : disk_ns; }
};
LinkTime TimeWithCodec(const CodecCosts& codec,
                       const StoreParameters& parameters,
                       const Machine& machine, double* alpha = nullptr);

// The index of the codec with the least time of a link, and of equals with the
// least alpha. `text_ratio` of the parameters is not looked at.
inline constexpr size_t kCodecChoices = 3;
size_t ChooseCodec(const std::array<CodecCosts, kCodecChoices>& codecs,
                   const StoreParameters& parameters, const Machine& machine);

// The rule of (24) for our store (S6, S7): a cache pays if with it links pass
// at a higher rate than without. Times are of one core and one link.
struct CacheCosts {
  double cache_ns;   // of every link; 1 / mu(c)
  double miss_rate;  // pi, of links
  // Of a link that reaches the store, without and with the cache before it:
  // with it the share of unique links is p / pi, see BehindCache.
  LinkTime without;
  LinkTime with;
  double other_cpu_ns = 0;  // of every link, the crawl; 1 / (l S_max)
  double cores = 2;
};
double LinkNsWithoutCache(const CacheCosts& costs);
double LinkNsWithCache(const CacheCosts& costs);
bool CachePays(const CacheCosts& costs);

// The store behind a cache: only duplicates leave (cache_model.h), so of what
// comes p / pi are unique; pi is taken for at least p.
StoreParameters BehindCache(const StoreParameters& parameters,
                            double miss_rate);

}  // namespace nephila::model
