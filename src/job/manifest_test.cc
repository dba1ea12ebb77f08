#include "job/manifest.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/crash_testing.h"
#include "base/faulty_file_system.h"
#include "base/file_testing.h"
#include "base/hash.h"
#include "base/memory_file_system.h"
#include "job/flip_testing.h"

namespace nephila::job {
namespace {

constexpr uint64_t kSalt = 17;
const std::string kDir = "manifests";

ManifestOptions SmallOptions() {
  return {.salt = kSalt, .reserve_bytes = 4096};
}

// Every one another.
Manifest Sample(uint64_t number) {
  Manifest manifest;
  manifest.number = number;
  manifest.parts["seen"] = "generation " + std::to_string(number);
  manifest.parts["empty"] = "";
  manifest.parts["waits"] = std::string(number * 31 % 97, '\0');
  if (number % 2 == 0) manifest.parts["split"] = "running";
  return manifest;
}

std::string BytesOf(const Manifest& manifest) {
  std::string bytes;
  AppendManifest(manifest, kSalt, bytes);
  return bytes;
}

std::string PathOf(uint64_t number) {
  return kDir + "/manifest-0000000" + std::to_string(number);
}

class ManifestTest : public ::testing::Test {
 protected:
  ManifestTest() { MustDo(EnsureDir(fs_, kDir)); }

  std::unique_ptr<ManifestFolder> OpenFolder() {
    return Must(ManifestFolder::Open(fs_, kDir, SmallOptions()));
  }
  std::vector<std::string> Files() {
    std::vector<std::string> names = Names(fs_, kDir);
    std::erase(names, "reserve");
    return names;
  }

  MemoryFileSystem fs_;
};

TEST_F(ManifestTest, ComesBackAsItWas) {
  for (const Manifest& manifest :
       {Sample(1), Sample(2), Manifest{7, {}}, Manifest{UINT64_MAX, {}}}) {
    EXPECT_EQ(Must(ReadManifest(BytesOf(manifest), manifest.number, kSalt)),
              manifest);
  }
}

TEST_F(ManifestTest, IsOfOneNumberAndOneJob) {
  const std::string bytes = BytesOf(Sample(5));
  EXPECT_FAILS(ReadManifest(bytes, 6, kSalt), kCorruption, "head");
  EXPECT_FAILS(ReadManifest(bytes, 5, kSalt + 1), kCorruption, "part 1");
}

TEST_F(ManifestTest, IsDamagedWithAFlippedBitAnywhere) {
  const std::string bytes = BytesOf(Sample(2));
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      const std::string flipped = Flipped(bytes, i, bit);
      EXPECT_EQ(CodeOf(ReadManifest(flipped, 2, kSalt)), "corruption") << i;
    }
    EXPECT_EQ(CodeOf(ReadManifest(bytes.substr(0, i), 2, kSalt)), "corruption");
  }
  EXPECT_FAILS(ReadManifest(bytes + "x", 2, kSalt), kCorruption, "behind");
}

TEST_F(ManifestTest, TheLastTwoAreKept) {
  const auto folder = OpenFolder();
  EXPECT_FAILS(folder->Newest(), kNotFound, kDir);
  EXPECT_FAILS(folder->Before(), kNotFound, kDir);
  MustDo(folder->Write(Sample(1)));
  EXPECT_EQ(Must(folder->Newest()), Sample(1));
  EXPECT_FAILS(folder->Before(), kNotFound, kDir);
  for (uint64_t number = 2; number <= 6; ++number) {
    MustDo(folder->Write(Sample(number)));
    EXPECT_EQ(Must(folder->Newest()), Sample(number));
    EXPECT_EQ(Must(folder->Before()), Sample(number - 1));
    EXPECT_EQ(Files().size(), 2U);
  }
  const auto again = OpenFolder();
  EXPECT_EQ(again->newest_number(), 6U);
  EXPECT_EQ(again->before_number(), 5U);
  EXPECT_EQ(Must(again->Newest()), Sample(6));
  EXPECT_EQ(Must(again->Before()), Sample(5));
  EXPECT_TRUE(again->damaged().empty());
}

TEST_F(ManifestTest, ADamagedOneFallsBackToTheOneBefore) {
  {
    const auto folder = OpenFolder();
    for (const uint64_t number : {1U, 2U, 3U}) {
      MustDo(folder->Write(Sample(number)));
    }
  }
  const size_t size = Get(fs_, PathOf(3)).size();
  for (size_t i = 0; i < size; ++i) {
    MustDo(fs_.FlipBit(PathOf(3), i, i % 8));
    const auto folder = OpenFolder();
    EXPECT_EQ(Must(folder->Newest()), Sample(2));
    EXPECT_FAILS(folder->Before(), kNotFound, kDir);
    ASSERT_EQ(folder->damaged().size(), 1U);
    EXPECT_NE(folder->damaged()[0].message.find(PathOf(3)), std::string::npos);
    // It got another name, and does not come back.
    MustDo(fs_.Rename(PathOf(3) + ".damaged", PathOf(3)));
    MustDo(fs_.FlipBit(PathOf(3), i, i % 8));
  }
  // The next one takes its place.
  MustDo(fs_.FlipBit(PathOf(3), 0, 0));
  const auto folder = OpenFolder();
  MustDo(folder->Write(Sample(4)));
  EXPECT_EQ(Must(folder->Newest()), Sample(4));
  EXPECT_EQ(Must(folder->Before()), Sample(2));
  EXPECT_EQ(Files().size(), 3U);  // with the damaged one, under its new name
}

TEST_F(ManifestTest, ADamagedOneIsWrittenOverUnderTheSameNumber) {
  {
    const auto folder = OpenFolder();
    for (const uint64_t number : {1U, 2U, 3U}) {
      MustDo(folder->Write(Sample(number)));
    }
  }
  Put(fs_, PathOf(3), "");
  const auto folder = OpenFolder();
  MustDo(folder->Write(Sample(3)));
  EXPECT_EQ(Must(OpenFolder()->Newest()), Sample(3));
  EXPECT_EQ(Must(OpenFolder()->Before()), Sample(2));
}

TEST_F(ManifestTest, DamageWhileItRunsFallsBackToo) {
  const auto folder = OpenFolder();
  MustDo(folder->Write(Sample(1)));
  MustDo(folder->Write(Sample(2)));
  MustDo(fs_.FlipBit(PathOf(2), 3, 3));
  EXPECT_EQ(Must(folder->Newest()), Sample(1));
  MustDo(fs_.FlipBit(PathOf(1), 3, 3));
  EXPECT_FAILS(folder->Newest(), kCorruption, PathOf(1));
  EXPECT_FAILS(folder->Before(), kCorruption, PathOf(1));
  EXPECT_FAILS(ManifestFolder::Open(fs_, kDir, SmallOptions()), kCorruption,
               "no other");
}

TEST_F(ManifestTest, ABadSectorFallsBackToo) {
  {
    const auto folder = OpenFolder();
    MustDo(folder->Write(Sample(1)));
    MustDo(folder->Write(Sample(2)));
  }
  FaultyFileSystem faulty(fs_);
  faulty.FailReadsOf(PathOf(2));
  const auto stored = Must(ReadManifests(faulty, kDir, kSalt));
  EXPECT_EQ(stored.newest, Sample(1));
  EXPECT_EQ(stored.damaged.size(), 1U);
}

TEST_F(ManifestTest, ALaterVersionIsRefused) {
  {
    const auto folder = OpenFolder();
    MustDo(folder->Write(Sample(1)));
  }
  for (const uint64_t version : {1, 3}) {
    std::string head;
    ByteWriter writer(head);
    writer.Sized("nephila manifest");
    writer.Varint(version);
    writer.Raw("whatever");
    std::string bytes;
    AppendFrame(bytes, head, KeyedHash("nephila manifest", 2));
    MustDo(RemoveAll(fs_, PathOf(2)));
    Put(fs_, PathOf(2), bytes);
    EXPECT_FAILS(ManifestFolder::Open(fs_, kDir, SmallOptions()), kUnsupported,
                 PathOf(2) + ": version " + std::to_string(version) +
                     " of the manifest is that of " +
                     (version == 1 ? "an earlier" : "a later"));
  }
}

TEST_F(ManifestTest, ALookChangesNothing) {
  {
    const auto folder = OpenFolder();
    for (const uint64_t number : {1U, 2U})
      MustDo(folder->Write(Sample(number)));
  }
  FaultyFileSystem faulty(fs_);
  const auto stored = Must(ReadManifests(faulty, kDir, kSalt));
  EXPECT_EQ(stored.newest, Sample(2));
  EXPECT_EQ(stored.before, Sample(1));
  EXPECT_EQ(faulty.operations(), 0U);
}

TEST_F(ManifestTest, AFullDiskTakesTheReserveAndThenNothing) {
  const auto folder = OpenFolder();
  MustDo(folder->Write(Sample(1)));
  MustDo(folder->Write(Sample(2)));
  EXPECT_FALSE(folder->on_reserve());
  const uint64_t free = Must(fs_.FreeSpace(kDir));
  fs_.SetCapacity(MemoryFileSystem::kDefaultCapacityBytes - free);
  MustDo(folder->Write(Sample(3)));
  EXPECT_TRUE(folder->on_reserve());
  Manifest large = Sample(4);
  large.parts["large"] = std::string(100'000, 'x');
  EXPECT_EQ(CodeOf(folder->Write(large)), "no space");
  EXPECT_EQ(Files().size(), 2U);
  EXPECT_EQ(Must(folder->Newest()), Sample(3));
  EXPECT_EQ(Must(folder->Before()), Sample(2));
  fs_.SetCapacity(MemoryFileSystem::kDefaultCapacityBytes);
  MustDo(folder->Write(large));
  EXPECT_EQ(Must(folder->Newest()), large);
  EXPECT_FALSE(folder->on_reserve());
}

TEST_F(ManifestTest, TheReserveGrowsWithTheManifests) {
  const auto folder = OpenFolder();
  Manifest large = Sample(1);
  large.parts["large"] = std::string(100'000, 'x');
  MustDo(folder->Write(large));
  const uint64_t free = Must(fs_.FreeSpace(kDir));
  fs_.SetCapacity(MemoryFileSystem::kDefaultCapacityBytes - free);
  large.number = 2;
  MustDo(folder->Write(large));
  EXPECT_EQ(Must(folder->Newest()), large);
}

TEST_F(ManifestTest, AnyOtherFailureIsFinal) {
  for (const Fault fault : {Fault::kEio, Fault::kSyncFails, Fault::kNoSpace}) {
    // What Write does with space that ran out in a write, and what it may not
    // try again: create, truncate, write, sync, rename, sync directory.
    for (uint64_t at = 1; at <= 6; ++at) {
      MemoryFileSystem memory;
      MustDo(EnsureDir(memory, kDir));
      FaultyFileSystem faulty(memory);
      const auto folder =
          Must(ManifestFolder::Open(faulty, kDir, SmallOptions()));
      MustDo(folder->Write(Sample(1)));
      faulty.FailAt(faulty.operations() + at, fault, 2);
      const Status written = folder->Write(Sample(2));
      faulty.Heal();
      ASSERT_FALSE(written.has_value());
      if (CodeOf(written) == "no space") {
        EXPECT_EQ(fault, Fault::kNoSpace);
        MustDo(folder->Write(Sample(2)));
        continue;
      }
      EXPECT_EQ(CodeOf(written), "i/o error");
      EXPECT_EQ(CodeOf(folder->Write(Sample(2))), "i/o error");
    }
  }
}

// Writes manifests; `written` is the last that was.
Status RunOn(FileSystem& fs, uint64_t& written) {
  NEPHILA_TRY(const auto folder,
              ManifestFolder::Open(fs, kDir, SmallOptions()));
  const uint64_t newest = folder->newest_number();
  EXPECT_GE(newest, written);
  EXPECT_LE(newest, written + 1);
  EXPECT_TRUE(folder->damaged().empty());
  // What a restart has found is there to stay.
  written = newest;
  if (newest > 0) {
    NEPHILA_TRY(const Manifest manifest, folder->Newest());
    EXPECT_EQ(manifest, Sample(newest));
  }
  if (newest > 1) {
    NEPHILA_TRY(const Manifest manifest, folder->Before());
    EXPECT_EQ(manifest, Sample(newest - 1));
  }
  while (written < 5) {
    NEPHILA_RETURN_IF_ERROR(folder->Write(Sample(written + 1)));
    ++written;
  }
  return {};
}

void StopOnce(MemoryFileSystem& memory, const Stop& stop, uint64_t& written) {
  {
    FaultyFileSystem fs(memory, stop.at);
    fs.StopAt(stop.at, stop.style);
    ExpectStopped(RunOn(fs, written), fs);
  }
  Happen(stop.crash, memory, stop.at);
}

TEST(ManifestCrash, StoppedAnywhereTheNewestAndTheOneBeforeAreThere) {
  uint64_t operations = 0;
  {
    MemoryFileSystem memory;
    MustDo(EnsureDir(memory, kDir));
    FaultyFileSystem fs(memory);
    uint64_t written = 0;
    MustDo(RunOn(fs, written));
    operations = fs.operations();
  }
  for (uint64_t at = 1; at <= operations; ++at) {
    for (const Crash first : kCrashes) {
      for (const StopStyle style : {StopStyle::kClean, StopStyle::kTornWrite}) {
        for (const Crash second : kCrashes) {
          SCOPED_TRACE(testing::Message()
                       << "stop at " << at << ", style "
                       << static_cast<int>(style) << ", crashes "
                       << static_cast<int>(first) << ", "
                       << static_cast<int>(second));
          MemoryFileSystem memory;
          MustDo(EnsureDir(memory, kDir));
          uint64_t written = 0;
          StopOnce(memory, {at, style, first, false}, written);
          StopOnce(memory, {at % 9 + 1, style, second, false}, written);
          MustDo(RunOn(memory, written));
          EXPECT_EQ(written, 5U);
        }
      }
    }
  }
}

}  // namespace
}  // namespace nephila::job
