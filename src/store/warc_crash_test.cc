// A WarcWriter that is stopped at any operation on the disk leaves an archive
// that is whole after OpenAt, and has every unit that was synced.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/crash_testing.h"
#include "base/faulty_file_system.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "store/store_testing.h"
#include "store/unit_maker.h"
#include "store/warc_writer.h"

namespace nephila::store {
namespace {

constexpr int kUnits = 12;
constexpr char kFolder[] = "job/archive";

std::string UrlOf(int unit) {
  return "http://example.com/" + std::to_string(unit);
}

// A crawl that writes units 0, 1, 2, ..., syncs now and then and remembers what
// a checkpoint would.
struct Crawl {
  Result<std::unique_ptr<WarcWriter>> Open(FileSystem& fs) {
    WarcWriterOptions options;
    options.folder = kFolder;
    options.max_file_bytes = 5000;
    options.seed = ++runs;
    options.compressor = zstd ? CompressorKind::kZstd : CompressorKind::kIsal;
    options.level = 1;
    return WarcWriter::OpenAt(fs, clock, options, checkpoint);
  }

  Status Append(WarcWriter& writer, int unit) {
    // Some pages are larger than a sector, some are not.
    const TestPage page(UrlOf(unit), Noise(unit % 3 == 0 ? 1500 : 20,
                                           static_cast<uint64_t>(unit)));
    maker.Begin(page.page);
    NEPHILA_TRY(const UnitPlace place,
                writer.Append(maker.Records(writer, std::nullopt)));
    EXPECT_EQ(place.records.size(), 3U);
    return {};
  }

  // What can pass is tried again.
  Status Retry(const std::function<Status()>& step) {
    for (int tries = 0;; ++tries) {
      Status status = step();
      if (status || status.error().code != ErrorCode::kNoSpace || tries > 5) {
        return status;
      }
    }
  }

  Status Run(FileSystem& fs, int first) {
    NEPHILA_TRY(auto writer, Open(fs));
    for (int unit = first; unit < kUnits; ++unit) {
      NEPHILA_RETURN_IF_ERROR(Retry([&] { return Append(*writer, unit); }));
      if (unit % 3 != 1) continue;
      NEPHILA_RETURN_IF_ERROR(writer->Sync());
      synced = unit + 1;
      checkpoint = writer->position();
    }
    NEPHILA_RETURN_IF_ERROR(Retry([&] { return writer->Finish(); }));
    synced = kUnits;
    checkpoint = writer->position();
    return {};
  }

  ManualClock clock;
  UnitMaker maker{DigestKind::kSha1};
  bool zstd = false;
  uint64_t runs = 0;
  int synced = 0;  // so many units are durable
  std::optional<Position> checkpoint;
};

// How many units the archives hold. They must be the first ones, each whole and
// once.
int CountUnits(FileSystem& fs) {
  int units = 0;
  if (!Must(fs.Exists(kFolder))) return 0;
  for (const std::string& path : ArchivePaths(fs, kFolder)) {
    const auto records = ReadArchive(fs, path);
    EXPECT_FALSE(records.empty()) << path;
    for (size_t i = 0; i < records.size(); ++i) {
      if (i == 0) {
        EXPECT_EQ(records[i].header.type(), RecordType::kWarcinfo);
        continue;
      }
      constexpr RecordType kOrder[] = {
          RecordType::kRequest, RecordType::kResponse, RecordType::kMetadata};
      EXPECT_EQ(records[i].header.type(), kOrder[(i - 1) % 3]);
      EXPECT_EQ(records[i].header.target_uri(), UrlOf(units)) << path;
      if (i % 3 == 0) ++units;
    }
    EXPECT_EQ(records.size() % 3, 1U);
  }
  return units;
}

// After a crash: opens, checks, writes the rest, checks all.
void GoOn(Crawl& crawl, MemoryFileSystem& fs, const std::string& where) {
  SCOPED_TRACE(where);
  {
    auto writer = crawl.Open(fs);
    ASSERT_TRUE(writer.has_value()) << writer.error().message;
  }
  const int kept = CountUnits(fs);
  ASSERT_GE(kept, crawl.synced);
  const Status rest = crawl.Run(fs, kept);
  ASSERT_TRUE(rest.has_value()) << rest.error().message;
  EXPECT_EQ(CountUnits(fs), kUnits);
  size_t lines = 0;
  const auto paths = ArchivePaths(fs, kFolder);
  for (const std::string& path : paths) {
    EXPECT_FALSE(path.ends_with(".open"));
    lines += CheckIndex(fs, path).size();
  }
  EXPECT_EQ(lines, static_cast<size_t>(kUnits));
  EXPECT_EQ(Names(fs, kFolder).size(), 2 * paths.size());
}

uint64_t CountOperations(bool zstd) {
  MemoryFileSystem disk;
  FaultyFileSystem fs(disk);
  Crawl crawl;
  crawl.zstd = zstd;
  MustDo(crawl.Run(fs, 0));
  EXPECT_GE(ArchivePaths(disk, kFolder).size(), 2U);
  return fs.operations();
}

// Of OpenAt in an empty place: what fails there fails the start of a crawl.
uint64_t CountOpening() {
  MemoryFileSystem disk;
  FaultyFileSystem fs(disk);
  Crawl crawl;
  Must(crawl.Open(fs));
  return fs.operations();
}

void StopEverywhere(bool zstd, StopStyle style) {
  const uint64_t operations = CountOperations(zstd);
  ASSERT_GT(operations, 40U);
  for (const Crash crash : kCrashes) {
    for (uint64_t n = 1; n <= operations; ++n) {
      MemoryFileSystem disk;
      Crawl crawl;
      crawl.zstd = zstd;
      std::string where;
      {
        FaultyFileSystem fs(disk, n);
        fs.StopAt(n, style);
        EXPECT_FALSE(crawl.Run(fs, 0).has_value());
        where = DescribeOperation(fs.log().back());
      }
      Happen(crash, disk, n);
      GoOn(crawl, disk,
           where + ", crash " + std::to_string(static_cast<int>(crash)));
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(WarcCrashTest, AStopAnywhereLosesNothingThatWasSynced) {
  StopEverywhere(false, StopStyle::kClean);
}

TEST(WarcCrashTest, AWriteTornAnywhereLosesNothingThatWasSynced) {
  StopEverywhere(false, StopStyle::kTornWrite);
}

TEST(WarcCrashTest, TheSameHoldsForZstd) {
  StopEverywhere(true, StopStyle::kTornWrite);
}

// A recovery that is itself cut off, by each kind of crash.
TEST(WarcCrashTest, AStopDuringTheRecoveryDoesNoHarm) {
  const uint64_t operations = CountOperations(false);
  for (uint64_t n = 1; n <= operations; n += 3) {
    for (const Crash first : kCrashes) {
      for (uint64_t m = 1; m < 40; ++m) {
        MemoryFileSystem disk;
        Crawl crawl;
        {
          FaultyFileSystem fs(disk, n);
          fs.StopAt(n, StopStyle::kTornWrite);
          EXPECT_FALSE(crawl.Run(fs, 0).has_value());
        }
        Happen(first, disk, n);
        bool stopped = false;
        {
          FaultyFileSystem fs(disk, m);
          fs.StopAt(m, StopStyle::kTornWrite);
          stopped = !crawl.Open(fs).has_value();
        }
        const Crash second = kCrashes[(n + m) % 4];
        Happen(second, disk, m);
        GoOn(crawl, disk,
             "stop at " + std::to_string(n) + ", then at " + std::to_string(m) +
                 ", crashes " + std::to_string(static_cast<int>(first)) +
                 " and " + std::to_string(static_cast<int>(second)));
        if (testing::Test::HasFailure()) return;
        if (!stopped) break;
      }
    }
  }
}

// A kill leaves what was written, synced or not. What OpenAt keeps of it has to
// be durable when it returns: a checkpoint may name its position.
TEST(WarcCrashTest, WhatARecoveryKeepsIsDurable) {
  const uint64_t operations = CountOperations(false);
  for (uint64_t n = 1; n <= operations; ++n) {
    MemoryFileSystem disk;
    Crawl crawl;
    {
      FaultyFileSystem fs(disk, n);
      fs.StopAt(n);
      EXPECT_FALSE(crawl.Run(fs, 0).has_value());
    }
    disk.KillProcess();
    crawl.checkpoint = Must(crawl.Open(disk))->position();
    crawl.synced = CountUnits(disk);
    disk.LosePower(LossMode::kNothingUnsynced);
    GoOn(crawl, disk, "stop at " + std::to_string(n));
    if (HasFailure()) return;
  }
}

TEST(WarcFaultTest, AFullDiskAnywherePassesUnlessItMeetsASync) {
  const uint64_t operations = CountOperations(false);
  for (uint64_t n = CountOpening() + 1; n <= operations; ++n) {
    MemoryFileSystem disk;
    Crawl crawl;
    FaultyFileSystem fs(disk, n);
    fs.FailAt(n, Fault::kNoSpace);
    const Status status = crawl.Run(fs, 0);
    Operation met{};
    for (const Operation& operation : fs.log()) {
      if (operation.number == n) met = operation;
    }
    const bool sync =
        met.kind == OperationKind::kSync || met.kind == OperationKind::kSyncDir;
    SCOPED_TRACE(DescribeOperation(met));
    if (status) {
      EXPECT_FALSE(sync);
      EXPECT_EQ(CountUnits(disk), kUnits);
    } else {
      EXPECT_TRUE(sync) << status.error().message;
      EXPECT_EQ(status.error().code, ErrorCode::kIo) << "not to be retried";
    }
    disk.KillProcess();
    GoOn(crawl, disk, "full disk");
    if (HasFailure()) return;
  }
}

TEST(WarcFaultTest, AnyOtherFailureIsFinalAndNamesTheFile) {
  const uint64_t operations = CountOperations(false);
  for (const Fault fault : {Fault::kEio, Fault::kSyncFails}) {
    for (uint64_t n = CountOpening() + 1; n <= operations; ++n) {
      MemoryFileSystem disk;
      Crawl crawl;
      FaultyFileSystem fs(disk, n);
      fs.FailAt(n, fault);
      const Status status = crawl.Run(fs, 0);
      // The last sync of all may be before n.
      if (status) continue;
      EXPECT_EQ(status.error().code, ErrorCode::kIo);
      EXPECT_NE(status.error().message.find(kFolder), std::string::npos);
      // A process that met it ends, and the next finds pages that the system
      // counts as written and that are not.
      disk.KillProcess();
      crawl.checkpoint = Must(crawl.Open(disk))->position();
      crawl.synced = CountUnits(disk);
      disk.LosePower(LossMode::kNothingUnsynced);
      GoOn(crawl, disk, "failure at " + std::to_string(n));
      if (HasFailure()) return;
    }
  }
}

TEST(WarcFaultTest, AWriterThatFailedDoesNothingMore) {
  MemoryFileSystem disk;
  FaultyFileSystem fs(disk);
  Crawl crawl;
  const auto writer = Must(crawl.Open(fs));
  MustDo(crawl.Append(*writer, 0));
  fs.FailAt(1, Fault::kSyncFails);
  EXPECT_FAILS(writer->Sync(), kIo, kFolder);
  const uint64_t operations = fs.operations();
  EXPECT_FAILS(writer->Sync(), kIo, kFolder);
  EXPECT_FAILS(crawl.Append(*writer, 1), kIo, kFolder);
  EXPECT_FAILS(writer->Finish(), kIo, kFolder);
  EXPECT_FAILS(writer->RotateIfDue(), kIo, kFolder);
  EXPECT_EQ(fs.operations(), operations);
}

}  // namespace
}  // namespace nephila::store
