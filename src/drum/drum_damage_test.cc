// A Drum whose files are damaged says so, by name, or answers rightly.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/crash_testing.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "drum/drum.h"
#include "drum/drum_testing.h"
#include "drum/drum_workload_testing.h"

namespace nephila::drum {
namespace {

// Bits that are flipped of each file, unless NEPHILA_LONG_TESTS asks for all.
constexpr uint64_t kFlips = 150;

// A committed store with runs, a pass whose results are taken in part and a
// batch that gathers; and the same again for every kind of damage.
class DrumDamageTest : public ::testing::Test {
 protected:
  DrumDamageTest() {
    // In the fifth large pass, behind the commit that follows 40 results.
    constexpr uint64_t kUntil = 4 * 13 + 2 * 8 + 10;
    MustDo(work_.Start());
    MustDo(work_.Run(kUntil));
    EXPECT_TRUE(work_.store().drum().PassIsOn());
    EXPECT_GT(work_.store().drum().stats().runs, 0U);
    generation_ = work_.store().commits().back();
    work_.store().Close();
    constexpr size_t kMaxBytes = size_t{1} << 30;
    for (const std::string& name : FilesOf(machine_.fs, kDir)) {
      files_[name] = Must(ReadWholeFile(machine_.fs, PathOf(name), kMaxBytes));
    }
  }

  static std::string PathOf(const std::string& name) {
    return std::string(kDir) + "/" + name;
  }

  // The directory as it was when the store was committed.
  void Restore() {
    work_.store().Close();
    for (const std::string& name : FilesOf(machine_.fs, kDir)) {
      MustDo(machine_.fs.Remove(PathOf(name)));
    }
    for (const auto& [name, contents] : files_) {
      Put(machine_.fs, PathOf(name), contents);
    }
  }

  // Opens, takes all results, looks at all records; every answer on the way is
  // compared.
  Status UseStore() {
    NEPHILA_RETURN_IF_ERROR(work_.Reopen(generation_));
    NEPHILA_RETURN_IF_ERROR(work_.store().CheckContents());
    NEPHILA_RETURN_IF_ERROR(work_.store().Drain());
    work_.store().ExpectNothingLeft();
    return work_.store().CheckContents();
  }

  // Right, or an error that names the file and has one of the codes.
  void ExpectRightOrNamed(const std::string& name,
                          const std::vector<ErrorCode>& codes) {
    const Status used = UseStore();
    EXPECT_FALSE(work_.store().wrong());
    if (used.has_value()) return;
    ++errors_;
    EXPECT_TRUE(std::find(codes.begin(), codes.end(), used.error().code) !=
                codes.end())
        << ErrorCodeName(used.error().code) << ": " << used.error().message;
    EXPECT_NE(used.error().message.find(PathOf(name)), std::string::npos)
        << used.error().message;
  }

  TestMachine machine_;
  Workload work_{machine_, machine_.fs};
  uint64_t generation_ = 0;
  std::map<std::string, std::string> files_;
  uint64_t errors_ = 0;
};

TEST_F(DrumDamageTest, AStoreThatIsNotDamagedIsRightAsOftenAsItIsOpened) {
  for (int i = 0; i < 3; ++i) {
    Restore();
    MustDo(UseStore());
  }
  EXPECT_FALSE(work_.store().wrong());
}

TEST_F(DrumDamageTest, AFlippedBitIsFoundOrDoesNotMatter) {
  for (const auto& [name, contents] : files_) {
    const uint64_t bits = contents.size() * 8;
    // Odd: every bit of a byte has its turn.
    const uint64_t stride = LongTests() ? 1 : (bits / kFlips) | 1;
    for (uint64_t bit = 0; bit < bits; bit += stride) {
      Restore();
      MustDo(machine_.fs.FlipBit(PathOf(name), bit / 8,
                                 static_cast<unsigned>(bit % 8)));
      ExpectRightOrNamed(name, {ErrorCode::kCorruption});
      ASSERT_FALSE(HasFailure()) << name << " bit " << bit;
    }
  }
  EXPECT_GT(errors_, 0U);
}

TEST_F(DrumDamageTest, TheFirstBytesOfAFileAreSafeBitByBit) {
  // Magic, version and lengths stand there.
  constexpr uint64_t kHeadBytes = 32;
  for (const auto& [name, contents] : files_) {
    const uint64_t bits = std::min<uint64_t>(contents.size(), kHeadBytes) * 8;
    for (uint64_t bit = 0; bit < bits; ++bit) {
      Restore();
      MustDo(machine_.fs.FlipBit(PathOf(name), bit / 8,
                                 static_cast<unsigned>(bit % 8)));
      ExpectRightOrNamed(name, {ErrorCode::kCorruption});
      ASSERT_FALSE(HasFailure()) << name << " bit " << bit;
    }
  }
}

TEST_F(DrumDamageTest, AFileThatEndsTooEarlyIsFoundOrDoesNotMatter) {
  for (const auto& [name, contents] : files_) {
    const uint64_t stride =
        LongTests() ? 1 : std::max<uint64_t>(contents.size() / kFlips, 1);
    for (uint64_t size = 0; size < contents.size(); size += stride) {
      Restore();
      const auto file =
          Must(machine_.fs.Open(PathOf(name), OpenMode::kReadWrite));
      MustDo(file->Truncate(size));
      // Where the end of a file is the end of the commits, there is none.
      ExpectRightOrNamed(name, {ErrorCode::kCorruption, ErrorCode::kNotFound});
      ASSERT_FALSE(HasFailure()) << name << " of " << size << " bytes";
    }
  }
  EXPECT_GT(errors_, 0U);
}

TEST_F(DrumDamageTest, AFileThatIsMissingIsNamedOrDoesNotMatter) {
  for (const auto& [name, contents] : files_) {
    Restore();
    MustDo(machine_.fs.Remove(PathOf(name)));
    if (name.starts_with("journal-")) {
      // Which journal a commit was in is known from the journals alone.
      const Status used = UseStore();
      ASSERT_FALSE(work_.store().wrong());
      ASSERT_FALSE(used.has_value());
      EXPECT_EQ(used.error().code, ErrorCode::kNotFound);
      ++errors_;
      continue;
    }
    ExpectRightOrNamed(name, {ErrorCode::kCorruption, ErrorCode::kNotFound});
    ASSERT_FALSE(HasFailure()) << name;
  }
  EXPECT_GT(errors_, 0U);
}

TEST_F(DrumDamageTest, AFileOfZerosIsFoundOrDoesNotMatter) {
  for (const auto& [name, contents] : files_) {
    Restore();
    Put(machine_.fs, PathOf(name), std::string(contents.size(), '\0'));
    ExpectRightOrNamed(name, {ErrorCode::kCorruption});
    ASSERT_FALSE(HasFailure()) << name;
  }
  EXPECT_GT(errors_, 0U);
}

TEST_F(DrumDamageTest, AFileInThePlaceOfAnotherIsFoundOrDoesNotMatter) {
  // Whole in itself, and not the one that belongs there.
  for (const auto& [name, contents] : files_) {
    for (const auto& [other, foreign] : files_) {
      if (other == name || foreign == contents) continue;
      Restore();
      Put(machine_.fs, PathOf(name), foreign);
      ExpectRightOrNamed(name, {ErrorCode::kCorruption, ErrorCode::kNotFound});
      ASSERT_FALSE(HasFailure()) << name << " with what " << other << " has";
    }
  }
}

TEST_F(DrumDamageTest, ScanCommitFindsDamageToo) {
  std::map<uint64_t, std::string> expected;
  const auto scan_all =
      [&](std::map<uint64_t, std::string>& records) -> Status {
    NEPHILA_TRY(const std::unique_ptr<Scan> scan,
                ScanCommit(machine_.fs, kDir, generation_, {}));
    while (!scan->AtEnd()) {
      records[scan->key()] = scan->value();
      NEPHILA_RETURN_IF_ERROR(scan->Next());
    }
    return {};
  };
  MustDo(scan_all(expected));
  ASSERT_FALSE(expected.empty());
  for (const auto& [name, contents] : files_) {
    const uint64_t bits = contents.size() * 8;
    const uint64_t stride = LongTests() ? 1 : (bits / kFlips) | 1;
    for (uint64_t bit = 0; bit < bits; bit += stride) {
      const auto flip = [&, path = PathOf(name)] {
        MustDo(
            machine_.fs.FlipBit(path, bit / 8, static_cast<unsigned>(bit % 8)));
      };
      flip();
      std::map<uint64_t, std::string> records;
      const Status scanned = scan_all(records);
      if (scanned.has_value()) {
        EXPECT_EQ(records, expected);
      } else {
        ++errors_;
        EXPECT_FAILS(scanned, kCorruption, PathOf(name));
      }
      flip();
      ASSERT_FALSE(HasFailure()) << name << " bit " << bit;
    }
  }
  EXPECT_GT(errors_, 0U);
}

}  // namespace
}  // namespace nephila::drum
