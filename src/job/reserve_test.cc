#include "job/reserve.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/faulty_file_system.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"

namespace nephila::job {
namespace {

// As NFS before 4.2.
class CannotReserve final : public FileSystem {
 public:
  explicit CannotReserve(FileSystem& base) : base_(base) {}

  Result<std::unique_ptr<File>> Open(const std::string& path,
                                     OpenOptions options) override {
    NEPHILA_TRY(auto opened, base_.Open(path, options));
    std::unique_ptr<File> file = std::make_unique<Plain>(std::move(opened));
    return file;
  }
  Status Rename(const std::string& from, const std::string& to) override {
    return base_.Rename(from, to);
  }
  Status Remove(const std::string& path) override { return base_.Remove(path); }
  Status RemoveDir(const std::string& path) override {
    return base_.RemoveDir(path);
  }
  Status MakeDir(const std::string& path) override {
    return base_.MakeDir(path);
  }
  Result<std::vector<DirEntry>> List(const std::string& dir) override {
    return base_.List(dir);
  }
  Result<bool> Exists(const std::string& path) override {
    return base_.Exists(path);
  }
  Result<FileStamp> Stamp(const std::string& path) override {
    return base_.Stamp(path);
  }
  Status SyncDir(const std::string& dir) override { return base_.SyncDir(dir); }
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override {
    return base_.Lock(path);
  }
  Result<uint64_t> FreeSpace(const std::string& dir) override {
    return base_.FreeSpace(dir);
  }

 private:
  class Plain final : public File {
   public:
    explicit Plain(std::unique_ptr<File> base)
        : File(base->path()), base_(std::move(base)) {}
    Result<size_t> ReadSome(uint64_t offset,
                            std::span<std::byte> out) override {
      return base_->ReadSome(offset, out);
    }
    Result<size_t> WriteSome(uint64_t offset,
                             std::span<const std::byte> data) override {
      return base_->WriteSome(offset, data);
    }
    Status Sync() override { return base_->Sync(); }
    Status Truncate(uint64_t size) override { return base_->Truncate(size); }
    Status Allocate(uint64_t) override {
      return Unexpected(Error{ErrorCode::kUnsupported, "cannot reserve"});
    }
    Result<uint64_t> Size() override { return base_->Size(); }

   private:
    const std::unique_ptr<File> base_;
  };

  FileSystem& base_;
};

class ReserveTest : public ::testing::Test {
 protected:
  // So much is free.
  void LeaveFree(uint64_t bytes) {
    fs_.SetCapacity(MemoryFileSystem::kDefaultCapacityBytes);
    const uint64_t used =
        MemoryFileSystem::kDefaultCapacityBytes - Must(fs_.FreeSpace("."));
    fs_.SetCapacity(used + bytes);
  }
  uint64_t Free() { return Must(fs_.FreeSpace(".")); }

  MemoryFileSystem fs_;
};

TEST_F(ReserveTest, IsHeldAndGivenBack) {
  LeaveFree(65536);
  Reserve reserve(fs_, "reserve");
  EXPECT_EQ(reserve.held(), 0U);
  EXPECT_FALSE(Must(reserve.Release()));
  EXPECT_FALSE(reserve.is_missing());
  MustDo(reserve.Hold(8192));
  EXPECT_EQ(reserve.held(), 8192U);
  EXPECT_EQ(Free(), 65536U - 8192);
  MustDo(reserve.Hold(16384));
  EXPECT_EQ(Free(), 65536U - 16384);
  MustDo(reserve.Hold(4096));  // there is enough
  EXPECT_EQ(reserve.held(), 16384U);
  EXPECT_TRUE(Must(reserve.Release()));
  EXPECT_EQ(Free(), 65536U);
  EXPECT_TRUE(reserve.is_missing());
  MustDo(reserve.Hold(4096));
  EXPECT_FALSE(reserve.is_missing());
}

TEST_F(ReserveTest, LeavesAsMuchAsItTakes) {
  Reserve reserve(fs_, "reserve");
  LeaveFree(16384 - 512);
  MustDo(reserve.Hold(8192));
  EXPECT_EQ(reserve.held(), 0U);
  EXPECT_TRUE(reserve.is_missing());
  LeaveFree(16384);
  MustDo(reserve.Hold(8192));
  EXPECT_EQ(reserve.held(), 8192U);
  EXPECT_FALSE(reserve.is_missing());
}

// A large manifest asks for more than there is, and the next one is small.
TEST_F(ReserveTest, IsNotMissedOnceWhatIsHeldIsEnough) {
  Reserve reserve(fs_, "reserve");
  MustDo(reserve.Hold(8192));
  LeaveFree(4096);
  MustDo(reserve.Hold(16384));
  EXPECT_TRUE(reserve.is_missing());
  EXPECT_EQ(reserve.held(), 8192U);
  MustDo(reserve.Hold(8192));
  EXPECT_FALSE(reserve.is_missing());
}

TEST_F(ReserveTest, OfAnEarlierProcessIsFoundOnAFullDisk) {
  { MustDo(Reserve(fs_, "reserve").Hold(8192)); }
  LeaveFree(0);
  Reserve reserve(fs_, "reserve");
  MustDo(reserve.Hold(8192));
  EXPECT_EQ(reserve.held(), 8192U);
  MustDo(reserve.Hold(16384));  // no more than that
  EXPECT_EQ(reserve.held(), 8192U);
  EXPECT_TRUE(reserve.is_missing());
  EXPECT_TRUE(Must(reserve.Release()));
  EXPECT_EQ(Free(), 8192U);
}

TEST_F(ReserveTest, SpaceThatRunsOutOnTheWayIsGivenBack) {
  FaultyFileSystem faulty(fs_);
  Reserve reserve(faulty, "reserve");
  faulty.FailAt(2, Fault::kNoSpace);  // create, allocate
  const uint64_t free = Free();
  MustDo(reserve.Hold(8192));
  EXPECT_EQ(reserve.held(), 0U);
  EXPECT_TRUE(reserve.is_missing());
  EXPECT_EQ(Free(), free);
}

TEST_F(ReserveTest, IsNotMissedWhereItCannotBe) {
  CannotReserve plain(fs_);
  Reserve reserve(plain, "reserve");
  MustDo(reserve.Hold(8192));
  EXPECT_EQ(reserve.held(), 0U);
  EXPECT_FALSE(reserve.is_missing());
  EXPECT_FALSE(Must(reserve.Release()));
}

TEST_F(ReserveTest, ABrokenDiskIsAnError) {
  FaultyFileSystem faulty(fs_);
  Reserve reserve(faulty, "reserve");
  faulty.FailAt(2, Fault::kEio);
  EXPECT_EQ(CodeOf(reserve.Hold(8192)), "i/o error");
}

}  // namespace
}  // namespace nephila::job
