#include "bench/text_ratio.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>

#include "base/hash.h"

namespace nephila::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kBucketShift = 64 - 9;
constexpr size_t kBucketsKept = 8;
constexpr uint64_t kBucketsForOneKept = 512 / kBucketsKept;

double NsSince(SteadyClock::time_point begin) {
  return std::chrono::duration<double, std::nano>(SteadyClock::now() - begin)
      .count();
}

struct Block {
  std::string text;
  uint64_t links = 0;

  void Add(std::string_view link) {
    text.append(link).push_back('\n');
    ++links;
  }
};

// Packs blocks and adds up.
class Packer {
 public:
  explicit Packer(Codec codec) : codec_(codec) {}

  // Leaves the block empty.
  Status Pack(Block* block) {
    packed_.resize(std::max(packed_.size(), packer_.Bound(block->text.size())));
    auto begin = SteadyClock::now();
    NEPHILA_TRY(size_t size, packer_.Compress(codec_, block->text,
                                              packed_.data(), packed_.size()));
    pack_ns_ += NsSince(begin);
    unpacked_.resize(block->text.size());
    begin = SteadyClock::now();
    NEPHILA_RETURN_IF_ERROR(
        unpacker_.Decompress(codec_, std::string_view(packed_.data(), size),
                             unpacked_.data(), unpacked_.size()));
    unpack_ns_ += NsSince(begin);
    packed_bytes_ += size;
    links_ += block->links;
    text_bytes_ += block->text.size() - block->links;
    block->text.clear();
    block->links = 0;
    return {};
  }

  uint64_t links() const { return links_; }
  uint64_t text_bytes() const { return text_bytes_; }
  TextCosts costs() const {
    if (links_ == 0) return {};
    auto links = static_cast<double>(links_);
    return {.ratio = static_cast<double>(text_bytes_) /
                     static_cast<double>(packed_bytes_),
            .pack_ns_per_link = pack_ns_ / links,
            .unpack_ns_per_link = unpack_ns_ / links};
  }

 private:
  const Codec codec_;
  Compressor packer_;
  Decompressor unpacker_;
  std::string packed_;
  std::string unpacked_;
  uint64_t links_ = 0;
  uint64_t text_bytes_ = 0;
  uint64_t packed_bytes_ = 0;
  double pack_ns_ = 0;
  double unpack_ns_ = 0;
};

}  // namespace

Result<TextSample> SampleText(LinkSource* source,
                              const TextSampleOptions& options) {
  Packer arrival(options.codec);
  Packer bucket(options.codec);
  Block next;
  std::array<Block, kBucketsKept> kept;
  std::array<bool, kBucketsKept> had_block{};
  size_t without_block = kBucketsKept;
  std::string_view link;
  for (uint64_t links = 0; links < options.max_links; ++links) {
    bool in_arrival = arrival.text_bytes() < options.arrival_bytes;
    if (!in_arrival && without_block == 0) break;
    if (!source->Next(&link)) return Unexpected(source->status().error());
    if (in_arrival) {
      next.Add(link);
      if (next.text.size() >= options.block_bytes) {
        NEPHILA_RETURN_IF_ERROR(arrival.Pack(&next));
      }
    }
    uint64_t number = KeyedHash(link, options.hash_seed) >> kBucketShift;
    if (number % kBucketsForOneKept != 0) continue;
    size_t index = number / kBucketsForOneKept;
    kept[index].Add(link);
    if (kept[index].text.size() < options.block_bytes) continue;
    NEPHILA_RETURN_IF_ERROR(bucket.Pack(&kept[index]));
    if (!had_block[index]) --without_block;
    had_block[index] = true;
  }
  // A part of a block packs worse than a whole one: only where there is none.
  if (arrival.links() == 0 && next.links > 0) {
    NEPHILA_RETURN_IF_ERROR(arrival.Pack(&next));
  }
  for (size_t i = 0; i < kept.size(); ++i) {
    if (had_block[i] || kept[i].links == 0) continue;
    NEPHILA_RETURN_IF_ERROR(bucket.Pack(&kept[i]));
  }
  TextSample sample;
  if (arrival.links() > 0) {
    sample.link_bytes = static_cast<double>(arrival.text_bytes()) /
                        static_cast<double>(arrival.links());
  }
  sample.arrival_order = arrival.costs();
  sample.bucket_order = bucket.costs();
  return sample;
}

}  // namespace nephila::bench
