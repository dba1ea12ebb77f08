// What only the real file system can be asked: other processes, other kinds of
// files, file systems that lack something.
#include "base/real_file_system.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "base/file_testing.h"

namespace nephila {
namespace {

class RealFileSystemTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "nephila_real_test_XXXXXX";
    ASSERT_NE(::mkdtemp(root_.data()), nullptr);
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  std::string P(std::string_view name) const {
    return root_ + "/" + std::string(name);
  }

  const std::unique_ptr<FileSystem> fs_ = MakeRealFileSystem();
  std::string root_;
};

// A forked child that says 'y' if `hold` succeeds, and lives until Release.
class Child {
 public:
  template <typename Hold>
  explicit Child(Hold hold) {
    int says[2];
    int hears[2];
    EXPECT_EQ(::pipe(says), 0);
    EXPECT_EQ(::pipe(hears), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(hears[1]);
      const auto held = hold();
      char word = held ? 'y' : 'n';
      if (::write(says[1], &word, 1) == 1) {
        // Ends when the parent closes its side, or is gone.
        while (::read(hears[0], &word, 1) > 0) {
        }
      }
      ::_exit(0);
    }
    ::close(says[1]);
    ::close(hears[0]);
    char word = '?';
    EXPECT_EQ(::read(says[0], &word, 1), 1);
    EXPECT_EQ(word, 'y');
    ::close(says[0]);
    hears_ = hears[1];
  }
  ~Child() { Release(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void Release() {
    if (pid_ <= 0) return;
    ::close(hears_);
    EXPECT_EQ(::waitpid(pid_, nullptr, 0), pid_);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
  int hears_ = -1;
};

TEST_F(RealFileSystemTest, LocksOutAnotherProcessUntilItEnds) {
  const std::string path = P("lock");
  Child child([&]() -> std::unique_ptr<FileLock> {
    auto lock = fs_->Lock(path);
    return lock.has_value() ? *std::move(lock) : nullptr;
  });
  EXPECT_FAILS(fs_->Lock(path), kBusy, path);
  child.Release();
  EXPECT_OK(fs_->Lock(path));
}

TEST_F(RealFileSystemTest, AForkedChildKeepsTheLockOfItsParent) {
  const std::string path = P("lock");
  auto lock = Must(fs_->Lock(path));
  Child child([] { return true; });
  lock.reset();
  EXPECT_FAILS(fs_->Lock(path), kBusy, path);
  child.Release();
  EXPECT_OK(fs_->Lock(path));
}

TEST_F(RealFileSystemTest, RefusesWhatIsNoRegularFileByItsKind) {
  const std::string fifo = P("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  // Nobody writes: without care the open would wait for ever.
  EXPECT_FAILS(ReadWholeFile(*fs_, fifo, 10), kInvalidArgument,
               fifo + ": a pipe, not a regular file");
  EXPECT_FAILS(fs_->Open(fifo, OpenMode::kReadWrite), kInvalidArgument, fifo);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string anonymous = "/dev/fd/" + std::to_string(ends[0]);
  EXPECT_FAILS(ReadWholeFile(*fs_, anonymous, 10), kInvalidArgument,
               anonymous + ": a pipe, not a regular file");
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_FAILS(ReadWholeFile(*fs_, "/dev/zero", 10), kInvalidArgument,
               "/dev/zero: a character device");
  EXPECT_FAILS(ReadWholeFile(*fs_, root_, 10), kIo, root_);
}

TEST_F(RealFileSystemTest, LeavesNoOpenFileNonBlocking) {
  // Told by the descriptor that is opened next.
  const int next = ::open("/dev/null", O_RDONLY);
  ::close(next);
  const auto file = Create(*fs_, P("a"));
  EXPECT_EQ(::fcntl(next, F_GETFL) & O_NONBLOCK, 0);
}

// Files of /proc are regular, can be opened for writing, and can do little.
TEST_F(RealFileSystemTest, SaysWhatAFileSystemCannotDo) {
  const std::string path = "/proc/self/comm";
  const auto file = Must(fs_->Open(path, OpenMode::kReadWrite));
  const std::string before = Get(*fs_, path);
  EXPECT_FAILS(file->Allocate(100), kUnsupported, path);
  EXPECT_EQ(Get(*fs_, path), before);
  EXPECT_FAILS(fs_->Open(path, {OpenMode::kRead, true}), kUnsupported, path);
}

TEST_F(RealFileSystemTest, TakesASymbolicLinkForWhatItIs) {
  MustDo(fs_->MakeDir(P("d")));
  Put(*fs_, P("d/a"), "1");
  MustDo(fs_->MakeDir(P("e")));
  ASSERT_EQ(::symlink(P("d").c_str(), P("e/link").c_str()), 0);
  EXPECT_EQ(Names(*fs_, P("e")), std::vector<std::string>{"link"});
  EXPECT_OK(RemoveAll(*fs_, P("e")));
  EXPECT_EQ(Get(*fs_, P("d/a")), "1");
}

}  // namespace
}  // namespace nephila
