#include "check/log_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "check/journal_check.h"
#include "store/log_line.h"

namespace nephila::check {
namespace {

constexpr size_t kMostLine = size_t{1} << 20;
constexpr size_t kTimestampDigits = 17;
constexpr int kNameFound = 1;

// "20260102030405678" of "2026-01-02T03:04:05.678901Z".
std::string BeginOf(std::string_view date) {
  std::string digits;
  for (const char c : date) {
    if (IsDigit(c) && digits.size() < kTimestampDigits) digits += c;
  }
  return digits;
}

}  // namespace

LogCheck::LogCheck(FileSystem& fs, std::string path, uint64_t end,
                   std::string failures_since, Findings* findings)
    : fs_(fs),
      path_(std::move(path)),
      end_(end),
      failures_since_(std::move(failures_since)),
      findings_(*findings) {
  Open();
}

LogCheck::~LogCheck() = default;

void LogCheck::Open() {
  auto file = fs_.Open(path_, OpenMode::kRead);
  if (!file.has_value()) {
    if (end_ > 0) Damaged(0, file.error().message);
    return;
  }
  const auto size = (*file)->Size();
  if (!size.has_value()) return Damaged(0, size.error().message);
  size_ = *size;
  file_ = *std::move(file);
  reader_ = std::make_unique<store::LineReader>(*file_, kMostLine);
  if (size_ < end_) {
    Damaged(size_,
            fmt::format("ends here, and a checkpoint has seen {} bytes", end_));
  }
}

void LogCheck::Damaged(uint64_t offset, std::string what) {
  ++counts_.damages;
  findings_.Report(path_, offset, std::move(what));
}

void LogCheck::Fill(size_t count) {
  std::string text;
  while (reader_ != nullptr && ahead_.size() < count) {
    const auto more = reader_->Next(&text);
    if (!more.has_value()) {
      Damaged(offset_, more.error().message);
      reader_.reset();
      return;
    }
    if (!*more) {
      reader_.reset();
      return;
    }
    const uint64_t offset = offset_;
    offset_ += text.size() + 1;
    TakeLine(text, offset);
  }
}

void LogCheck::TakeLine(const std::string& text, uint64_t offset) {
  ++counts_.lines;
  const auto line = store::ParseLogLine(text);
  const bool is_cut = offset + text.size() >= size_;
  if (!line || is_cut) {
    if (offset >= end_) {
      findings_.Note(path_, offset,
                     "no whole line: a crash left it, the next start cuts it");
    } else {
      Damaged(offset, "not a line of crawl.log");
    }
    return;
  }
  if (line->status <= 0) {
    ++counts_.failures;
    if (line->made >= failures_since_) failures_.insert(HashOf(line->url));
    return;
  }
  Line& kept = ahead_.emplace_back();
  kept.offset = offset;
  kept.status = line->status;
  kept.bytes = line->bytes;
  kept.url = line->url;
  kept.hop_path = line->hop_path;
  kept.begin = line->begin;
  kept.millis = line->millis;
  kept.digest = line->digest;
}

void LogCheck::Match(const store::Unit& unit, const std::string& archive) {
  const std::string url = store::LogColumn(unit.url);
  const std::string begin = BeginOf(unit.date);
  const auto is_it = [&](const Line& line) {
    return line.url == url && line.begin == begin;
  };
  Fill(1);
  if (ahead_.empty() || !is_it(ahead_.front())) Fill(kLookAhead);
  const auto found = std::find_if(ahead_.begin(), ahead_.end(), is_it);
  if (found == ahead_.end()) {
    ++counts_.without_line;
    left_.push_back(
        {url, begin, fmt::format("at offset {} of {}", unit.offset, archive)});
    if (left_.size() > kLookAhead) left_.pop_front();
    return;
  }
  const auto passed = found - ahead_.begin();
  for (auto i = 0; i < passed; ++i) {
    PassOver(ahead_.front());
    ahead_.pop_front();
  }
  Compare(ahead_.front(), unit, archive);
  ahead_.pop_front();
}

void LogCheck::PassOver(const Line& line) {
  const auto is_name = [](std::string_view url) {
    return url.starts_with("dns:");
  };
  const auto found =
      std::find_if(left_.begin(), left_.end(), [&](const Left& unit) {
        return is_name(unit.url) == is_name(line.url) &&
               (unit.url == line.url || unit.begin == line.begin);
      });
  if (found == left_.end()) {
    ++counts_.without_unit;
    return;
  }
  --counts_.without_line;
  Damaged(line.offset,
          fmt::format("says {} {}, and the record {} is {} {}", line.begin,
                      line.url, found->place, found->begin, found->url));
  left_.erase(found);
}

void LogCheck::Compare(const Line& line, const store::Unit& unit,
                       const std::string& archive) {
  const auto differ = [&](std::string_view column, const std::string& said,
                          const std::string& is) {
    if (said == is) return;
    Damaged(line.offset,
            fmt::format("{}: {} is {}, and {} in the record at offset {} of {}",
                        line.url, column, said, is, unit.offset, archive));
  };
  if (unit.kind == store::UnitKind::kName) {
    differ("status", std::to_string(line.status), std::to_string(kNameFound));
    return;
  }
  differ("status", std::to_string(line.status), std::to_string(unit.status));
  differ("hop path", line.hop_path, store::LogColumn(unit.hop_path));
  differ("time", line.millis, unit.fetch_ms);
  differ("digest", line.digest, store::LogColumn(unit.payload_digest));
  if (line.bytes && unit.payload_bytes) {
    differ("size", std::to_string(*line.bytes),
           std::to_string(*unit.payload_bytes));
  }
}

void LogCheck::Finish() {
  do {
    for (const Line& line : ahead_) PassOver(line);
    ahead_.clear();
    Fill(kLookAhead);
  } while (!ahead_.empty());
}

}  // namespace nephila::check
