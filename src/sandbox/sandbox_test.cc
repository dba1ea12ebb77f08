// What a process can still do in the sandbox. Each test enters it in a process
// of its own. Where the kernel has no support the line that says so is what is
// tested.
#include "sandbox/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/landlock.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace nephila::sandbox {
namespace {

using config::SandboxMode;

struct Ended {
  int code = -1;    // of exit
  int signal = 0;   // that ended it
  std::string err;  // its standard error
};

// Runs `body` in a process of its own.
Ended InChild(const std::function<int()>& body) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    _exit(body());
  }
  close(ends[1]);
  Ended ended;
  std::array<char, 512> bytes{};
  for (ssize_t size = 0; (size = read(ends[0], bytes.data(), 512)) > 0;) {
    ended.err.append(bytes.data(), static_cast<size_t>(size));
  }
  close(ends[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status)) ended.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  return ended;
}

// Says which line is wrong, and gives a code for exit.
int Wrong(int line) {
  const std::string text =
      "line " + std::to_string(line) + ": errno " + std::to_string(errno);
  static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
  return 1;
}
#define CHILD_CHECK(condition) \
  if (!(condition)) return Wrong(__LINE__)

class SandboxTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto temporary = std::filesystem::path(testing::TempDir()) /
                           ("sandbox_" + std::to_string(getpid()));
    inside_ = temporary / "inside";
    outside_ = temporary / "outside";
    std::filesystem::create_directories(inside_);
    std::filesystem::create_directories(outside_);
    for (const auto& folder : {inside_, outside_}) {
      std::ofstream(folder / "file") << "text";
    }
    paths_ = SystemPaths();
    paths_.write.push_back(inside_);
  }
  void TearDown() override {
    std::filesystem::remove_all(inside_.parent_path());
  }

  // The kernel as it is, asked without the module.
  static bool HasLandlock() {
#ifdef NEPHILA_SANDBOX_COVERAGE
    return false;
#else
    return syscall(SYS_landlock_create_ruleset, nullptr, 0,
                   LANDLOCK_CREATE_RULESET_VERSION) > 0;
#endif
  }

  // Runs `body` in the sandbox. False, with the line checked, if the kernel has
  // no support for `part`: then `body` was not run.
  bool Confined(Part Entered::*part, const std::function<int()>& body,
                Ended* ended) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    *ended = InChild([&] {
      const auto entered = Enter(settings_, paths_);
      if (!entered) return Wrong(__LINE__);
      const Part& state = (*entered).*part;
      if (state.state == State::kOn) return body();
      const std::string line = part == &Entered::landlock
                                   ? LandlockLine(*entered)
                                   : SeccompLine(*entered);
      static_cast<void>(!write(ends[1], line.data(), line.size()));
      return 0;
    });
    close(ends[1]);
    std::array<char, 512> line{};
    const ssize_t size = read(ends[0], line.data(), line.size());
    close(ends[0]);
    if (size <= 0) return true;
    const std::string text(line.data(), static_cast<size_t>(size));
    EXPECT_NE(text.find("not confined: "), std::string::npos) << text;
    EXPECT_FALSE(text.ends_with(": ")) << text;
    return false;
  }

  config::SandboxSettings settings_;
  std::filesystem::path inside_;
  std::filesystem::path outside_;
  Paths paths_;
};

TEST_F(SandboxTest, OpensOnlyTheFilesThatAreListed) {
  const std::string in = inside_ / "file";
  const std::string out = outside_ / "file";
  const std::string made = inside_ / "made";
  const std::string moved = inside_ / "moved";
  const std::string made_outside = outside_ / "made";
  Ended ended;
  const bool confined = Confined(
      &Entered::landlock,
      [&] {
        CHILD_CHECK(open(in.c_str(), O_RDWR) >= 0);
        CHILD_CHECK(open(made.c_str(), O_WRONLY | O_CREAT, 0600) >= 0);
        CHILD_CHECK(rename(made.c_str(), moved.c_str()) == 0);
        CHILD_CHECK(truncate(moved.c_str(), 0) == 0);
        CHILD_CHECK(unlink(moved.c_str()) == 0);
        CHILD_CHECK(mkdir(made.c_str(), 0700) == 0);
        CHILD_CHECK(rmdir(made.c_str()) == 0);
        CHILD_CHECK(open("/dev/null", O_RDWR) >= 0);
        CHILD_CHECK(open("/proc/self/statm", O_RDONLY) >= 0);
        CHILD_CHECK(open(out.c_str(), O_RDONLY) < 0 && errno == EACCES);
        CHILD_CHECK(open(out.c_str(), O_WRONLY) < 0 && errno == EACCES);
        CHILD_CHECK(unlink(out.c_str()) < 0 && errno == EACCES);
        CHILD_CHECK(open(made_outside.c_str(), O_WRONLY | O_CREAT, 0600) < 0 &&
                    errno == EACCES);
        CHILD_CHECK(rename(in.c_str(), made_outside.c_str()) < 0);
        CHILD_CHECK(open("/etc/passwd", O_RDONLY) < 0 && errno == EACCES);
        // Read only.
        CHILD_CHECK(open("/etc/hosts", O_WRONLY) < 0 && errno == EACCES);
        return 0;
      },
      &ended);
  EXPECT_EQ(confined, HasLandlock());
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(std::filesystem::exists(out));
}

TEST_F(SandboxTest, ThreadsThatStartLaterAreConfinedToo) {
  settings_.seccomp = SandboxMode::kOff;
  const std::string out = outside_ / "file";
  Ended ended;
  Confined(
      &Entered::landlock,
      [&] {
        int fd = 0;
        std::thread([&] { fd = open(out.c_str(), O_RDONLY); }).join();
        CHILD_CHECK(fd < 0);
        return 0;
      },
      &ended);
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST_F(SandboxTest, AFolderThatIsNotThereIsAnErrorThatNamesTheSetting) {
  if (!HasLandlock()) {
    Ended ended;
    EXPECT_FALSE(Confined(
        &Entered::landlock, [] { return 0; }, &ended));
    return;
  }
  paths_.write.push_back(outside_ / "gone");
  const Ended ended = InChild([&] {
    const auto entered = Enter(settings_, paths_);
    CHILD_CHECK(!entered);
    CHILD_CHECK(entered.error().message.find("sandbox.landlock=off") !=
                std::string::npos);
    CHILD_CHECK(entered.error().message.find("gone") != std::string::npos);
    return 0;
  });
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST_F(SandboxTest, StartingAProgramEndsTheProcessWithALine) {
  Ended ended;
  const bool confined = Confined(
      &Entered::seccomp,
      [] {
        std::array<char, 10> name{"/bin/true"};
        std::array<char*, 2> words{name.data(), nullptr};
        execv(name.data(), words.data());
        return 7;
      },
      &ended);
  if (!confined) return;
  EXPECT_EQ(ended.signal, SIGSYS);
  EXPECT_EQ(ended.err, "nephila: system call " + std::to_string(SYS_execve) +
                           " is forbidden by the sandbox; the process ends "
                           "(sandbox.seccomp)\n");
}

TEST_F(SandboxTest, WithLandlockAloneNoProgramStarts) {
  settings_.seccomp = SandboxMode::kOff;
  Ended ended;
  Confined(
      &Entered::landlock,
      [] {
        std::array<char, 10> name{"/bin/true"};
        std::array<char*, 2> words{name.data(), nullptr};
        CHILD_CHECK(execv(name.data(), words.data()) < 0 && errno == EACCES);
        return 0;
      },
      &ended);
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST_F(SandboxTest, ForkAndPtraceEndTheProcess) {
  for (const long number : {long{SYS_clone}, long{SYS_ptrace}}) {
    Ended ended;
    const bool confined = Confined(
        &Entered::seccomp,
        [&] {
          syscall(number, SIGCHLD, 0, 0, 0, 0);
          return 7;
        },
        &ended);
    if (!confined) return;
    EXPECT_EQ(ended.signal, SIGSYS) << number;
    EXPECT_NE(ended.err.find("system call " + std::to_string(number) + " "),
              std::string::npos)
        << ended.err;
  }
}

TEST_F(SandboxTest, SocketsAreThoseOfTheInternetAndOfThisMachine) {
  Ended ended;
  Confined(
      &Entered::seccomp,
      [] {
        CHILD_CHECK(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0);
        CHILD_CHECK(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0) >= 0);
        CHILD_CHECK(socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
        CHILD_CHECK(socket(AF_PACKET, SOCK_RAW, 0) < 0 && errno == EPERM);
        CHILD_CHECK(socket(AF_PACKET, SOCK_DGRAM, 0) < 0 && errno == EPERM);
        CHILD_CHECK(socket(AF_NETLINK, SOCK_DGRAM, 0) < 0 && errno == EPERM);
        CHILD_CHECK(socket(AF_INET, SOCK_RAW, 1) < 0 && errno == EPERM);
        return 0;
      },
      &ended);
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST_F(SandboxTest, OtherCallsFailWithAnErrorOfTheirOwn) {
  Ended ended;
  Confined(
      &Entered::seccomp,
      [] {
        CHILD_CHECK(sethostname("x", 1) < 0 && errno == EPERM);
        CHILD_CHECK(kill(getppid(), 0) < 0 && errno == EPERM);
        CHILD_CHECK(kill(getpid(), 0) == 0);
        CHILD_CHECK(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0 && errno == EPERM);
        // Newer than the list: libraries fall back.
        CHILD_CHECK(syscall(1000) < 0 && errno == ENOSYS);
        CHILD_CHECK(syscall(SYS_clone3, nullptr, 0) < 0 && errno == ENOSYS);
        return 0;
      },
      &ended);
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST_F(SandboxTest, MemoryCannotBecomeCode) {
  Ended ended;
  Confined(
      &Entered::seccomp,
      [] {
        constexpr size_t kSize = 4096;
        constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS;
        void* const memory =
            mmap(nullptr, kSize, PROT_READ | PROT_WRITE, kFlags, -1, 0);
        CHILD_CHECK(memory != MAP_FAILED);
        CHILD_CHECK(mprotect(memory, kSize, PROT_READ | PROT_EXEC) < 0 &&
                    errno == EPERM);
        CHILD_CHECK(mmap(nullptr, kSize, PROT_READ | PROT_EXEC, kFlags, -1,
                         0) == MAP_FAILED);
        return 0;
      },
      &ended);
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST_F(SandboxTest, TheListHoldsForThreadsThatRunAlready) {
  Ended ended = InChild([&] {
    std::atomic<int> step{0};
    int error = 0;
    std::thread before([&] {
      step.wait(0);
      if (socket(AF_PACKET, SOCK_DGRAM, 0) < 0) error = errno;
    });
    settings_.landlock = SandboxMode::kOff;
    const auto entered = Enter(settings_, paths_);
    step = 1;
    step.notify_one();
    before.join();
    CHILD_CHECK(entered.has_value());
    if (entered->seccomp.state == State::kOn) CHILD_CHECK(error == EPERM);
    return 0;
  });
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST_F(SandboxTest, ThreadsMemoryTimeAndLocalesWork) {
  Ended ended;
  Confined(
      &Entered::seccomp,
      [] {
        std::vector<std::thread> threads;
        std::atomic<size_t> bytes{0};
        threads.reserve(8);
        for (int i = 0; i < 8; ++i) {
          threads.emplace_back([&] {
            for (size_t size = 1; size < (size_t{1} << 24); size *= 4) {
              bytes += std::string(size, 'x').size();
            }
          });
        }
        for (std::thread& thread : threads) thread.join();
        CHILD_CHECK(bytes > 0);
        const std::time_t now = std::time(nullptr);
        std::tm local{};
        CHILD_CHECK(localtime_r(&now, &local) != nullptr);
        CHILD_CHECK(std::thread::hardware_concurrency() > 0);
        return 0;
      },
      &ended);
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST_F(SandboxTest, OffConfinesNothingAndSaysSo) {
  settings_.landlock = SandboxMode::kOff;
  settings_.seccomp = SandboxMode::kOff;
  const std::string out = outside_ / "file";
  const Ended ended = InChild([&] {
    const auto entered = Enter(settings_, paths_);
    CHILD_CHECK(entered.has_value());
    CHILD_CHECK(LandlockLine(*entered) ==
                "files: not confined (sandbox.landlock is off)");
    CHILD_CHECK(SeccompLine(*entered) ==
                "system calls: not confined (sandbox.seccomp is off)");
    CHILD_CHECK(open(out.c_str(), O_RDWR) >= 0);
    CHILD_CHECK(kill(getppid(), 0) == 0);
    return 0;
  });
  EXPECT_EQ(ended.code, 0) << ended.err;
}

}  // namespace
}  // namespace nephila::sandbox
