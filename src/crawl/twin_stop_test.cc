// A crawl of thirty pages, stopped at every write, sync and rename of the disk,
// in every way; and stopped again while it recovers. Here some of them; all
// with NEPHILA_LONG_TESTS.
#include <gtest/gtest.h>

#include "base/crash_testing.h"
#include "base/faulty_file_system.h"
#include "crawl/twin_testing.h"

namespace nephila::crawl {
namespace {

constexpr uint64_t kMostTurns = 100'000;
// More than a restart needs.
constexpr uint64_t kRestartOperations = 400;

struct TwinStop {
  uint64_t at = 0;  // which operation
  StopStyle style = StopStyle::kClean;
  nephila::Crash crash = nephila::Crash::kKill;
};

// The n-th in a row: all ways come with all operations.
TwinStop NthStop(uint64_t at, uint64_t n) {
  return {at, n / 4 % 2 == 0 ? StopStyle::kTornWrite : StopStyle::kClean,
          kCrashes[n % 4]};
}

class TwinStopTest : public testing::TestWithParam<config::Profile> {
 protected:
  // Runs until it stops there; whether it did.
  bool RunTo(const TwinStop& stop, Twin* twin, MemoryFileSystem* fs,
             uint64_t turns = kMostTurns) {
    FaultyFileSystem faulty(*fs, stop.at);
    faulty.StopAt(stop.at, stop.style);
    Status status = twin->Open(faulty);
    if (status) {
      const auto end = twin->Turns(turns);
      if (!end) status = Unexpected(end.error());
    }
    if (!status) {
      EXPECT_TRUE(faulty.stopped()) << status.error().message;
      EXPECT_NE(status.error().message.find("the machine has stopped"),
                std::string::npos)
          << status.error().message;
    }
    twin->Crash(stop.crash, *fs, stop.at);
    const auto operations = faulty.log();
    reads_page_ = faulty.stopped() && !operations.empty() &&
                  operations.back().path == "job/slots";
    return faulty.stopped();
  }
  uint64_t Operations() const {
    MemoryFileSystem fs;
    FaultyFileSystem faulty(fs);
    Twin twin(ThirtyPages(GetParam()));
    twin.Finish(faulty);
    twin.ExpectAll(fs);
    return faulty.operations();
  }

  bool reads_page_ = false;  // the last stop was while it read a page
};

INSTANTIATE_TEST_SUITE_P(Profiles, TwinStopTest,
                         testing::Values(config::Profile::kSite,
                                         config::Profile::kBroad),
                         [](const auto& param) {
                           return param.param == config::Profile::kSite
                                      ? "Site"
                                      : "Broad";
                         });

TEST_P(TwinStopTest, AtEveryWriteSyncAndRename) {
  const uint64_t operations = Operations();
  uint64_t n = 0;
  for (uint64_t at = 1; at <= operations;
       at += StrideFor(operations, 50), ++n) {
    // All ways, or one after the other.
    for (uint64_t way = 0; way < (LongTests() ? 8 : 1); ++way) {
      const TwinStop stop = NthStop(at, LongTests() ? way : n);
      SCOPED_TRACE(testing::Message()
                   << "operation " << at << " of " << operations << ", crash "
                   << static_cast<int>(stop.crash));
      MemoryFileSystem fs;
      Twin twin(ThirtyPages(GetParam()));
      EXPECT_TRUE(RunTo(stop, &twin, &fs));
      twin.Finish(fs);
      if (!HasFailure()) twin.ExpectAll(fs);
      if (HasFailure()) return;
    }
  }
}

TEST_P(TwinStopTest, AgainAtEveryWriteOfTheRecovery) {
  const uint64_t operations = Operations();
  uint64_t n = 0;
  for (uint64_t at = 1; at <= operations;
       at += StrideFor(operations, 10), ++n) {
    bool stopped = true;
    const uint64_t stride = LongTests() ? 1 : 23;
    for (uint64_t again = 1 + (LongTests() ? 0 : n % stride);
         stopped && again < kRestartOperations; again += stride) {
      const TwinStop first = NthStop(at, n);
      const TwinStop second = NthStop(again, n + again);
      SCOPED_TRACE(testing::Message()
                   << "operation " << at << ", crash "
                   << static_cast<int>(first.crash) << ", then operation "
                   << again << ", crash " << static_cast<int>(second.crash));
      MemoryFileSystem fs;
      Twin twin(ThirtyPages(GetParam()));
      RunTo(first, &twin, &fs);
      const bool read_page = reads_page_;
      stopped = RunTo(second, &twin, &fs, /*turns=*/1);
      twin.Finish(fs);
      if (twin.last_status().quarantined > 0) {
        // Two processes in a row were killed over this very page.
        EXPECT_TRUE(read_page && first.crash == nephila::Crash::kKill);
        EXPECT_TRUE(reads_page_ && second.crash == nephila::Crash::kKill);
        continue;
      }
      if (!HasFailure()) twin.ExpectAll(fs);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace nephila::crawl
