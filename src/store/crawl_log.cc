#include "store/crawl_log.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "base/check.h"
#include "store/archive_name.h"
#include "store/log_line.h"
#include "store/write_again.h"

namespace nephila::store {
namespace {

using item::FetchOutcome;

// Of Heritrix's FetchStatusCodes.
constexpr int kUnattempted = 0;
constexpr int kDnsSuccess = 1;
constexpr int kDomainUnresolvable = -1;
constexpr int kConnectFailed = -2;
constexpr int kConnectLost = -3;
constexpr int kTimeout = -4;
constexpr int kRuntimeException = -5;
constexpr int kUnfetchableUri = -7;
constexpr int kTooManyRetries = -8;
constexpr int kRobotsPrerequisiteFailure = -61;
constexpr int kOutOfScope = -5000;
constexpr int kBlockedByUser = -5001;
constexpr int kBlockedByProcessor = -5002;
constexpr int kBlockedByQuota = -5003;
constexpr int kProcessingThreadKilled = -7000;
constexpr int kRobotsPrecluded = -9998;

void AppendColumn(std::string_view text, std::string* out) {
  const auto is_plain = [](char c) { return c > ' ' && c < 0x7F; };
  if (!text.empty() && std::ranges::all_of(text, is_plain)) {
    *out += text;
  } else {
    *out += LogColumn(text);
  }
}

void AppendRight(std::string_view text, size_t width, std::string* out) {
  out->append(width - std::min(width, text.size()), ' ').append(text);
}

std::string_view TruncationNote(item::Truncation truncation) {
  switch (truncation) {
    case item::Truncation::kNone:
      return "";
    case item::Truncation::kLength:
      return "lenTrunc";
    case item::Truncation::kTime:
      return "timeTrunc";
    case item::Truncation::kDisconnect:
      return "disconnectTrunc";
    case item::Truncation::kUnspecified:
      return "trunc";
    case item::Truncation::kPool:
      return "poolTrunc";
  }
  NEPHILA_CHECK(false);
}

// Separated by commas, which are therefore escaped inside of one.
void AppendNotes(const item::FetchedPage& page, const LogFacts& facts,
                 std::string* out) {
  const size_t begin = out->size();
  const auto add = [&](std::string_view note) {
    if (note.empty()) return;
    if (out->size() > begin) *out += ',';
    std::string column;
    AppendColumn(note, &column);
    for (const char c : column) {
      if (c == ',') {
        *out += "%2C";
      } else {
        *out += c;
      }
    }
  };
  if (page.attempt > 1) add(fmt::format("{}t", page.attempt));
  add(TruncationNote(page.truncation));
  if (facts.revisit) {
    constexpr int kNotModified = 304;
    add(facts.http_status == kNotModified ? "duplicate:server-not-modified"
                                          : "duplicate:digest");
  }
  for (const std::string_view note : page.annotations) add(note);
  // What Heritrix's codes do not tell apart.
  if (page.outcome != FetchOutcome::kResponse &&
      page.outcome != FetchOutcome::kDnsAnswer) {
    add(item::FetchOutcomeName(page.outcome));
  }
  if (out->size() == begin) *out += '-';
}

// Behind the last line from `begin` on that is whole and has none of the zeros
// that a loss of power may leave.
Result<uint64_t> EndOfLines(File& file, uint64_t begin) {
  std::string block(CrawlLog::kBufferBytes, '\0');
  uint64_t end = begin;
  for (uint64_t at = begin;;) {
    NEPHILA_TRY(const size_t size,
                file.Read(at, std::as_writable_bytes(std::span(block))));
    for (size_t i = 0; i < size; ++i) {
      if (block[i] == '\n') {
        end = at + i + 1;
      } else if (static_cast<uint8_t>(block[i]) < ' ') {
        return end;
      }
    }
    if (size < block.size()) return end;
    at += size;
  }
}

}  // namespace

int HeritrixStatus(FetchOutcome outcome, int http_status) {
  switch (outcome) {
    case FetchOutcome::kResponse:
      return http_status;
    case FetchOutcome::kDnsAnswer:
      return kDnsSuccess;
    case FetchOutcome::kDnsFailed:
    case FetchOutcome::kNoSuchHost:
      return kDomainUnresolvable;
    case FetchOutcome::kConnectFailed:
    case FetchOutcome::kTlsFailed:
    case FetchOutcome::kProxyFailed:
    case FetchOutcome::kHostDead:
      return kConnectFailed;
    case FetchOutcome::kConnectionLost:
    case FetchOutcome::kBadResponse:
    case FetchOutcome::kHeadTooLarge:
      return kConnectLost;
    case FetchOutcome::kTimeout:
      return kTimeout;
    case FetchOutcome::kAddressRefused:
      return kUnfetchableUri;
    case FetchOutcome::kRobotsDenied:
      return kRobotsPrecluded;
    case FetchOutcome::kRobotsUnreachable:
      return kRobotsPrerequisiteFailure;
    case FetchOutcome::kOutOfScope:
      return kOutOfScope;
    case FetchOutcome::kBlocked:
      return kBlockedByUser;
    case FetchOutcome::kUnwanted:
      return kBlockedByProcessor;
    case FetchOutcome::kOverBudget:
      return kBlockedByQuota;
    case FetchOutcome::kTooManyRetries:
    case FetchOutcome::kTooManyRedirects:
      return kTooManyRetries;
    case FetchOutcome::kInterrupted:
      return kProcessingThreadKilled;
    case FetchOutcome::kInternalError:
      return kRuntimeException;
  }
  return kUnattempted;
}

std::string FormatLogLine(const item::FetchedPage& page,
                          const LogFacts& facts) {
  const auto millis =
      std::chrono::floor<std::chrono::milliseconds>(page.duration);
  std::string line;
  line.reserve(page.url.size() + page.via.size() + 200);
  line.append(FormatUtc(facts.now)).append(" ");
  AppendRight(std::to_string(HeritrixStatus(page.outcome, facts.http_status)),
              5, &line);
  line += ' ';
  AppendRight(facts.bytes ? std::to_string(*facts.bytes) : "-", 10, &line);
  line += ' ';
  AppendColumn(page.url, &line);
  for (const std::string_view column :
       {page.hop_path, page.via,
        facts.media_type.substr(0, facts.media_type.find(';'))}) {
    line += ' ';
    AppendColumn(column, &line);
  }
  line += fmt::format(" #{:03} ", page.thread);
  if (page.begin == WallTime{}) {
    line += '-';
  } else {
    line.append(Timestamp17(page.begin)).append("+");
    line.append(std::to_string(millis.count()));
  }
  for (const std::string_view column : {facts.digest, page.source_tag}) {
    line += ' ';
    AppendColumn(column, &line);
  }
  line += ' ';
  AppendNotes(page, facts, &line);
  line += '\n';
  return line;
}

CrawlLog::CrawlLog(FileSystem& fs, std::string path, std::unique_ptr<File> file,
                   uint64_t end)
    : fs_(fs), path_(std::move(path)), file_(std::move(file)), end_(end) {}

Result<std::unique_ptr<CrawlLog>> CrawlLog::OpenAt(FileSystem& fs,
                                                   const std::string& path,
                                                   uint64_t durable_bytes) {
  NEPHILA_RETURN_IF_ERROR(NameAgain(fs, path));
  NEPHILA_TRY(auto file, fs.Open(path, OpenMode::kCreate));
  NEPHILA_TRY(const uint64_t size, file->Size());
  if (size < durable_bytes) {
    return Unexpected(
        Error{ErrorCode::kCorruption,
              fmt::format("{}: {} bytes, but a checkpoint has seen {}", path,
                          size, durable_bytes)});
  }
  NEPHILA_TRY(const uint64_t end, EndOfLines(*file, durable_bytes));
  if (end < size) NEPHILA_RETURN_IF_ERROR(file->Truncate(end));
  NEPHILA_RETURN_IF_ERROR(WriteAgain(*file, durable_bytes, end));
  return std::unique_ptr<CrawlLog>(
      new CrawlLog(fs, path, std::move(file), end));
}

Unexpected<Error> CrawlLog::Break(Error error) {
  // A sync may fail for want of space too, and is not to be tried again.
  if (error.code == ErrorCode::kNoSpace) error.code = ErrorCode::kIo;
  broken_ = error;
  return Unexpected(std::move(error));
}

Status CrawlLog::MakeRoom() {
  if (broken_) return Unexpected(*broken_);
  if (buffer_.size() < kBufferBytes) return {};
  Status flushed = Flush();
  if (flushed || broken_) return flushed;
  return buffer_.size() < kLongestBacklog ? Status() : flushed;
}

void CrawlLog::Append(std::string_view line) { buffer_ += line; }

Status CrawlLog::Cut(uint64_t size) {
  if (Status cut = file_->Truncate(size); !cut) {
    return Break(std::move(cut).error());
  }
  end_ = size;
  return {};
}

Status CrawlLog::Flush() {
  if (broken_) return Unexpected(*broken_);
  if (buffer_.empty()) return {};
  Status written = file_->Write(end_, std::as_bytes(std::span(buffer_)));
  if (written) {
    end_ += buffer_.size();
    buffer_.clear();
    return {};
  }
  if (written.error().code != ErrorCode::kNoSpace) {
    return Break(std::move(written).error());
  }
  if (Status cut = file_->Truncate(end_); !cut) {
    return Break(std::move(cut).error());
  }
  return written;
}

Status CrawlLog::Sync() {
  NEPHILA_RETURN_IF_ERROR(Flush());
  if (Status synced = file_->Sync(); !synced) {
    return Break(std::move(synced).error());
  }
  if (!sync_folder_) return {};
  if (Status synced = fs_.SyncDir(ParentDir(path_)); !synced) {
    return Break(std::move(synced).error());
  }
  sync_folder_ = false;
  return {};
}

}  // namespace nephila::store
