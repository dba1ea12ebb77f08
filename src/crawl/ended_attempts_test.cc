#include "crawl/ended_attempts.h"

#include <gtest/gtest.h>

#include <string>

namespace nephila::crawl {
namespace {

std::string BytesOf(const EndedAttempts& ended) {
  std::string bytes;
  ByteWriter writer(bytes);
  ended.Write(writer);
  return bytes;
}

TEST(EndedAttempts, AKeyIsTakenOnce) {
  EndedAttempts ended;
  EXPECT_FALSE(ended.Take(5));
  ended.Add(5);
  ended.Add(5);
  EXPECT_EQ(ended.size(), 1U);
  EXPECT_TRUE(ended.Take(5));
  EXPECT_FALSE(ended.Take(5));
  // Again, and in its new place.
  ended.Add(6);
  ended.Add(5);
  EXPECT_EQ(BytesOf(ended).size(), 1U + 2 * 8U);
  EXPECT_TRUE(ended.Take(5));
  EXPECT_EQ(ended.size(), 1U);
}

TEST(EndedAttempts, TheOldestGoesWhenThereAreTooMany) {
  EndedAttempts ended(3);
  for (uint64_t key = 1; key <= 3; ++key) ended.Add(key);
  EXPECT_TRUE(ended.Take(1));
  ended.Add(4);
  ended.Add(5);
  EXPECT_EQ(ended.size(), 3U);
  EXPECT_FALSE(ended.Take(2));
  EXPECT_TRUE(ended.Take(3));
  EXPECT_TRUE(ended.Take(4));
  EXPECT_TRUE(ended.Take(5));
}

TEST(EndedAttempts, ComeBackInTheirOrder) {
  EndedAttempts ended(100);
  for (uint64_t key = 1; key <= 100; ++key) ended.Add(key);
  for (uint64_t key = 2; key <= 100; key += 2) ended.Take(key);
  const std::string bytes = BytesOf(ended);
  EndedAttempts again(100);
  ByteReader reader(bytes);
  ASSERT_TRUE(again.Read(reader));
  EXPECT_TRUE(reader.AtEnd());
  EXPECT_EQ(again.size(), 50U);
  EXPECT_EQ(BytesOf(again), bytes);
  EndedAttempts cut;
  ByteReader short_reader(std::string_view(bytes).substr(0, bytes.size() - 1));
  EXPECT_FALSE(cut.Read(short_reader));
}

// Millions go through without growth.
TEST(EndedAttempts, WhatCameUpLeavesNothing) {
  EndedAttempts ended;
  for (uint64_t key = 0; key < 100'000; ++key) {
    ended.Add(key);
    ASSERT_TRUE(ended.Take(key));
  }
  EXPECT_EQ(BytesOf(ended).size(), 1U);
}

}  // namespace
}  // namespace nephila::crawl
