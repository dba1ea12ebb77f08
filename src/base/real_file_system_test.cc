// What only the real file system can be asked: other processes, other kinds of
// files, file systems that lack something.
#include "base/real_file_system.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
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

// No call finds a descriptor until Raise.
class NoDescriptors {
 public:
  NoDescriptors() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit none = before_;
    none.rlim_cur = 3;
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  ~NoDescriptors() { Raise(); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;
  void Raise() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }

 private:
  rlimit before_{};
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

TEST_F(RealFileSystemTest, WaitsForADescriptorAndOpensThen) {
  std::optional<NoDescriptors> none;
  int waits = 0;
  const auto fs = MakeRealFileSystem([&](const Error& error) {
    EXPECT_EQ(error.sys_errno, EMFILE);
    EXPECT_NE(error.message.find(root_), std::string::npos) << error.message;
    if (++waits % 3 == 0) none->Raise();
  });
  none.emplace();
  EXPECT_TRUE(fs->Open(P("f"), OpenMode::kCreateNew));
  EXPECT_EQ(waits, 3);
  none.emplace();
  EXPECT_TRUE(fs->List(root_));
  EXPECT_EQ(waits, 6);
  none.emplace();
  EXPECT_TRUE(fs->SyncDir(root_));
  EXPECT_EQ(waits, 9);
  none.emplace();
  EXPECT_TRUE(fs->Lock(P("lock")));
  EXPECT_EQ(waits, 12);
  // Other errors are not waited for.
  EXPECT_FALSE(fs->Open(P("none"), OpenMode::kRead));
  EXPECT_EQ(waits, 12);
}

TEST_F(RealFileSystemTest, WithoutAWaitAShortageIsAnError) {
  const NoDescriptors none;
  const auto file = fs_->Open(P("f"), OpenMode::kCreateNew);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().sys_errno, EMFILE);
  const auto list = fs_->List(root_);
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().sys_errno, EMFILE);
}

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

class GuardedFileSystemTest : public RealFileSystemTest {
 protected:
  void SetUp() override {
    RealFileSystemTest::SetUp();
    EXPECT_OK(fs_->MakeDirs(P("job/sub")));
    EXPECT_OK(fs_->MakeDir(P("elsewhere")));
    EXPECT_OK(PublishFile(*fs_, P("elsewhere/secret"), "secret"));
    guarded_ = MakeGuardedFileSystem(P("job"));
  }
  void Link(const std::string& target, std::string_view name) {
    ASSERT_EQ(::symlink(target.c_str(), P(name).c_str()), 0);
  }

  std::unique_ptr<GuardedFileSystem> guarded_;
};

TEST_F(GuardedFileSystemTest, DoesWhatThePlainOneDoes) {
  EXPECT_OK(guarded_->MakeDirs(P("job/sub/a/b")));
  EXPECT_OK(PublishFile(*guarded_, P("job/sub/a/b/file"), "text"));
  EXPECT_EQ(Must(ReadWholeFile(*guarded_, P("job//sub/./a/b/file"), 100)),
            "text");
  EXPECT_OK(guarded_->Rename(P("job/sub/a/b/file"), P("job/file")));
  EXPECT_EQ(Must(guarded_->Stamp(P("job/file"))).size, 4u);
  EXPECT_TRUE(Must(guarded_->Exists(P("job/file"))));
  EXPECT_FALSE(Must(guarded_->Exists(P("job/none/file"))));
  EXPECT_FALSE(Must(guarded_->Exists(P("job/file/none"))));
  EXPECT_EQ(Must(guarded_->List(P("job"))).size(), 2u);
  EXPECT_EQ(Must(guarded_->List(P("job/sub"))).size(), 1u);
  EXPECT_GT(Must(guarded_->FreeSpace(P("job/sub"))), 0u);
  EXPECT_OK(guarded_->SyncDir(P("job/sub")));
  { const auto lock = Must(guarded_->Lock(P("job/lock"))); }
  EXPECT_OK(RemoveAll(*guarded_, P("job/sub")));
  EXPECT_FAILS(guarded_->Open(P("job/none"), OpenMode::kRead), kNotFound,
               P("job/none"));
}

TEST_F(GuardedFileSystemTest, OpensNoFileThroughALink) {
  Link(P("elsewhere/secret"), "job/file");
  const std::string why = "file is a symbolic link";
  for (const OpenMode mode :
       {OpenMode::kRead, OpenMode::kReadWrite, OpenMode::kCreate}) {
    EXPECT_FAILS(guarded_->Open(P("job/file"), mode), kInvalidArgument, why);
  }
  EXPECT_FAILS(guarded_->Stamp(P("job/file")), kInvalidArgument, why);
  EXPECT_FAILS(guarded_->Lock(P("job/file")), kInvalidArgument, why);
  // A link that points nowhere makes no file there.
  Link(P("elsewhere/new"), "job/dangling");
  EXPECT_FAILS(guarded_->Open(P("job/dangling"), OpenMode::kCreate),
               kInvalidArgument, "dangling is a symbolic link");
  EXPECT_TRUE(Must(guarded_->Exists(P("job/dangling"))));
  EXPECT_FALSE(Must(fs_->Exists(P("elsewhere/new"))));
}

TEST_F(GuardedFileSystemTest, EntersNoFolderThroughALink) {
  Link(P("elsewhere"), "job/link");
  const std::string why = "link is a symbolic link";
  EXPECT_FAILS(guarded_->Open(P("job/link/secret"), OpenMode::kRead),
               kInvalidArgument, why);
  EXPECT_FAILS(guarded_->Open(P("job/link/new"), OpenMode::kCreate),
               kInvalidArgument, why);
  EXPECT_FAILS(guarded_->List(P("job/link")), kInvalidArgument, why);
  EXPECT_FAILS(guarded_->Exists(P("job/link/secret")), kInvalidArgument, why);
  EXPECT_FAILS(guarded_->MakeDir(P("job/link")), kInvalidArgument, why);
  EXPECT_FAILS(guarded_->MakeDir(P("job/link/new")), kInvalidArgument, why);
  EXPECT_FAILS(guarded_->Remove(P("job/link/secret")), kInvalidArgument, why);
  EXPECT_FAILS(guarded_->RemoveDir(P("job/link/x")), kInvalidArgument, why);
  EXPECT_FAILS(guarded_->Rename(P("job/link/secret"), P("job/own")),
               kInvalidArgument, why);
  EXPECT_FAILS(guarded_->Rename(P("job/sub"), P("job/link/sub")),
               kInvalidArgument, why);
  EXPECT_FAILS(guarded_->SyncDir(P("job/link")), kInvalidArgument, why);
  EXPECT_FAILS(guarded_->FreeSpace(P("job/link")), kInvalidArgument, why);
  EXPECT_TRUE(Must(fs_->Exists(P("elsewhere/secret"))));
  EXPECT_EQ(Must(fs_->List(P("elsewhere"))).size(), 1u);
  // The link itself can be removed.
  EXPECT_OK(RemoveAll(*guarded_, P("job/link")));
  EXPECT_TRUE(Must(fs_->Exists(P("elsewhere/secret"))));
}

TEST_F(GuardedFileSystemTest, FollowsLinksInTheUsersOwnPaths) {
  Link(P("job"), "my-job");
  const auto fs = MakeGuardedFileSystem(P("my-job/"));
  EXPECT_OK(PublishFile(*fs, P("my-job/sub/file"), "text"));
  EXPECT_TRUE(Must(fs_->Exists(P("job/sub/file"))));
  Link(P("elsewhere"), "job/link");
  EXPECT_FAILS(fs->List(P("my-job/link")), kInvalidArgument, "link");
  // Outside of the folder, and by a path that leaves it.
  Link(P("elsewhere"), "outside");
  EXPECT_EQ(Must(ReadWholeFile(*fs, P("outside/secret"), 100)), "secret");
  EXPECT_EQ(Must(ReadWholeFile(*fs, P("my-job/../outside/secret"), 100)),
            "secret");
}

TEST_F(GuardedFileSystemTest, GuardsSeveralFoldersAndTheirNames) {
  EXPECT_OK(fs_->MakeDir(P("disk")));
  Link(P("disk"), "archive");
  Link(P("elsewhere"), "disk/link");
  EXPECT_OK(guarded_->List(P("archive/link")));
  guarded_->Guard(P("archive"));
  EXPECT_OK(guarded_->List(P("archive")));
  EXPECT_FAILS(guarded_->List(P("archive/link")), kInvalidArgument, "link");
  // A folder inside a guarded one is no path of the user.
  Link(P("elsewhere"), "job/archive");
  guarded_->Guard(P("job/archive"));
  EXPECT_FAILS(guarded_->List(P("job/archive")), kInvalidArgument, "archive");
  EXPECT_FAILS(guarded_->Open(P("job/archive/secret"), OpenMode::kRead),
               kInvalidArgument, "archive");
}

TEST_F(GuardedFileSystemTest, ChangesNothingInAFolderOfAnotherUser) {
  EXPECT_OK(PublishFile(*fs_, P("job/file"), "text"));
  EXPECT_OK(CheckOwnFolder(P("job")));
  EXPECT_OK(CheckOwnFolder(P("none")));
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(P("job").c_str(), 65534, 65534), 0);
  } else {
    // Every system has a folder of root.
    EXPECT_FAILS(CheckOwnFolder("/"), kInvalidArgument, "belongs to user 0");
    return;
  }
  const std::string why = "/job: this folder belongs to user 65534";
  EXPECT_FAILS(CheckOwnFolder(P("job")), kInvalidArgument, why);
  EXPECT_FAILS(guarded_->Open(P("job/new"), OpenMode::kCreate),
               kInvalidArgument, why);
  EXPECT_FAILS(guarded_->Open(P("job/file"), OpenMode::kReadWrite),
               kInvalidArgument, why);
  EXPECT_FAILS(guarded_->MakeDir(P("job/sub/new")), kInvalidArgument, why);
  EXPECT_FAILS(guarded_->Remove(P("job/file")), kInvalidArgument, why);
  EXPECT_FAILS(guarded_->Rename(P("job/file"), P("job/new")), kInvalidArgument,
               why);
  EXPECT_FAILS(guarded_->Lock(P("job/lock")), kInvalidArgument, why);
  // It can be read all the same.
  EXPECT_EQ(Must(ReadWholeFile(*guarded_, P("job/file"), 100)), "text");
  EXPECT_EQ(Must(guarded_->List(P("job"))).size(), 2u);
}

}  // namespace
}  // namespace nephila
