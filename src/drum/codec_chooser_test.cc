#include "drum/codec_chooser.h"

#include <string>

#include "base/random.h"
#include "gtest/gtest.h"

namespace nephila::drum {
namespace {

constexpr uint64_t kKnownKeys = 100'000'000;
constexpr uint64_t kBatchBytes = uint64_t{1} << 30;

constexpr uint64_t kLinks = 4000;

// Links of pages compress to about a fifth.
std::string LinkText() {
  Random random(1);
  std::string text;
  for (uint64_t i = 0; i < kLinks; ++i) {
    text += "https://www.example" + std::to_string(random.Below(20)) +
            ".com/articles/2024/" + std::to_string(random.Below(100'000)) +
            "/index.html";
  }
  return text;
}

// A disk that has moved 1 GiB at that speed.
void Measure(IoCounts& counts, double bytes_per_second) {
  counts.bytes_written = uint64_t{1} << 30;
  counts.write_ns =
      static_cast<uint64_t>(1e9 * (uint64_t{1} << 30) / bytes_per_second);
}

void TryLinks(CodecChooser& chooser) {
  Compressor compressor;
  chooser.Try(LinkText(), kLinks, compressor);
}

TEST(CodecChooserTest, AFixedCodecStaysAndWantsNoTrials) {
  for (const Codec codec : {Codec::kNone, Codec::kLz4, Codec::kZstd}) {
    for (const double speed : {1e6, 1e12}) {
      CodecChooser chooser(codec, 2);
      EXPECT_FALSE(chooser.WantsTrial());
      TryLinks(chooser);
      IoCounts counts;
      Measure(counts, speed);
      EXPECT_EQ(chooser.Choose(counts, kKnownKeys, kBatchBytes), codec);
    }
  }
}

TEST(CodecChooserTest, ZstdIsTakenUntilAllIsMeasured) {
  IoCounts fast;
  Measure(fast, 1e12);
  CodecChooser untried(std::nullopt, 2);
  EXPECT_EQ(untried.Choose(fast, kKnownKeys, kBatchBytes), Codec::kZstd);

  CodecChooser tried(std::nullopt, 2);
  TryLinks(tried);
  IoCounts idle;
  EXPECT_EQ(tried.Choose(idle, kKnownKeys, kBatchBytes), Codec::kZstd);
  // A megabyte says little about a disk, however soon it was written.
  IoCounts little;
  little.bytes_written = 1 << 20;
  little.write_ns = 1;
  EXPECT_EQ(tried.Choose(little, kKnownKeys, kBatchBytes), Codec::kZstd);
}

TEST(CodecChooserTest, TheChoiceFollowsTheSpeedOfTheDisk) {
  CodecChooser chooser(std::nullopt, 2);
  TryLinks(chooser);
  IoCounts counts;
  Measure(counts, 1e6);
  EXPECT_EQ(chooser.Choose(counts, kKnownKeys, kBatchBytes), Codec::kZstd);
  Measure(counts, 1e12);
  EXPECT_NE(chooser.Choose(counts, kKnownKeys, kBatchBytes), Codec::kZstd);
  // Nothing is final.
  Measure(counts, 1e6);
  EXPECT_EQ(chooser.Choose(counts, kKnownKeys, kBatchBytes), Codec::kZstd);
}

TEST(CodecChooserTest, TextThatDoesNotCompressIsLeftAsItIsOnAFastDisk) {
  Random random(2);
  std::string noise(200'000, '\0');
  for (char& byte : noise) byte = static_cast<char>(random.Next());
  CodecChooser chooser(std::nullopt, 2);
  Compressor compressor;
  chooser.Try(noise, 4000, compressor);
  IoCounts counts;
  Measure(counts, 1e12);
  EXPECT_EQ(chooser.Choose(counts, kKnownKeys, kBatchBytes), Codec::kNone);
}

TEST(CodecChooserTest, TheFirstBlockIsTriedAndThenFew) {
  CodecChooser chooser(std::nullopt, 2);
  EXPECT_TRUE(chooser.WantsTrial());
  int trials = 0;
  for (int i = 0; i < 10'000; ++i) trials += chooser.WantsTrial() ? 1 : 0;
  EXPECT_GE(trials, 10);
  EXPECT_LE(trials, 100);
}

}  // namespace
}  // namespace nephila::drum
