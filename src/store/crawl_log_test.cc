#include "store/crawl_log.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/faulty_file_system.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "store/store_testing.h"

namespace nephila::store {
namespace {

using item::FetchOutcome;

constexpr char kPath[] = "logs/crawl.log";

LogFacts Facts() {
  LogFacts facts;
  facts.now = WallTime(std::chrono::nanoseconds(1'767'323'046'000'000'000));
  facts.http_status = 200;
  facts.bytes = 5120;
  facts.media_type = "text/html; charset=utf-8";
  facts.digest = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ";
  return facts;
}

TEST(CrawlLogTest, ALineHasHeritrixColumns) {
  TestPage page("http://example.com/a");
  page.page.hop_path = "LR";
  page.page.via = "http://example.com/";
  page.page.thread = 7;
  page.page.source_tag = "http://example.com/";
  page.page.attempt = 3;
  page.page.truncation = item::Truncation::kLength;
  const std::string_view notes[] = {"a,b"};
  page.page.annotations = notes;
  EXPECT_EQ(FormatLogLine(page.page, Facts()),
            "2026-01-02T03:04:06.000Z   200       5120 http://example.com/a LR "
            "http://example.com/ text/html #007 20260102030405678+123 "
            "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ http://example.com/ "
            "3t,lenTrunc,a%2Cb\n");
}

TEST(CrawlLogTest, EveryTruncationHasANoteOfItsOwn) {
  TestPage page("http://example.com/a");
  page.page.truncation = item::Truncation::kPool;
  EXPECT_TRUE(FormatLogLine(page.page, Facts()).ends_with(" poolTrunc\n"));
}

TEST(CrawlLogTest, WhatIsNotKnownIsADash) {
  item::FetchedPage page;
  page.url = "http://example.com/";
  page.outcome = FetchOutcome::kDnsFailed;
  LogFacts facts;
  facts.now = Facts().now;
  EXPECT_EQ(FormatLogLine(page, facts),
            "2026-01-02T03:04:06.000Z    -1          - http://example.com/ - - "
            "- #000 - - - dns-failed\n");
}

TEST(CrawlLogTest, RevisitsAreMarked) {
  const TestPage page("http://example.com/");
  LogFacts facts = Facts();
  facts.revisit = true;
  EXPECT_TRUE(FormatLogLine(page.page, facts).ends_with(" duplicate:digest\n"));
  facts.http_status = 304;
  EXPECT_TRUE(FormatLogLine(page.page, facts)
                  .ends_with(" duplicate:server-not-modified\n"));
}

TEST(CrawlLogTest, TheWebCannotBreakALine) {
  TestPage page("http://example.com/a b\n2026 evil \x1B[31m\xC3\xA4");
  page.page.via = " ";
  LogFacts facts = Facts();
  facts.media_type = "text/\rhtml";
  const std::string line = FormatLogLine(page.page, facts);
  EXPECT_EQ(std::ranges::count(line, '\n'), 1);
  for (const char c : line.substr(0, line.size() - 1)) {
    EXPECT_TRUE(c >= ' ' && c < 0x7F);
  }
  EXPECT_NE(line.find(" http://example.com/a%20b%0A2026%20evil%20%1B[31m%C3%A4 "
                      "- %20 text/%0Dhtml "),
            std::string::npos);
}

TEST(CrawlLogTest, EveryOutcomeHasACodeOfHeritrix) {
  EXPECT_EQ(HeritrixStatus(FetchOutcome::kResponse, 404), 404);
  EXPECT_EQ(HeritrixStatus(FetchOutcome::kDnsAnswer, 0), 1);
  EXPECT_EQ(HeritrixStatus(FetchOutcome::kTimeout, 0), -4);
  EXPECT_EQ(HeritrixStatus(FetchOutcome::kRobotsDenied, 0), -9998);
  EXPECT_EQ(HeritrixStatus(FetchOutcome::kUnwanted, 200), -5002);
  EXPECT_EQ(HeritrixStatus(FetchOutcome::kNoSuchHost, 0), -1);
  for (uint8_t i = 2; i < item::kFetchOutcomes; ++i) {
    EXPECT_LT(HeritrixStatus(static_cast<FetchOutcome>(i), 0), 0);
  }
}

class CrawlLogFileTest : public testing::Test {
 protected:
  CrawlLogFileTest() { MustDo(EnsureDir(fs_, "logs")); }

  std::unique_ptr<CrawlLog> Open(uint64_t durable = 0) {
    return Must(CrawlLog::OpenAt(fs_, kPath, durable));
  }

  MemoryFileSystem fs_;
};

TEST_F(CrawlLogFileTest, LinesAreAppended) {
  {
    const auto log = Open();
    MustDo(log->MakeRoom());
    log->Append("one\n");
    log->Append("two\n");
    EXPECT_EQ(Get(fs_, kPath), "");
    MustDo(log->Sync());
    EXPECT_EQ(log->size(), 8U);
  }
  const auto log = Open(8);
  log->Append("three\n");
  MustDo(log->Flush());
  EXPECT_EQ(Get(fs_, kPath), "one\ntwo\nthree\n");
}

TEST_F(CrawlLogFileTest, ATornLineIsCut) {
  for (const std::string_view torn :
       {std::string_view("thr"), std::string_view("\0\0\0\n", 4),
        std::string_view("th\0ee\nfour\n", 11)}) {
    Put(fs_, kPath, "one\ntwo\n" + std::string(torn));
    for (const uint64_t durable : {0, 4, 8}) {
      EXPECT_EQ(Open(durable)->size(), 8U);
      EXPECT_EQ(Get(fs_, kPath), "one\ntwo\n");
    }
  }
}

TEST_F(CrawlLogFileTest, AFileShorterThanACheckpointSawIsRefused) {
  Put(fs_, kPath, "one\n");
  EXPECT_FAILS(CrawlLog::OpenAt(fs_, kPath, 5), kCorruption, kPath);
}

TEST_F(CrawlLogFileTest, OnAFullDiskLinesWait) {
  FaultyFileSystem faulty(fs_);
  const auto log = Must(CrawlLog::OpenAt(faulty, kPath, 0));
  const std::string line = std::string(1000, 'x') + "\n";
  faulty.FailAt(1, Fault::kNoSpace, 1000000);
  std::string all;
  Status room;
  while ((room = log->MakeRoom())) {
    log->Append(line);
    all += line;
    ASSERT_LE(all.size(), CrawlLog::kLongestBacklog + line.size());
  }
  EXPECT_EQ(room.error().code, ErrorCode::kNoSpace);
  EXPECT_GE(all.size(), CrawlLog::kLongestBacklog);
  faulty.Heal();
  MustDo(log->MakeRoom());
  MustDo(log->Sync());
  EXPECT_EQ(Must(ReadWholeFile(fs_, kPath, 4 << 20)), all);
}

TEST_F(CrawlLogFileTest, AnyOtherFailureIsFinal) {
  for (const Fault fault : {Fault::kEio, Fault::kSyncFails}) {
    FaultyFileSystem faulty(fs_);
    const auto log = Must(CrawlLog::OpenAt(faulty, kPath, 0));
    faulty.FailAt(1, fault);
    log->Append("line\n");
    EXPECT_FAILS(log->Sync(), kIo, kPath);
    EXPECT_FAILS(log->Sync(), kIo, kPath);
    EXPECT_FAILS(log->MakeRoom(), kIo, kPath);
  }
}

}  // namespace
}  // namespace nephila::store
