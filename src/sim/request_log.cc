#include "sim/request_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

namespace nephila::sim {
namespace {

constexpr size_t kMuch = size_t{64} << 10;

// A word of the log: never empty, nothing that ends it or the line. Requests
// hold only graphic ASCII (http_request.h), names of DNS may hold anything.
void AppendWord(std::string_view word, std::string* out) {
  out->append(" ");
  if (word.empty()) out->append("-");
  for (char c : word) {
    if (c > ' ' && c < '\x7f') {
      out->push_back(c);
    } else {
      fmt::format_to(std::back_inserter(*out), "%{:02X}",
                     static_cast<unsigned char>(c));
    }
  }
}

}  // namespace

Result<std::unique_ptr<RequestLog>> RequestLog::Create(FileSystem& fs,
                                                       const std::string& path,
                                                       const Clock& clock) {
  NEPHILA_TRY(auto file, fs.Open(path, OpenMode::kCreate));
  NEPHILA_RETURN_IF_ERROR(file->Truncate(0));
  std::unique_ptr<RequestLog> log(new RequestLog(std::move(file), clock));
  {
    MutexLock lock(log->mutex_);
    log->lines_ = "# nephila sim log 1\n";
  }
  return log;
}

RequestLog::~RequestLog() {
  IgnoreError(Flush(), "who wants to know has called Flush");
}

int64_t RequestLog::Micros(MonoTime time) const {
  return std::chrono::duration_cast<std::chrono::microseconds>(time - begin_)
      .count();
}

int64_t RequestLog::Stamp(std::optional<MonoTime> when) {
  last_us_ = std::max(last_us_, Micros(when ? *when : clock_.Now()));
  return last_us_;
}

int64_t RequestLog::Accepted(uint64_t connection, std::string_view address) {
  MutexLock lock(mutex_);
  const int64_t time = Stamp(std::nullopt);
  fmt::format_to(std::back_inserter(lines_), "A {} {} {}\n", time, connection,
                 address);
  WriteIfMuch();
  return time;
}

void RequestLog::Requested(uint64_t connection, int64_t accepted,
                           std::string_view address, std::string_view host,
                           std::string_view method, std::string_view path) {
  MutexLock lock(mutex_);
  fmt::format_to(std::back_inserter(lines_), "R {} {} {} {}",
                 Stamp(std::nullopt), connection, accepted, address);
  AppendWord(host, &lines_);
  AppendWord(method, &lines_);
  AppendWord(path, &lines_);
  lines_ += '\n';
  WriteIfMuch();
}

void RequestLog::Ended(uint64_t connection, int status, uint64_t bytes,
                       std::string_view end, std::optional<MonoTime> when) {
  MutexLock lock(mutex_);
  fmt::format_to(std::back_inserter(lines_), "E {} {} {} {} {}\n", Stamp(when),
                 connection, status, bytes, end);
  WriteIfMuch();
}

void RequestLog::Asked(std::string_view type, std::string_view name,
                       std::string_view answer) {
  MutexLock lock(mutex_);
  fmt::format_to(std::back_inserter(lines_), "D {}", Micros(clock_.Now()));
  AppendWord(type, &lines_);
  AppendWord(name, &lines_);
  AppendWord(answer, &lines_);
  lines_ += '\n';
  WriteIfMuch();
}

Status RequestLog::Flush() {
  MutexLock lock(mutex_);
  return Write();
}

void RequestLog::WriteIfMuch() {
  if (lines_.size() < kMuch) return;
  IgnoreError(Write(), "it sticks until Flush");
}

Status RequestLog::Write() {
  if (status_) {
    status_ = file_->Write(written_, std::as_bytes(std::span(lines_)));
  }
  written_ += lines_.size();
  lines_.clear();
  return status_;
}

}  // namespace nephila::sim
