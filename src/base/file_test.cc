// What every FileSystem promises, asked of the real one and of the memory one.
#include "base/file.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "base/real_file_system.h"

namespace nephila {
namespace {

enum class Kind : uint8_t { kReal, kMemory };

class FileSystemTest : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (GetParam() == Kind::kMemory) {
      fs_ = std::make_unique<MemoryFileSystem>();
      root_ = "/job";
      EXPECT_OK(fs_->MakeDir(root_));
      return;
    }
    fs_ = MakeRealFileSystem();
    root_ = testing::TempDir() + "nephila_file_test_XXXXXX";
    ASSERT_NE(::mkdtemp(root_.data()), nullptr);
  }

  void TearDown() override {
    if (GetParam() == Kind::kMemory) return;
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  std::string P(std::string_view name) const {
    return root_ + "/" + std::string(name);
  }
  std::unique_ptr<File> Create(std::string_view name) {
    return Must(fs_->Open(P(name), OpenMode::kCreate));
  }
  void Put(std::string_view name, std::string_view contents) {
    EXPECT_OK(Create(name)->Write(0, Bytes(contents)));
  }
  std::string Get(std::string_view name) {
    return Must(ReadWholeFile(*fs_, P(name), 1 << 20));
  }

  std::unique_ptr<FileSystem> fs_;
  std::string root_;
};

INSTANTIATE_TEST_SUITE_P(All, FileSystemTest,
                         testing::Values(Kind::kReal, Kind::kMemory),
                         [](const testing::TestParamInfo<Kind>& kind) {
                           return kind.param == Kind::kReal ? "Real" : "Memory";
                         });

TEST_P(FileSystemTest, ReadsBackWhatWasWritten) {
  const auto file = Create("a");
  EXPECT_EQ(file->path(), P("a"));
  EXPECT_OK(file->Write(0, Bytes("hello world")));
  EXPECT_OK(file->Write(6, Bytes("there")));
  std::string out(11, '?');
  EXPECT_OK(file->ReadExact(0, std::as_writable_bytes(std::span(out))));
  EXPECT_EQ(out, "hello there");
  EXPECT_OK(file->Sync());
  EXPECT_EQ(Must(file->Size()), 11u);
}

TEST_P(FileSystemTest, FillsTheGapBeforeAWritePastTheEndWithZeros) {
  const auto file = Create("a");
  EXPECT_OK(file->Write(1000, Bytes("x")));
  EXPECT_EQ(Get("a"), std::string(1000, '\0') + "x");
}

TEST_P(FileSystemTest, ReadsLessAtTheEndAndNothingPastIt) {
  Put("a", "12345");
  const auto file = Must(fs_->Open(P("a"), OpenMode::kRead));
  std::string out(10, '?');
  const auto buffer = std::as_writable_bytes(std::span(out));
  EXPECT_EQ(Must(file->Read(3, buffer)), 2u);
  EXPECT_EQ(out.substr(0, 3), "45?");
  EXPECT_EQ(Must(file->Read(5, buffer)), 0u);
  EXPECT_EQ(Must(file->ReadSome(500, buffer)), 0u);
  EXPECT_EQ(Must(file->ReadSome(0, {})), 0u);
}

TEST_P(FileSystemTest, CallsAnExactReadPastTheEndCorruption) {
  Put("a", "12345");
  const auto file = Must(fs_->Open(P("a"), OpenMode::kRead));
  std::string out(4, '?');
  const auto buffer = std::as_writable_bytes(std::span(out));
  EXPECT_OK(file->ReadExact(1, buffer));
  EXPECT_FAILS(file->ReadExact(2, buffer), kCorruption,
               P("a") + " at offset 2");
}

TEST_P(FileSystemTest, RefusesToWriteAFileOpenedForReading) {
  Put("a", "old");
  const auto file = Must(fs_->Open(P("a"), OpenMode::kRead));
  EXPECT_FAILS(file->Write(7, Bytes("x")), kIo, P("a") + " at offset 7");
  EXPECT_FAILS(file->Truncate(0), kInvalidArgument, P("a"));
  EXPECT_FAILS(file->Allocate(10), kIo, P("a"));
  EXPECT_EQ(Get("a"), "old");
}

TEST_P(FileSystemTest, RefusesAnOffsetNoFileCanHave) {
  const auto file = Create("a");
  EXPECT_FALSE(file->Write(UINT64_MAX - 1, Bytes("x")).has_value());
  EXPECT_FALSE(file->Truncate(UINT64_MAX).has_value());
  EXPECT_FALSE(file->Allocate(UINT64_MAX).has_value());
  EXPECT_EQ(Must(file->Size()), 0u);
}

TEST_P(FileSystemTest, OpensByMode) {
  EXPECT_FAILS(fs_->Open(P("a"), OpenMode::kRead), kNotFound, P("a"));
  EXPECT_FAILS(fs_->Open(P("a"), OpenMode::kReadWrite), kNotFound, P("a"));
  EXPECT_OK(fs_->Open(P("a"), OpenMode::kCreateNew));
  EXPECT_FAILS(fs_->Open(P("a"), OpenMode::kCreateNew), kAlreadyExists, P("a"));
  Put("a", "kept");
  EXPECT_OK(fs_->Open(P("a"), OpenMode::kCreate));
  const auto file = Must(fs_->Open(P("a"), OpenMode::kReadWrite));
  EXPECT_OK(file->Write(0, Bytes("K")));
  EXPECT_EQ(Get("a"), "Kept");
}

TEST_P(FileSystemTest, DoesNotOpenADirectoryOrBelowAFile) {
  EXPECT_OK(fs_->MakeDir(P("d")));
  EXPECT_FAILS(fs_->Open(P("d"), OpenMode::kRead), kIo, P("d"));
  EXPECT_FAILS(fs_->Open(P("d"), OpenMode::kCreate), kIo, P("d"));
  EXPECT_FAILS(fs_->Open(P("none/a"), OpenMode::kCreate), kNotFound, "none/a");
  Put("a", "");
  EXPECT_FAILS(fs_->Open(P("a/b"), OpenMode::kCreate), kNotFound, P("a/b"));
}

TEST_P(FileSystemTest, TruncatesBothWays) {
  Put("a", "123456");
  const auto file = Create("a");
  EXPECT_OK(file->Truncate(2));
  EXPECT_OK(file->Truncate(4));
  EXPECT_EQ(Get("a"), std::string("12\0\0", 4));
}

TEST_P(FileSystemTest, AllocateGrowsAndNeverShrinks) {
  Put("a", "123456");
  const auto file = Create("a");
  EXPECT_OK(file->Allocate(0));
  EXPECT_OK(file->Allocate(3));
  EXPECT_EQ(Must(file->Size()), 6u);
  EXPECT_OK(file->Allocate(5000));
  EXPECT_EQ(Must(file->Size()), 5000u);
  EXPECT_EQ(Get("a"), "123456" + std::string(4994, '\0'));
}

TEST_P(FileSystemTest, TakesAnyAdvice) {
  Put("a", "123456");
  const auto file = Create("a");
  file->Advise(0, 0, Advice::kSequential);
  file->Advise(0, 3, Advice::kWillNeed);
  file->StartWriteback(0, 3);
  file->StartWriteback(0, 0);
  file->Advise(0, 100, Advice::kDontNeed);
  EXPECT_EQ(Get("a"), "123456");
}

TEST_P(FileSystemTest, RenameReplacesAndOpenFilesKeepTheirContents) {
  Put("a", "new");
  Put("b", "old");
  const auto file = Must(fs_->Open(P("b"), OpenMode::kRead));
  EXPECT_OK(fs_->Rename(P("a"), P("b")));
  EXPECT_EQ(Get("b"), "new");
  EXPECT_FALSE(Must(fs_->Exists(P("a"))));
  std::string out(3, '?');
  EXPECT_OK(file->ReadExact(0, std::as_writable_bytes(std::span(out))));
  EXPECT_EQ(out, "old");
  EXPECT_OK(fs_->Rename(P("b"), P("b")));
  EXPECT_EQ(Get("b"), "new");
}

TEST_P(FileSystemTest, RenamesDirectoriesWithWhatTheyHold) {
  EXPECT_OK(fs_->MakeDirs(P("d/e")));
  Put("d/e/a", "1");
  EXPECT_OK(fs_->Rename(P("d/e"), P("f")));
  EXPECT_EQ(Get("f/a"), "1");
  EXPECT_FAILS(fs_->Rename(P("f"), P("f/g")), kInvalidArgument, P("f/g"));
  EXPECT_FAILS(fs_->Rename(P("d"), P("f/a")), kNotFound, P("d"));
  EXPECT_FAILS(fs_->Rename(P("d"), P("f")), kIo, P("f"));
  EXPECT_FAILS(fs_->Rename(P("f/a"), P("d")), kIo, P("d"));
  EXPECT_FAILS(fs_->Rename(P("x"), P("y")), kNotFound, P("x"));
  EXPECT_FAILS(fs_->Rename(P("f/a"), P("no/y")), kNotFound, P("no/y"));
}

TEST_P(FileSystemTest, RemovesFilesAndEmptyDirectories) {
  EXPECT_OK(fs_->MakeDir(P("d")));
  Put("d/a", "1");
  const auto file = Must(fs_->Open(P("d/a"), OpenMode::kReadWrite));
  EXPECT_FAILS(fs_->Remove(P("d")), kIo, P("d"));
  EXPECT_FAILS(fs_->RemoveDir(P("d")), kIo, P("d"));
  EXPECT_FAILS(fs_->RemoveDir(P("d/a")), kNotFound, P("d/a"));
  EXPECT_OK(fs_->Remove(P("d/a")));
  EXPECT_FAILS(fs_->Remove(P("d/a")), kNotFound, P("d/a"));
  EXPECT_OK(fs_->RemoveDir(P("d")));
  EXPECT_FAILS(fs_->RemoveDir(P("d")), kNotFound, P("d"));
  EXPECT_OK(file->Write(1, Bytes("2")));
  EXPECT_EQ(Must(file->Size()), 2u);
}

TEST_P(FileSystemTest, MakesDirectoriesThatMayBeThereAlready) {
  EXPECT_OK(fs_->MakeDirs(P("d/e/f")));
  EXPECT_OK(fs_->MakeDirs(P("d/e/f/")));
  EXPECT_OK(fs_->MakeDir(P("d/e")));
  EXPECT_FAILS(fs_->MakeDir(P("x/y")), kNotFound, P("x/y"));
  Put("a", "");
  EXPECT_FAILS(fs_->MakeDir(P("a")), kAlreadyExists, P("a"));
  EXPECT_FAILS(fs_->MakeDirs(P("a/b")), kAlreadyExists, P("a"));
}

TEST_P(FileSystemTest, ListsNamesInOrder) {
  Put("b", "");
  Put("a", "");
  EXPECT_OK(fs_->MakeDir(P("c")));
  EXPECT_EQ(Names(*fs_, root_), (std::vector<std::string>{"a", "b", "c/"}));
  EXPECT_EQ(Names(*fs_, P("c")), std::vector<std::string>());
  EXPECT_FAILS(fs_->List(P("none")), kNotFound, P("none"));
  EXPECT_FAILS(fs_->List(P("a")), kNotFound, P("a"));
}

TEST_P(FileSystemTest, KnowsWhatExists) {
  Put("a", "");
  EXPECT_TRUE(Must(fs_->Exists(P("a"))));
  EXPECT_TRUE(Must(fs_->Exists(root_)));
  EXPECT_FALSE(Must(fs_->Exists(P("b"))));
  EXPECT_FALSE(Must(fs_->Exists(P("b/c"))));
  EXPECT_FALSE(Must(fs_->Exists(P("a/c"))));
}

TEST_P(FileSystemTest, AStampTellsVersionsOfAFileApart) {
  Put("a", "one");
  const FileStamp first = Must(fs_->Stamp(P("a")));
  EXPECT_EQ(first.size, 3U);
  EXPECT_EQ(Must(fs_->Stamp(P("a"))), first);
  Put("a", "longer");
  EXPECT_EQ(Must(fs_->Stamp(P("a"))).size, 6U);
  EXPECT_FAILS(fs_->Stamp(P("none")), kNotFound, P("none"));
}

TEST_P(FileSystemTest, SyncsDirectoriesOnly) {
  Put("a", "");
  EXPECT_OK(fs_->SyncDir(root_));
  EXPECT_FAILS(fs_->SyncDir(P("none")), kNotFound, P("none"));
  EXPECT_FAILS(fs_->SyncDir(P("a")), kNotFound, P("a"));
}

TEST_P(FileSystemTest, LocksOutASecondHolderUntilTheFirstEnds) {
  auto first = Must(fs_->Lock(P("lock")));
  EXPECT_FAILS(fs_->Lock(P("lock")), kBusy, P("lock"));
  EXPECT_OK(fs_->Lock(P("other")));
  first.reset();
  EXPECT_OK(fs_->Lock(P("lock")));
  EXPECT_FAILS(fs_->Lock(P("none/lock")), kNotFound, P("none/lock"));
}

TEST_P(FileSystemTest, ReportsFreeSpace) {
  EXPECT_GT(Must(fs_->FreeSpace(root_)), 0u);
  EXPECT_FAILS(fs_->FreeSpace(P("none")), kNotFound, P("none"));
}

TEST_P(FileSystemTest, ReadsWholeFilesUpToALimit) {
  for (const size_t size : {0u, 1u, 65535u, 65536u, 65537u, 200000u}) {
    const std::string contents(size, 'x');
    Put("f" + std::to_string(size), contents);
    const std::string path = P("f" + std::to_string(size));
    EXPECT_EQ(Must(ReadWholeFile(*fs_, path, size)), contents);
    EXPECT_EQ(Must(ReadWholeFile(*fs_, path, SIZE_MAX)), contents);
    if (size == 0) continue;
    EXPECT_FAILS(ReadWholeFile(*fs_, path, size - 1), kCorruption, path);
  }
  EXPECT_FAILS(ReadWholeFile(*fs_, P("none"), 10), kNotFound, P("none"));
}

TEST_P(FileSystemTest, PublishReplacesTheFileAndLeavesNothingElse) {
  Put("a.tmp", "a much longer rest of an attempt that was cut off");
  EXPECT_OK(PublishFile(*fs_, P("a"), "one"));
  EXPECT_EQ(Get("a"), "one");
  const auto reader = Must(fs_->Open(P("a"), OpenMode::kRead));
  EXPECT_OK(PublishFile(*fs_, P("a"), "second"));
  EXPECT_EQ(Get("a"), "second");
  EXPECT_EQ(Must(reader->Size()), 3u);
  EXPECT_EQ(Names(*fs_, root_), std::vector<std::string>{"a"});
}

TEST_P(FileSystemTest, PublishThatFailsKeepsTheOldFile) {
  EXPECT_FAILS(PublishFile(*fs_, P("none/a"), "x"), kNotFound, P("none/a"));
  EXPECT_OK(fs_->MakeDirs(P("a/b")));
  EXPECT_FAILS(PublishFile(*fs_, P("a"), "x"), kIo, P("a"));
  EXPECT_EQ(Names(*fs_, root_), std::vector<std::string>{"a/"});
  EXPECT_TRUE(Must(fs_->Exists(P("a/b"))));
}

TEST_P(FileSystemTest, AsideFileAppearsWhenItIsCommitted) {
  Put("a", "old");
  Put("a.tmp", "a rest");
  {
    const auto aside = Must(AsideFile::Create(*fs_, P("a")));
    EXPECT_OK(aside->file().Write(0, Bytes("one ")));
    EXPECT_OK(aside->file().Write(4, Bytes("two")));
    EXPECT_EQ(Get("a"), "old");
    EXPECT_OK(aside->Commit());
    EXPECT_EQ(Get("a"), "one two");
  }
  EXPECT_EQ(Names(*fs_, root_), std::vector<std::string>{"a"});
}

TEST_P(FileSystemTest, AsideFileWithoutCommitLeavesNothing) {
  Put("a", "old");
  {
    const auto aside = Must(AsideFile::Create(*fs_, P("a")));
    EXPECT_OK(aside->file().Write(0, Bytes("half")));
  }
  EXPECT_EQ(Get("a"), "old");
  EXPECT_EQ(Names(*fs_, root_), std::vector<std::string>{"a"});
  EXPECT_FAILS(AsideFile::Create(*fs_, P("none/a")), kNotFound, P("none/a"));
}

TEST_P(FileSystemTest, RemovesAllThereIs) {
  EXPECT_OK(fs_->MakeDirs(P("d/e/f")));
  EXPECT_OK(fs_->MakeDir(P("d/empty")));
  for (const char* name : {"a", "d/a", "d/e/b", "d/e/f/c"}) Put(name, "1");
  EXPECT_OK(RemoveAll(*fs_, P("d")));
  EXPECT_EQ(Names(*fs_, root_), std::vector<std::string>{"a"});
  EXPECT_OK(RemoveAll(*fs_, P("a")));
  EXPECT_EQ(Names(*fs_, root_), std::vector<std::string>());
  EXPECT_OK(RemoveAll(*fs_, P("a")));
  Put("a", "");
  EXPECT_FAILS(RemoveAll(*fs_, P("a/b")), kNotFound, P("a/b"));
}

TEST_P(FileSystemTest, EnsuresDirectories) {
  EXPECT_OK(EnsureDir(*fs_, P("d/e/f")));
  EXPECT_OK(EnsureDir(*fs_, P("d//e/f/")));
  EXPECT_TRUE(Must(fs_->Exists(P("d/e/f"))));
  Put("a", "");
  EXPECT_FAILS(EnsureDir(*fs_, P("a")), kAlreadyExists, P("a"));
  EXPECT_FAILS(EnsureDir(*fs_, P("a/b")), kNotFound, P("a"));
}

TEST_P(FileSystemTest, ReadsAndWritesDirectlyIfAligned) {
  struct alignas(kDirectAlignment) Buffer {
    std::array<std::byte, 3 * kDirectAlignment> bytes{};
  };
  const auto buffer = std::make_unique<Buffer>();
  const std::span<std::byte> bytes(buffer->bytes);
  const std::string pattern(kDirectAlignment + 100, 'x');
  Put("a", pattern);
  const auto opened = fs_->Open(P("a"), {OpenMode::kReadWrite, true});
  if (!opened.has_value()) {  // a temporary folder on an old tmpfs
    EXPECT_FAILS(opened, kUnsupported, P("a"));
    return;
  }
  File& file = **opened;
  EXPECT_TRUE(file.direct());
  // The end of the file is not aligned, and found all the same.
  EXPECT_EQ(Must(file.Read(0, bytes)), pattern.size());
  EXPECT_EQ(
      std::string(reinterpret_cast<const char*>(bytes.data()), pattern.size()),
      pattern);
  EXPECT_OK(file.Write(kDirectAlignment, bytes.first(kDirectAlignment)));
  EXPECT_EQ(Get("a"), std::string(2 * kDirectAlignment, 'x'));
  const auto page = bytes.first(kDirectAlignment);
  const std::string named = P("a") + " at offset ";
  EXPECT_FAILS(file.Write(512, page), kInvalidArgument, named + "512");
  EXPECT_FAILS(file.Write(0, page.first(512)), kInvalidArgument, named);
  EXPECT_FAILS(file.Write(0, bytes.subspan(512, kDirectAlignment)),
               kInvalidArgument, named);
  EXPECT_FAILS(file.ReadSome(1, page), kInvalidArgument, named + "1");
  EXPECT_FAILS(file.ReadSome(0, page.first(1)), kInvalidArgument, named);
}

// Takes and gives one byte at a time, and from `limit` on none.
class TrickleFile final : public File {
 public:
  explicit TrickleFile(uint64_t limit) : File("trickle"), limit_(limit) {}
  Result<size_t> ReadSome(uint64_t offset, std::span<std::byte> out) override {
    if (offset >= contents_.size() || out.empty()) return size_t{0};
    out[0] = contents_[offset];
    return size_t{1};
  }
  Result<size_t> WriteSome(uint64_t offset,
                           std::span<const std::byte> data) override {
    if (offset >= limit_ || data.empty()) return size_t{0};
    contents_.resize(offset + 1);
    contents_[offset] = data[0];
    return size_t{1};
  }
  Status Sync() override { return {}; }
  Status Truncate(uint64_t) override { return {}; }
  Status Allocate(uint64_t) override { return {}; }
  Result<uint64_t> Size() override { return uint64_t{contents_.size()}; }

 private:
  const uint64_t limit_;
  std::vector<std::byte> contents_;
};

TEST(FileTest, LoopsOverShortReadsAndWrites) {
  TrickleFile file(100);
  EXPECT_OK(file.Write(0, Bytes("hello")));
  std::string out(8, '?');
  EXPECT_EQ(Must(file.Read(0, std::as_writable_bytes(std::span(out)))), 5u);
  EXPECT_EQ(out, "hello???");
}

TEST(FileTest, CallsAWriteThatMakesNoProgressAnError) {
  TrickleFile file(3);
  EXPECT_OK(file.Write(3, {}));
  EXPECT_FAILS(file.Write(0, Bytes("hello")), kIo, "trickle at offset 3");
}

TEST(FileTest, FindsTheParentOfAPath) {
  EXPECT_EQ(ParentDir("a/b/c"), "a/b");
  EXPECT_EQ(ParentDir("a/b/"), "a");
  EXPECT_EQ(ParentDir("/a"), "/");
  EXPECT_EQ(ParentDir("/"), "/");
  EXPECT_EQ(ParentDir("a"), ".");
}

}  // namespace
}  // namespace nephila
