#include "base/log.h"

#include <fcntl.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace nephila {
namespace {

constexpr size_t kMaxMessageBytes = 8192;

constexpr std::array<std::string_view, 4> kLevelNames = {"debug", "info",
                                                         "warn", "error"};
constexpr std::array<spdlog::level::level_enum, 4> kSpdlogLevels = {
    spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
    spdlog::level::err};

// base_sink holds its mutex around sink_it_ and flush_.
class LineSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  uint64_t lost_lines() const { return lost_lines_; }

 protected:
  // False if the line could not be written.
  virtual bool Write(std::string_view line) = 0;

  void sink_it_(const spdlog::details::log_msg& message) final {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    if (!Write({line.data(), line.size()})) ++lost_lines_;
  }
  void flush_() final {}

 private:
  std::atomic<uint64_t> lost_lines_{0};
};

// spdlog's own sinks go through stdio, throw when a file does not open, and
// print to stderr when a write fails.
class DescriptorSink final : public LineSink {
 public:
  DescriptorSink(int fd, bool owned) : fd_(fd), owned_(owned) {}
  DescriptorSink(const DescriptorSink&) = delete;
  DescriptorSink& operator=(const DescriptorSink&) = delete;
  ~DescriptorSink() override {
    if (owned_) close(fd_);
  }

 protected:
  bool Write(std::string_view line) override {
    while (!line.empty()) {
      const ssize_t written = write(fd_, line.data(), line.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      line.remove_prefix(static_cast<size_t>(written));
    }
    return true;
  }

 private:
  const int fd_;
  const bool owned_;
};

class CaptureSink final : public LineSink {
 public:
  explicit CaptureSink(LogCapture& capture) : capture_(capture) {}

 protected:
  bool Write(std::string_view line) override {
    capture_.Append(line);
    return true;
  }

 private:
  LogCapture& capture_;
};

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

struct Logger::Impl {
  Impl(std::shared_ptr<LineSink> line_sink, const Clock& log_clock,
       LogLevel level)
      : sink(std::move(line_sink)), clock(log_clock), logger("", sink) {
    logger.set_formatter(std::make_unique<spdlog::pattern_formatter>(
        "%v", spdlog::pattern_time_type::utc, "\n"));
    logger.set_level(kSpdlogLevels[static_cast<size_t>(level)]);
  }

  std::shared_ptr<LineSink> sink;
  const Clock& clock;
  spdlog::logger logger;
};

Logger::Logger(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Logger::Logger(Logger&&) noexcept = default;
Logger& Logger::operator=(Logger&&) noexcept = default;
Logger::~Logger() = default;

Logger Logger::ToStderr(const Clock& clock, LogLevel level) {
  return ToDescriptor(STDERR_FILENO, clock, level);
}

Logger Logger::ToDescriptor(int fd, const Clock& clock, LogLevel level) {
  return Logger(std::make_unique<Impl>(
      std::make_shared<DescriptorSink>(fd, /*owned=*/false), clock, level));
}

Result<Logger> Logger::ToFile(const std::string& path, const Clock& clock,
                              LogLevel level) {
  const int fd =
      open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) {
    return Unexpected(nephila::Error::FromErrno("open log " + path, errno));
  }
  return Logger(std::make_unique<Impl>(
      std::make_shared<DescriptorSink>(fd, /*owned=*/true), clock, level));
}

Logger Logger::ToMemory(LogCapture& capture, const Clock& clock,
                        LogLevel level) {
  return Logger(std::make_unique<Impl>(std::make_shared<CaptureSink>(capture),
                                       clock, level));
}

uint64_t Logger::lost_lines() const { return impl_->sink->lost_lines(); }

void Logger::Log(LogLevel level, fmt::string_view format,
                 fmt::format_args args) {
  const auto spdlog_level = kSpdlogLevels[static_cast<size_t>(level)];
  if (!impl_->logger.should_log(spdlog_level)) return;
  std::string message = fmt::vformat(format, args);
  if (message.size() > kMaxMessageBytes) {
    message.resize(kMaxMessageBytes);
    message += "...";
  }
  // The time and the level are put in here: spdlog spells warn "warning", and
  // its clock is not ours.
  impl_->logger.log(spdlog_level,
                    spdlog::string_view_t(fmt::format(
                        "{} {} {}", FormatUtc(impl_->clock.WallNow()),
                        LogLevelName(level), EscapeForTerminal(message))));
}

}  // namespace nephila
