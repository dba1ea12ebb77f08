#include "base/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace nephila {
namespace {

std::string ReadWhole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

class LogTest : public testing::Test {
 protected:
  ManualClock clock_;
  LogCapture capture_;
};

TEST_F(LogTest, WritesTimeLevelAndMessage) {
  Logger logger = Logger::ToMemory(capture_, clock_, LogLevel::kDebug);
  logger.Debug("a {}", 1);
  clock_.Advance(std::chrono::milliseconds(1250));
  logger.Info("fetched {} in {:.1f} ms", std::string("http://a.org/"), 2.25);
  logger.Warn("no arguments");
  logger.Error("{{}} and {}", "text");
  EXPECT_EQ(capture_.text(),
            "2026-01-01T00:00:00.000Z debug a 1\n"
            "2026-01-01T00:00:01.250Z info fetched http://a.org/ in 2.2 ms\n"
            "2026-01-01T00:00:01.250Z warn no arguments\n"
            "2026-01-01T00:00:01.250Z error {} and text\n");
}

TEST_F(LogTest, LeavesOutWhatIsBelowItsLevel) {
  Logger logger = Logger::ToMemory(capture_, clock_, LogLevel::kWarn);
  logger.Debug("no");
  logger.Info("no");
  logger.Warn("yes");
  logger.Error("yes");
  const std::string text = capture_.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_EQ(text.find("no"), std::string::npos);
}

TEST_F(LogTest, LetsNoWebTextReachATerminalOrForgeALine) {
  Logger logger = Logger::ToMemory(capture_, clock_, LogLevel::kInfo);
  logger.Info("title {}", "a\n2026-01-01T00:00:00.000Z error forged");
  logger.Info("{}",
              "\x1B]0;owned\x07 \xC2\x9B"
              "2J \xFF\xC3 \r");
  EXPECT_EQ(capture_.text(),
            "2026-01-01T00:00:00.000Z info title "
            "a\\x0A2026-01-01T00:00:00.000Z error forged\n"
            "2026-01-01T00:00:00.000Z info \\x1B]0;owned\\x07 \\xC2\\x9B2J "
            "\\xFF\\xC3 \\x0D\n");
}

TEST_F(LogTest, DoesNotTakeAnArgumentForAFormatOrAPattern) {
  Logger logger = Logger::ToMemory(capture_, clock_, LogLevel::kInfo);
  logger.Info("{}", "{} {0} %v %s %n");
  EXPECT_EQ(capture_.text(), "2026-01-01T00:00:00.000Z info {} {0} %v %s %n\n");
}

TEST_F(LogTest, CutsAMessageWithoutEnd) {
  Logger logger = Logger::ToMemory(capture_, clock_, LogLevel::kInfo);
  logger.Info("{}", std::string(1'000'000, 'x'));
  EXPECT_LT(capture_.text().size(), 9000u);
  EXPECT_EQ(capture_.text().substr(capture_.text().size() - 5), "x...\n");
}

TEST_F(LogTest, AppendsToAFile) {
  const std::string path =
      testing::TempDir() + "nephila_log_test." + std::to_string(getpid());
  for (const char* text : {"first", "second"}) {
    Result<Logger> logger = Logger::ToFile(path, clock_, LogLevel::kInfo);
    ASSERT_TRUE(logger.has_value());
    logger->Info("{}", text);
    EXPECT_EQ(logger->lost_lines(), 0u);
  }
  EXPECT_EQ(ReadWhole(path),
            "2026-01-01T00:00:00.000Z info first\n"
            "2026-01-01T00:00:00.000Z info second\n");
  std::remove(path.c_str());
}

TEST_F(LogTest, DoesNotAppendThroughASymbolicLink) {
  const std::string path =
      testing::TempDir() + "nephila_log_link." + std::to_string(getpid());
  ASSERT_EQ(symlink((path + ".target").c_str(), path.c_str()), 0);
  EXPECT_FALSE(Logger::ToFile(path, clock_, LogLevel::kInfo).has_value());
  EXPECT_NE(access((path + ".target").c_str(), F_OK), 0);
  std::remove(path.c_str());
}

TEST_F(LogTest, NamesAFileThatDoesNotOpen) {
  const Result<Logger> logger =
      Logger::ToFile("/nonexistent/dir/log", clock_, LogLevel::kInfo);
  ASSERT_FALSE(logger.has_value());
  EXPECT_EQ(logger.error().code, ErrorCode::kNotFound);
  EXPECT_NE(logger.error().message.find("/nonexistent/dir/log"),
            std::string::npos);
}

TEST_F(LogTest, CountsLinesThatCouldNotBeWritten) {
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  Logger logger = Logger::ToDescriptor(full, clock_, LogLevel::kInfo);
  logger.Info("one");
  logger.Debug("not written, not lost");
  logger.Info("two");
  EXPECT_EQ(logger.lost_lines(), 2u);
  close(full);
}

// A pipe that never waits for room, with room for one page.
class PipeTest : public LogTest {
 protected:
  PipeTest() {
    EXPECT_EQ(pipe2(ends_, O_NONBLOCK | O_CLOEXEC), 0);
    EXPECT_EQ(fcntl(ends_[1], F_SETPIPE_SZ, 4096), 4096);
  }
  ~PipeTest() override {
    CloseReader();
    close(ends_[1]);
  }

  void CloseReader() {
    if (ends_[0] >= 0) close(ends_[0]);
    ends_[0] = -1;
  }
  std::string Drain() {
    std::string text(8192, '\0');
    const ssize_t got = read(ends_[0], text.data(), text.size());
    text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
    return text;
  }

  int ends_[2] = {-1, -1};
};

TEST_F(PipeTest, StartsANewLineAfterHalfALine) {
  Logger logger = Logger::ToDescriptor(ends_[1], clock_, LogLevel::kInfo);
  logger.Info("{}", std::string(8000, 'x'));
  EXPECT_EQ(logger.lost_lines(), 1u);
  // Still no room: the half line is remembered.
  logger.Info("lost");
  EXPECT_EQ(logger.lost_lines(), 2u);
  const std::string half = Drain();
  EXPECT_EQ(half.size(), 4096u);
  EXPECT_EQ(half.find('\n'), std::string::npos);
  logger.Info("first");
  logger.Info("second");
  EXPECT_EQ(Drain(),
            "\n2026-01-01T00:00:00.000Z info first\n"
            "2026-01-01T00:00:00.000Z info second\n");
  EXPECT_EQ(logger.lost_lines(), 2u);
}

TEST_F(PipeTest, CountsLinesThatNobodyReadsIfSigpipeIsIgnored) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  Logger logger = Logger::ToDescriptor(ends_[1], clock_, LogLevel::kInfo);
  CloseReader();
  logger.Info("one");
  logger.Info("two");
  EXPECT_EQ(logger.lost_lines(), 2u);
  std::signal(SIGPIPE, before);
}

TEST_F(LogTest, WritesToStderr) {
  testing::internal::CaptureStderr();
  Logger::ToStderr(clock_, LogLevel::kInfo).Info("hello");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "2026-01-01T00:00:00.000Z info hello\n");
}

TEST_F(LogTest, KeepsLinesOfManyThreadsWhole) {
  Logger logger = Logger::ToMemory(capture_, clock_, LogLevel::kInfo);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 100; ++k) logger.Info("the same line");
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::string expected;
  for (int i = 0; i < 400; ++i) {
    expected += "2026-01-01T00:00:00.000Z info the same line\n";
  }
  EXPECT_EQ(capture_.text(), expected);
}

TEST(LogLevel, IsReadFromItsNameOnly) {
  for (const LogLevel level :
       {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarn, LogLevel::kError}) {
    EXPECT_EQ(*ParseLogLevel(LogLevelName(level)), level);
  }
  for (const char* text : {"", "INFO", "warning", "2", "info "}) {
    EXPECT_FALSE(ParseLogLevel(text).has_value()) << text;
  }
  EXPECT_EQ(ParseLogLevel("loud").error().message,
            "log level \"loud\": use debug, info, warn or error");
}

}  // namespace
}  // namespace nephila
