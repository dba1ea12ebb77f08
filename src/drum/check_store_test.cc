// What StoreCheck finds: every bit of what a commit names, every missing file;
// and that it reads only.
#include "drum/check_store.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/crash_testing.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "drum/drum_testing.h"
#include "drum/drum_workload_testing.h"
#include "drum/store_file.h"

namespace nephila::drum {
namespace {

constexpr uint64_t kFlips = 60;

// A store with runs, a pass whose results are taken in part and a batch that
// gathers.
class StoreCheckTest : public ::testing::Test {
 protected:
  StoreCheckTest() {
    constexpr uint64_t kUntil = 4 * 13 + 2 * 8 + 10;
    MustDo(work_.Start());
    MustDo(work_.Run(kUntil));
    generation_ = work_.store().commits().back();
    work_.store().Close();
    for (const std::string& name : FilesOf(machine_.fs, kDir)) {
      files_[PathOf(name)] =
          Must(ReadWholeFile(machine_.fs, PathOf(name), size_t{1} << 30));
    }
  }

  static std::string PathOf(const std::string& name) {
    return std::string(kDir) + "/" + name;
  }

  std::optional<StoreCounts> Check() {
    damages_.clear();
    StoreCheck check(machine_.fs, kDir,
                     [this](Damage damage) { damages_.push_back(damage); });
    auto counts = check.Check(generation_);
    check.Check(generation_ - 1);
    named_ = check.files();
    return counts;
  }

  bool Names(const std::string& path) const {
    return std::any_of(
        damages_.begin(), damages_.end(),
        [&](const Damage& damage) { return damage.file == path; });
  }

  // What a checksum covers: blocks that the commits name, without the zeros
  // behind them, and the journal up to the commit.
  bool IsCovered(const std::string& path, uint64_t offset) {
    for (const uint64_t generation : {generation_, generation_ - 1}) {
      const StoreState state = Must(LoadState(machine_.fs, kDir, generation));
      if (path == PathOf(state.journal)) return offset < state.journal_end;
      const auto covers = [&](const BlockPlace& place) {
        return offset >= place.offset &&
               offset < place.offset + kFrameHeaderBytes + place.payload_bytes;
      };
      for (const BatchState& batch : state.batches) {
        if (path == StoreFilePath(kDir, batch.number, kKeysSuffix)) {
          for (const auto& bucket : batch.buckets) {
            for (const Chunk& chunk : bucket.chunks) {
              if (covers(chunk.place)) return true;
            }
          }
        }
        if (path == StoreFilePath(kDir, batch.number, kAuxSuffix)) {
          for (const AuxPlace& block : batch.aux_blocks) {
            if (covers(block.place)) return true;
          }
        }
      }
      for (const RunInfo& run : state.runs) {
        if (path != StoreFilePath(kDir, run.file_number, kRunSuffix)) continue;
        // Blocks fill their pages but for the last bytes.
        return covers(run.index) || offset % kPageBytes < kPageBytes / 4;
      }
    }
    return false;
  }

  TestMachine machine_;
  Workload work_{machine_, machine_.fs};
  uint64_t generation_ = 0;
  std::map<std::string, std::string> files_;
  std::vector<Damage> damages_;
  std::set<std::string> named_;
};

TEST_F(StoreCheckTest, ASoundStoreIsSoundAndStaysAsItIs) {
  const auto counts = Check();
  ASSERT_TRUE(counts.has_value());
  EXPECT_TRUE(damages_.empty()) << damages_.front().what;
  EXPECT_GT(counts->runs, 0U);
  EXPECT_GT(counts->records, 0U);
  EXPECT_GT(counts->tuples, counts->results);
  EXPECT_GT(counts->results, 0U);
  for (const auto& [path, contents] : files_) {
    EXPECT_EQ(Must(ReadWholeFile(machine_.fs, path, size_t{1} << 30)),
              contents);
  }
}

TEST_F(StoreCheckTest, AFlippedBitOfWhatIsCoveredIsFoundAndItsFileNamed) {
  Check();
  uint64_t found = 0;
  for (const auto& [path, contents] : files_) {
    if (!named_.contains(path)) continue;
    const uint64_t stride = contents.size() / kFlips | 1;
    for (uint64_t offset = 0; offset < contents.size(); offset += stride) {
      if (!IsCovered(path, offset)) continue;
      const auto bit = static_cast<unsigned>(offset % 8);
      MustDo(machine_.fs.FlipBit(path, offset, bit));
      Check();
      EXPECT_TRUE(Names(path)) << path << " at " << offset;
      ++found;
      MustDo(machine_.fs.FlipBit(path, offset, bit));
    }
  }
  EXPECT_GT(found, 100U);
}

TEST_F(StoreCheckTest, AFileThatIsCutOrGoneIsFound) {
  Check();
  for (const auto& [path, contents] : files_) {
    // A retired file may be one that neither of the two needs.
    if (!IsCovered(path, 0)) continue;
    Put(machine_.fs, path, contents.substr(0, contents.size() / 2));
    Check();
    EXPECT_TRUE(Names(path)) << path;
    MustDo(machine_.fs.Remove(path));
    Check();
    EXPECT_FALSE(damages_.empty()) << path;
    Put(machine_.fs, path, contents);
  }
  Check();
  EXPECT_TRUE(damages_.empty());
}

TEST_F(StoreCheckTest, AuxOfResultsThatWaitIsGivenOnce) {
  std::vector<std::string> aux;
  StoreCheck check(machine_.fs, kDir, [](const Damage&) { FAIL(); });
  const auto counts = check.Check(
      generation_, [&](std::string_view text) { aux.emplace_back(text); });
  ASSERT_TRUE(counts.has_value());
  EXPECT_EQ(aux.size(), counts->results);
}

TEST_F(StoreCheckTest, AGenerationThatIsNotThereIsAFault) {
  StoreCheck check(machine_.fs, kDir,
                   [this](Damage damage) { damages_.push_back(damage); });
  EXPECT_FALSE(check.Check(generation_ + 1000).has_value());
  EXPECT_EQ(damages_.size(), 1U);
}

}  // namespace
}  // namespace nephila::drum
