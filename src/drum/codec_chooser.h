// CodecChooser: which codec the aux log gets, from what the store has measured.
//
// Every so many blocks one is packed and unpacked by all codecs, and timed.
// With these costs and the speed that the store sees of its disk the cost
// model (model/store_model.h) names the cheapest. The first batch has nothing
// to go by and takes zstd: on a slow disk anything else would hurt, on a fast
// one a batch is soon over. Threads: any.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/codec.h"
#include "base/mutex.h"
#include "drum/block_file.h"

namespace nephila::drum {

class CodecChooser {
 public:
  // A fixed codec, or none to choose by cost.
  CodecChooser(std::optional<Codec> fixed, int cores)
      : fixed_(fixed), cores_(cores) {}

  // For the next batch, of a store with `known_keys` and batches of
  // `batch_disk_bytes`.
  Codec Choose(const IoCounts& counts, uint64_t known_keys,
               uint64_t batch_disk_bytes);

  // Whether the next block should be tried with all codecs.
  bool WantsTrial();
  void Try(std::string_view sample, uint64_t records, Compressor& compressor);

 private:
  struct Cost {
    double ns_per_byte = 0;  // packing and unpacking
    double ratio = 1;
  };
  const std::optional<Codec> fixed_;
  const int cores_;
  Mutex mutex_;
  uint64_t blocks_ NEPHILA_GUARDED_BY(mutex_) = 0;
  uint64_t trials_ NEPHILA_GUARDED_BY(mutex_) = 0;
  double bytes_per_record_ NEPHILA_GUARDED_BY(mutex_) = 0;
  std::array<Cost, kCodecs> costs_ NEPHILA_GUARDED_BY(mutex_);
};

}  // namespace nephila::drum
