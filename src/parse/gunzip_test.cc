#include "parse/gunzip.h"

#include <gtest/gtest.h>

#include <string>

#include "parse/gzip_testing.h"

namespace nephila::parse {
namespace {

struct Outcome {
  std::string content;
  GunzipError error = GunzipError::kNone;
  bool complete = false;
};

Outcome Read(std::string_view bytes, size_t chunk, GunzipLimits limits = {}) {
  Outcome outcome;
  Gunzip gunzip(limits);
  for (size_t at = 0; at < bytes.size(); at += chunk) {
    outcome.error = gunzip.Feed(bytes.substr(at, chunk), &outcome.content);
  }
  outcome.complete = gunzip.complete();
  return outcome;
}

TEST(Gunzip, ReadsMembersInChunks) {
  std::string text(100000, 'a');
  for (size_t i = 0; i < text.size(); i += 3) text[i] = static_cast<char>(i);
  for (size_t chunk : {size_t{1}, size_t{7}, size_t{1} << 20}) {
    Outcome outcome = Read(Gzip(text) + Gzip("tail"), chunk);
    EXPECT_EQ(outcome.error, GunzipError::kNone);
    EXPECT_TRUE(outcome.complete);
    EXPECT_EQ(outcome.content, text + "tail");
  }
}

TEST(Gunzip, IgnoresWhatIsBehind) {
  Outcome outcome = Read(Gzip("x") + std::string(100, '\0'), 1);
  EXPECT_EQ(outcome.content, "x");
  EXPECT_TRUE(outcome.complete);
  EXPECT_EQ(outcome.error, GunzipError::kNone);
}

TEST(Gunzip, SaysWhatIsBroken) {
  std::string good = Gzip("some text that is long enough to be damaged");
  Outcome cut = Read(good.substr(0, good.size() - 5), 3);
  EXPECT_EQ(cut.error, GunzipError::kNone);
  EXPECT_FALSE(cut.complete);
  std::string damaged = good;
  damaged[damaged.size() - 6] ^= 1;  // of the checksum
  EXPECT_EQ(Read(damaged, 3).error, GunzipError::kBroken);
  EXPECT_EQ(Read("plain text", 3).error, GunzipError::kBroken);
  for (size_t i = 0; i < good.size(); ++i) {
    damaged = good;
    damaged[i] = static_cast<char>(~damaged[i]);
    EXPECT_LE(Read(damaged, 5).content.size(), 100000u);
  }
}

TEST(Gunzip, IsBounded) {
  GunzipLimits limits;
  limits.max_bytes = 1000;
  std::string text(5000, 'x');
  Outcome outcome = Read(Gzip(text), 10, limits);
  EXPECT_EQ(outcome.error, GunzipError::kTooLarge);
  EXPECT_EQ(outcome.content.size(), 1000u);
  EXPECT_EQ(Read(Gzip(text.substr(0, 1000)), 10, limits).error,
            GunzipError::kNone);

  limits = {};
  limits.max_ratio = 100;
  std::string zeros(size_t{8} << 20, '\0');
  outcome = Read(Gzip(zeros), 1000, limits);
  EXPECT_EQ(outcome.error, GunzipError::kBomb);
  EXPECT_LE(outcome.content.size(), size_t{3} << 20);
}

}  // namespace
}  // namespace nephila::parse
