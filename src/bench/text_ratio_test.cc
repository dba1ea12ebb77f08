#include "bench/text_ratio.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/hash.h"

namespace nephila::bench {
namespace {

// Random links of 32 hex digits, which a codec can halve and no more; after
// `period` of them the same come again.
class Cycle : public LinkSource {
 public:
  explicit Cycle(uint64_t period) : period_(period) {}

  bool Next(std::string_view* link) override {
    const uint64_t number = count_++ % period_;
    text_.clear();
    for (uint64_t half = 0; half < 2; ++half) {
      uint64_t bits = KeyedHash(std::to_string(2 * number + half), 7);
      for (int i = 0; i < 16; ++i, bits >>= 4) {
        text_.push_back("0123456789abcdef"[bits & 15]);
      }
    }
    *link = text_;
    return true;
  }
  uint64_t count() const { return count_; }

 private:
  const uint64_t period_;
  uint64_t count_ = 0;
  std::string text_;
};

TextSampleOptions SmallBlocks() {
  TextSampleOptions options;
  options.block_bytes = 16 << 10;
  options.arrival_bytes = 256 << 10;
  options.max_links = 400'000;
  return options;
}

TEST(SampleText, IsBytesOfTextOverPackedBytes) {
  Cycle links(1'000'000);
  TextSample sample = *SampleText(&links, SmallBlocks());
  EXPECT_EQ(sample.link_bytes, 32);
  EXPECT_NEAR(sample.arrival_order.ratio, 1.9, 0.2);
  EXPECT_NEAR(sample.bucket_order.ratio, 1.9, 0.2);
  EXPECT_GT(sample.arrival_order.pack_ns_per_link, 0);
  EXPECT_GT(sample.arrival_order.unpack_ns_per_link, 0);
  EXPECT_GT(sample.bucket_order.pack_ns_per_link, 0);
}

TEST(SampleText, WithoutACodecOnlyTheByteBetweenLinksCounts) {
  Cycle links(1'000'000);
  TextSampleOptions options = SmallBlocks();
  options.codec = Codec::kNone;
  EXPECT_NEAR((*SampleText(&links, options)).arrival_order.ratio, 32.0 / 33,
              1e-9);
}

// 4000 links are far apart for a block of 500, but in the block of a bucket,
// which has some eight of them, each comes 60 times.
TEST(SampleText, BlocksOfABucketReachAsFarAsThoseOfABatch) {
  Cycle links(4000);
  TextSample sample = *SampleText(&links, SmallBlocks());
  EXPECT_LT(sample.arrival_order.ratio, 2.5);
  EXPECT_GT(sample.bucket_order.ratio, 10);
}

// The reverse: with 300'000 links between two of a kind, a bucket's block of
// 500 links has none twice, though the whole sample has.
TEST(SampleText, DoesNotBringTogetherWhatABatchHasFarApart) {
  Cycle links(300'000);
  TextSample sample = *SampleText(&links, SmallBlocks());
  EXPECT_LT(sample.bucket_order.ratio, 2.5);
}

TEST(SampleText, EndsWhenEachBucketHasABlock) {
  Cycle links(1'000'000);
  EXPECT_TRUE(SampleText(&links, SmallBlocks()));
  // 512 buckets of 497 links.
  EXPECT_GT(links.count(), 240'000u);
  EXPECT_LT(links.count(), 320'000u);
}

TEST(SampleText, PacksWhatThereIsOfAShortStream) {
  Cycle links(1'000'000);
  TextSampleOptions options = SmallBlocks();
  options.max_links = 300;
  TextSample sample = *SampleText(&links, options);
  EXPECT_EQ(links.count(), 300u);
  EXPECT_GT(sample.arrival_order.ratio, 1);
  EXPECT_GT(sample.bucket_order.ratio, 0);
}

}  // namespace
}  // namespace nephila::bench
