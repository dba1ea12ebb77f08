#include "base/log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <utility>

#include "base/text.h"

namespace nephila {
namespace {

constexpr size_t kMaxMessageBytes = 8192;

constexpr std::array<std::string_view, 4> kLevelNames = {"debug", "info",
                                                         "warn", "error"};
}  // namespace

Result<LogLevel> ParseLogLevel(std::string_view text) {
  for (size_t i = 0; i < kLevelNames.size(); ++i) {
    if (text == kLevelNames[i]) return static_cast<LogLevel>(i);
  }
  return Unexpected(
      Error{ErrorCode::kInvalidArgument,
            fmt::format("log level \"{}\": use debug, info, warn or error",
                        EscapeForTerminal(text))});
}

std::string_view LogLevelName(LogLevel level) {
  return kLevelNames[static_cast<size_t>(level)];
}

void LogCapture::Append(std::string_view line) {
  MutexLock lock(mutex_);
  text_ += line;
}

std::string LogCapture::text() const {
  MutexLock lock(mutex_);
  return text_;
}

// Where lines go: a capture if there is one, else the descriptor.
struct Logger::Impl {
  Impl(int log_fd, bool owned, LogCapture* log_capture, const Clock& log_clock,
       LogLevel log_level)
      : fd(log_fd),
        fd_owned(owned),
        capture(log_capture),
        clock(log_clock),
        level(log_level) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (fd_owned) close(fd);
  }

  // `line` ends with its only newline.
  void Write(std::string line) NEPHILA_EXCLUDES(mutex);

  const int fd;
  const bool fd_owned;
  LogCapture* const capture;
  const Clock& clock;
  std::atomic<LogLevel> level;
  std::atomic<uint64_t> lost_lines{0};

  Mutex mutex;
  // The last byte that went out was no newline.
  bool is_mid_line NEPHILA_GUARDED_BY(mutex) = false;
};

void Logger::Impl::Write(std::string line) {
  MutexLock lock(mutex);
  if (capture != nullptr) return capture->Append(line);
  if (is_mid_line) line.insert(line.begin(), '\n');
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = write(fd, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      ++lost_lines;
      return;
    }
    const auto count = static_cast<size_t>(written);
    is_mid_line = rest[count - 1] != '\n';
    rest.remove_prefix(count);
  }
}

Logger::Logger(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Logger::Logger(Logger&&) noexcept = default;
Logger& Logger::operator=(Logger&&) noexcept = default;
Logger::~Logger() = default;

Logger Logger::ToStderr(const Clock& clock, LogLevel level) {
  return ToDescriptor(STDERR_FILENO, clock, level);
}

Logger Logger::ToDescriptor(int fd, const Clock& clock, LogLevel level) {
  return Logger(
      std::make_unique<Impl>(fd, /*owned=*/false, nullptr, clock, level));
}

Result<Logger> Logger::ToFile(const std::string& path, const Clock& clock,
                              LogLevel level) {
  // A link in its place could make us append to any other file.
  const int fd =
      open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
           S_IRUSR | S_IWUSR | S_IRGRP);
  if (fd < 0) {
    return Unexpected(nephila::Error::FromErrno("open log " + path, errno));
  }
  return Logger(
      std::make_unique<Impl>(fd, /*owned=*/true, nullptr, clock, level));
}

Logger Logger::ToMemory(LogCapture& capture, const Clock& clock,
                        LogLevel level) {
  return Logger(
      std::make_unique<Impl>(-1, /*owned=*/false, &capture, clock, level));
}

void Logger::SetLevel(LogLevel level) { impl_->level = level; }

uint64_t Logger::lost_lines() const { return impl_->lost_lines; }

void Logger::Log(LogLevel level, fmt::string_view format,
                 fmt::format_args args) {
  if (level < impl_->level) return;
  std::string message = fmt::vformat(format, args);
  if (message.size() > kMaxMessageBytes) {
    message.resize(kMaxMessageBytes);
    message += "...";
  }
  impl_->Write(fmt::format("{} {} {}\n", FormatUtc(impl_->clock.WallNow()),
                           LogLevelName(level), EscapeForTerminal(message)));
}

}  // namespace nephila
