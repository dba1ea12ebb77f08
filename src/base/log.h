// Logger: one line per event, safe to show on a terminal.
//
//   2026-01-02T03:04:05.678Z info fetched http://a.org/ in 12ms
//
// Everything in a message is escaped (EscapeForTerminal), so nothing that came
// from the web can move a cursor or forge a second line; callers escape
// nothing. A message is cut at 8 KiB. Passed by reference; there is no global
// logger.
//
// Threads: any. Blocks: each line is one write(2); what cannot be written is
// counted in lost_lines() and forgotten, since a log must not stop a crawl. If
// half of a line went out, the next one begins on a line of its own. A process
// whose log may be a pipe has to ignore SIGPIPE, or a reader that leaves ends
// it: that is for main() to do, a library changes no signals.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"

namespace nephila {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarn, kError };

// "debug", "info", "warn" or "error".
Result<LogLevel> ParseLogLevel(std::string_view text);
std::string_view LogLevelName(LogLevel level);

// Collects what a Logger writes, for tests. Outlives the Logger.
class LogCapture {
 public:
  void Append(std::string_view line) NEPHILA_EXCLUDES(mutex_);
  std::string text() const NEPHILA_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::string text_ NEPHILA_GUARDED_BY(mutex_);
};

class Logger {
 public:
  // Lines below `level` are not written. The clock outlives the logger.
  static Logger ToStderr(const Clock& clock, LogLevel level);
  // The descriptor stays the caller's.
  static Logger ToDescriptor(int fd, const Clock& clock, LogLevel level);
  // Appends; makes the file if it is not there. Fails for a symbolic link.
  static Result<Logger> ToFile(const std::string& path, const Clock& clock,
                               LogLevel level);
  static Logger ToMemory(LogCapture& capture, const Clock& clock,
                         LogLevel level);

  Logger(Logger&&) noexcept;
  Logger& operator=(Logger&&) noexcept;
  ~Logger();

  template <typename... Args>
  void Debug(fmt::format_string<Args...> format, Args&&... args) {
    Log(LogLevel::kDebug, format, fmt::make_format_args(args...));
  }
  template <typename... Args>
  void Info(fmt::format_string<Args...> format, Args&&... args) {
    Log(LogLevel::kInfo, format, fmt::make_format_args(args...));
  }
  template <typename... Args>
  void Warn(fmt::format_string<Args...> format, Args&&... args) {
    Log(LogLevel::kWarn, format, fmt::make_format_args(args...));
  }
  template <typename... Args>
  void Error(fmt::format_string<Args...> format, Args&&... args) {
    Log(LogLevel::kError, format, fmt::make_format_args(args...));
  }

  // From now on, by any thread.
  void SetLevel(LogLevel level);
  uint64_t lost_lines() const;

 private:
  struct Impl;
  explicit Logger(std::unique_ptr<Impl> impl);

  void Log(LogLevel level, fmt::string_view format, fmt::format_args args);

  std::unique_ptr<Impl> impl_;
};

}  // namespace nephila
