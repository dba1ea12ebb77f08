#include "job/quarantine.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/crash_testing.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"

namespace nephila::job {
namespace {

using Urls = std::vector<std::string>;

constexpr uint64_t kKey = 0x0123456789abcdef;
const std::string kUrl = "http://a.test/page";

class QuarantineTest : public testing::Test {
 protected:
  QuarantineTest() { MustDo(fs_.MakeDir("job")); }

  void Open(size_t slots = 3) {
    quarantine_.reset();
    quarantine_ = Must(Quarantine::Open(fs_, "job", slots));
  }
  // A process that dies while it reads the page.
  void Die(uint64_t key = kKey, size_t slot = 1) {
    Open();
    MustDo(quarantine_->Begin(slot, key, kUrl));
    quarantine_.reset();
    fs_.KillProcess();
  }

  MemoryFileSystem fs_;
  std::unique_ptr<Quarantine> quarantine_;
};

TEST_F(QuarantineTest, APageThatEndsTwoProcessesIsLeftOut) {
  Die();
  Open();
  EXPECT_FALSE(quarantine_->Holds(kKey));
  EXPECT_EQ(quarantine_->added(), Urls());
  Die(kKey, 2);
  Open();
  EXPECT_TRUE(quarantine_->Holds(kKey));
  EXPECT_FALSE(quarantine_->Holds(kKey + 1));
  EXPECT_EQ(quarantine_->added(), Urls{kUrl});
  EXPECT_EQ(quarantine_->size(), 1U);
  // And stays so; but it is said once.
  Open();
  EXPECT_TRUE(quarantine_->Holds(kKey));
  EXPECT_EQ(quarantine_->added(), Urls());
}

TEST_F(QuarantineTest, UnderAnotherBootASlotMeansNothing) {
  const auto open = [this](const std::string& boot) {
    quarantine_.reset();
    quarantine_ = Must(Quarantine::Open(fs_, "job", 3, boot));
  };
  for (const char* boot : {"one", "two", "three", "four"}) {
    open(boot);
    EXPECT_EQ(quarantine_->added(), Urls());
    MustDo(quarantine_->Begin(1, kKey, kUrl));
    fs_.LosePower(LossMode::kEverything);
  }
  // Twice under the same one.
  open("four");
  EXPECT_FALSE(quarantine_->Holds(kKey));
  MustDo(quarantine_->Begin(2, kKey, kUrl));
  open("four");
  EXPECT_TRUE(quarantine_->Holds(kKey));
}

TEST_F(QuarantineTest, PagesThatWereReadHaveNoStrike) {
  for (int process = 0; process < 3; ++process) {
    Open();
    MustDo(quarantine_->Begin(0, kKey, kUrl));
    MustDo(quarantine_->End(0, kKey));
    fs_.KillProcess();
  }
  Open();
  EXPECT_EQ(quarantine_->size(), 0U);
  EXPECT_FALSE(Must(fs_.Exists("job/quarantine")));
}

// It was read between, so somebody killed the process at a bad moment.
TEST_F(QuarantineTest, StrikesAreInARow) {
  Die();
  Open();
  MustDo(quarantine_->Begin(0, kKey, kUrl));
  MustDo(quarantine_->End(0, kKey));
  MustDo(quarantine_->Save());
  Die();
  Open();
  EXPECT_FALSE(quarantine_->Holds(kKey));
  // Another page between does not change that.
  Die(5);
  Die();
  Open();
  EXPECT_TRUE(quarantine_->Holds(kKey));
  EXPECT_FALSE(quarantine_->Holds(5));
}

TEST_F(QuarantineTest, EverySlotCounts) {
  for (int process = 0; process < 2; ++process) {
    Open();
    for (size_t slot = 0; slot < 3; ++slot) {
      MustDo(quarantine_->Begin(slot, slot, "http://a.test/"));
    }
    fs_.KillProcess();
  }
  // With fewer threads than before.
  Open(1);
  EXPECT_EQ(quarantine_->size(), 3U);
}

TEST_F(QuarantineTest, MoreThreadsHaveMoreSlots) {
  Open(1);
  Open(5);
  MustDo(quarantine_->Begin(4, kKey, kUrl));
  fs_.KillProcess();
  Open(5);
  MustDo(quarantine_->Begin(4, kKey, kUrl));
  fs_.KillProcess();
  Open(5);
  EXPECT_TRUE(quarantine_->Holds(kKey));
}

TEST_F(QuarantineTest, ALongUrlIsCutAndItsKeyCounts) {
  const std::string url = "http://a.test/" + std::string(5000, 'x');
  for (int process = 0; process < 2; ++process) {
    Open();
    MustDo(quarantine_->Begin(2, kKey, url));
    fs_.KillProcess();
  }
  Open();
  EXPECT_TRUE(quarantine_->Holds(kKey));
  ASSERT_EQ(quarantine_->added().size(), 1U);
  EXPECT_EQ(quarantine_->added()[0], url.substr(0, 900));
}

TEST_F(QuarantineTest, AReaderOfTheFileCanTellWhich) {
  Die();
  Die();
  Open();
  EXPECT_TRUE(Get(fs_, "job/quarantine")
                  .starts_with("nephila quarantine 1\nrun 2\n"
                               "2 0123456789abcdef http://a.test/page\n"
                               "crc32c "));
}

TEST_F(QuarantineTest, ADamagedFileIsNamed) {
  Die();
  Die();
  Open();
  quarantine_.reset();
  const std::string text = Get(fs_, "job/quarantine");
  for (size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    Put(fs_, "job/quarantine", damaged);
    EXPECT_FAILS(Quarantine::Open(fs_, "job", 3), kCorruption,
                 "job/quarantine: damaged");
  }
}

// Slots that the power tore are free, and a strike is counted once wherever
// the counting is stopped.
TEST_F(QuarantineTest, AStopWhileStrikesAreCountedCountsNoneTwice) {
  uint64_t at = 0;
  for (bool stopped = true; stopped;) {
    ++at;
    stopped = false;
    for (const Crash crash : kCrashes) {
      MemoryFileSystem fs;
      MustDo(fs.MakeDir("job"));
      MustDo(fs.SyncDir("."));
      {
        const auto first = Must(Quarantine::Open(fs, "job", 3));
        MustDo(first->Begin(0, kKey, kUrl));
      }
      fs.KillProcess();
      {
        FaultyFileSystem faulty(fs, at);
        faulty.StopAt(at, StopStyle::kTornWrite);
        stopped = !Quarantine::Open(faulty, "job", 3).has_value() || stopped;
      }
      Happen(crash, fs, at);
      for (int again = 0; again < 3; ++again) {
        const auto next = Must(Quarantine::Open(fs, "job", 3));
        EXPECT_FALSE(next->Holds(kKey)) << "operation " << at;
      }
    }
  }
  EXPECT_GT(at, 5U);
}

}  // namespace
}  // namespace nephila::job
