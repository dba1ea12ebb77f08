#include "drum/codec_chooser.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "model/store_model.h"

namespace nephila::drum {
namespace {

// Of blocks, how many are tried: a trial takes about twice a block's time.
constexpr uint64_t kBlocksPerTrial = 256;
// What a disk has to have done before its speed is believed.
constexpr uint64_t kBytesForSpeed = uint64_t{64} << 20;

double Ns(std::chrono::steady_clock::duration time) {
  return static_cast<double>(std::chrono::nanoseconds(time).count());
}

double DiskBytesPerSecond(const IoCounts& counts) {
  const double bytes =
      static_cast<double>(counts.bytes_read + counts.bytes_written);
  const double ns = static_cast<double>(counts.read_ns + counts.write_ns);
  if (bytes < static_cast<double>(kBytesForSpeed) || ns <= 0) return 0;
  return bytes / ns * 1e9;
}

}  // namespace

bool CodecChooser::WantsTrial() {
  if (fixed_) return false;
  MutexLock lock(mutex_);
  return blocks_++ % kBlocksPerTrial == 0;
}

void CodecChooser::Try(std::string_view sample, uint64_t records,
                       Compressor& compressor) {
  const size_t capacity = compressor.Bound(sample.size());
  const auto packed = std::make_unique<char[]>(capacity);
  const auto unpacked = std::make_unique<char[]>(sample.size());
  Decompressor decompressor;
  for (size_t i = 0; i < kCodecs; ++i) {
    const auto codec = static_cast<Codec>(i);
    const auto begin = std::chrono::steady_clock::now();
    const auto size =
        compressor.Compress(codec, sample, packed.get(), capacity);
    if (!size || !decompressor.Decompress(codec, {packed.get(), *size},
                                          unpacked.get(), sample.size())) {
      continue;
    }
    const auto bytes = static_cast<double>(sample.size());
    const Cost cost{Ns(std::chrono::steady_clock::now() - begin) / bytes,
                    bytes / static_cast<double>(*size)};
    MutexLock lock(mutex_);
    // The least of all times is the one that was disturbed least.
    costs_[i].ns_per_byte =
        trials_ == 0 ? cost.ns_per_byte
                     : std::min(costs_[i].ns_per_byte, cost.ns_per_byte);
    costs_[i].ratio = cost.ratio;
  }
  MutexLock lock(mutex_);
  ++trials_;
  bytes_per_record_ =
      static_cast<double>(sample.size()) / static_cast<double>(records);
}

Codec CodecChooser::Choose(const IoCounts& counts, uint64_t known_keys,
                           uint64_t batch_disk_bytes) {
  if (fixed_) return *fixed_;
  MutexLock lock(mutex_);
  const double speed = DiskBytesPerSecond(counts);
  if (trials_ == 0 || speed == 0) return Codec::kZstd;
  std::array<model::CodecCosts, model::kCodecChoices> costs{};
  for (size_t i = 0; i < kCodecs; ++i) {
    costs[i] = {costs_[i].ns_per_byte, costs_[i].ratio};
  }
  model::StoreParameters parameters;
  parameters.link_bytes = bytes_per_record_;
  parameters.disk_bytes = 2 * static_cast<double>(batch_disk_bytes);
  parameters.known_keys = std::max(static_cast<double>(known_keys), 1.0);
  model::Machine machine;
  machine.cores = cores_;
  machine.disk_bytes_per_s = speed;
  return static_cast<Codec>(model::ChooseCodec(costs, parameters, machine));
}

}  // namespace nephila::drum
