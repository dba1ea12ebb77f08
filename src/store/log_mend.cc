#include "store/log_mend.h"

#include <charconv>
#include <chrono>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "item/fetched_page.h"
#include "store/http_message.h"
#include "store/line_file.h"
#include "store/warc_reader.h"

namespace nephila::store {
namespace {

using item::FetchKind;
using item::FetchOutcome;

constexpr size_t kLongestLine = size_t{1} << 20;
constexpr size_t kLongestMetadata = size_t{1} << 20;

// Null for what is no number.
template <typename T>
std::optional<T> Number(std::string_view text) {
  T value{};
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

// "2026-01-02T03:04:05.678901Z", as this program writes it.
WallTime TimeOf(std::string_view date) {
  const auto part = [date](size_t at, size_t size) {
    return date.size() < at + size
               ? 0
               : Number<int>(date.substr(at, size)).value_or(0);
  };
  const std::chrono::year_month_day day{
      std::chrono::year(part(0, 4)),
      std::chrono::month(static_cast<unsigned>(part(5, 2))),
      std::chrono::day(static_cast<unsigned>(part(8, 2)))};
  if (!day.ok()) return WallTime{};
  return WallTime(std::chrono::sys_days(day).time_since_epoch()) +
         std::chrono::hours(part(11, 2)) + std::chrono::minutes(part(14, 2)) +
         std::chrono::seconds(part(17, 2)) +
         std::chrono::microseconds(part(20, 6));
}

item::Truncation TruncationOf(std::string_view name) {
  for (const item::Truncation truncation :
       {item::Truncation::kLength, item::Truncation::kTime,
        item::Truncation::kDisconnect}) {
    if (name == item::TruncationName(truncation)) return truncation;
  }
  return name.empty() ? item::Truncation::kNone
                      : item::Truncation::kUnspecified;
}

// The line of a unit, gathered from its records.
class UnitLine {
 public:
  explicit UnitLine(uint32_t thread) { page_.thread = thread; }

  // A response, a revisit, or the answer of a DNS.
  Status TakeMain(WarcReader& reader) {
    const WarcHeader& header = reader.header();
    const RecordType type = header.type();
    url_ = header.target_uri();
    page_.begin = TimeOf(header.date());
    digest_ = header.payload_digest();
    facts_.revisit = type == RecordType::kRevisit;
    if (!facts_.revisit) {
      page_.truncation = TruncationOf(header.Get("WARC-Truncated"));
    }
    if (type == RecordType::kResource) {
      page_.kind = FetchKind::kDns;
      page_.outcome = FetchOutcome::kDnsAnswer;
      media_type_ = "text/dns";
      facts_.bytes = reader.block_length();
      return {};
    }
    page_.outcome = FetchOutcome::kResponse;
    HttpBlock block(HttpKind::kResponse);
    uint64_t payload = 0;
    const auto count = [&payload](std::string_view piece) {
      payload += piece.size();
    };
    while (true) {
      NEPHILA_TRY(const std::string_view piece, reader.ReadBlock());
      if (piece.empty()) break;
      block.Feed(piece, count);
    }
    block.Finish(count);
    if (block.has_head()) {
      facts_.http_status = block.head().status;
      media_type_ = block.head().media_type();
    }
    // What a revisit leaves out is not known.
    if (!facts_.revisit) facts_.bytes = payload;
    return {};
  }

  Status TakeMetadata(WarcReader& reader) {
    std::string text;
    while (true) {
      NEPHILA_TRY(const std::string_view piece, reader.ReadBlock());
      if (piece.empty()) break;
      if (text.size() < kLongestMetadata) text.append(piece);
    }
    std::string_view rest = text;
    while (!rest.empty()) {
      const size_t end = rest.find("\r\n");
      TakeField(rest.substr(0, end));
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 2);
    }
    return {};
  }

  std::string Format() {
    page_.url = url_;
    page_.via = via_;
    page_.hop_path = hops_;
    page_.source_tag = source_;
    facts_.now = page_.begin + page_.duration;
    facts_.media_type = media_type_;
    facts_.digest = digest_;
    return FormatLogLine(page_, facts_);
  }

 private:
  void TakeField(std::string_view field) {
    const size_t colon = field.find(": ");
    if (colon == std::string_view::npos) return;
    const std::string_view name = field.substr(0, colon);
    const std::string_view value = field.substr(colon + 2);
    if (name == "fetchTimeMs") {
      page_.duration =
          std::chrono::milliseconds(Number<int64_t>(value).value_or(0));
    } else if (name == "via") {
      via_ = value;
    } else if (name == "hopsFromSeed") {
      hops_ = value;
    } else if (name == "sourceTag") {
      source_ = value;
    } else if (name == "attempt") {
      page_.attempt = Number<uint32_t>(value).value_or(1);
    }
  }

  item::FetchedPage page_;
  LogFacts facts_;
  std::string url_;
  std::string via_;
  std::string hops_;
  std::string source_;
  std::string media_type_;
  std::string digest_;
};

// Calls `give` for the line of each unit from `offset` on.
Status ReadUnits(FileSystem& fs, const std::string& path, uint64_t offset,
                 uint32_t thread,
                 const std::function<Status(std::string)>& give) {
  NEPHILA_TRY(const auto reader, WarcReader::Open(fs, path));
  if (offset > 0) reader->Seek(offset);
  auto unit = std::make_unique<UnitLine>(thread);
  while (true) {
    NEPHILA_TRY(const ReadState state, reader->Next());
    if (state == ReadState::kEnd) return {};
    if (state != ReadState::kRecord) break;
    const RecordType type = reader->header().type();
    const bool is_metadata = type == RecordType::kMetadata;
    if (is_metadata) {
      NEPHILA_RETURN_IF_ERROR(unit->TakeMetadata(*reader));
    } else if (type == RecordType::kResponse || type == RecordType::kRevisit ||
               type == RecordType::kResource) {
      NEPHILA_RETURN_IF_ERROR(unit->TakeMain(*reader));
    }
    NEPHILA_TRY(const ReadState end, reader->Finish());
    if (end != ReadState::kRecord) break;
    if (!is_metadata && type != RecordType::kResource) continue;
    NEPHILA_RETURN_IF_ERROR(give(unit->Format()));
    unit = std::make_unique<UnitLine>(thread);
  }
  return Unexpected(
      Error{ErrorCode::kCorruption, path + ": " + reader->damage()});
}

// What tells lines apart: URL and begin, of one with a record; else nothing.
std::string KeyOf(std::string_view line) {
  std::vector<std::string_view> columns;
  while (!line.empty()) {
    const size_t size = line.find_first_of(" \n");
    if (size != 0) columns.push_back(line.substr(0, size));
    if (size == std::string_view::npos) break;
    line.remove_prefix(size + 1);
  }
  constexpr size_t kStatus = 1;
  constexpr size_t kUrl = 3;
  constexpr size_t kBegin = 8;
  if (columns.size() <= kBegin || columns[kStatus].starts_with('-')) return "";
  const std::string_view begin = columns[kBegin];
  std::string key(columns[kUrl]);
  return key.append(" ").append(begin.substr(0, begin.find('+')));
}

// The lines of records that the log has, one by one.
class LoggedRecords {
 public:
  LoggedRecords(std::unique_ptr<File> file, uint64_t begin)
      : file_(std::move(file)),
        lines_(*file_, kLongestLine, begin),
        next_(begin) {}

  // The next one's key, "" at the end; begin() is then where its line is.
  Result<std::string> Next() {
    while (true) {
      begin_ = next_;
      NEPHILA_TRY(const bool is_there, lines_.Next(&line_));
      if (!is_there) return std::string();
      next_ += line_.size() + 1;
      std::string key = KeyOf(line_);
      if (!key.empty()) return key;
    }
  }
  uint64_t begin() const { return begin_; }

 private:
  const std::unique_ptr<File> file_;
  LineReader lines_;
  uint64_t begin_ = 0;
  uint64_t next_;
  std::string line_;
};

}  // namespace

Status MendLog(FileSystem& fs, WarcWriter& archive, Position from,
               const LogPlace& place, CrawlLog* log) {
  NEPHILA_TRY(auto file, fs.Open(place.path, OpenMode::kRead));
  LoggedRecords logged(std::move(file), place.begin);
  bool is_behind = false;  // the log has no more of them
  const auto take = [&](const std::string& line) -> Status {
    if (!is_behind) {
      NEPHILA_TRY(const std::string key, logged.Next());
      if (key == KeyOf(line)) return {};
      is_behind = true;
      NEPHILA_RETURN_IF_ERROR(log->Cut(logged.begin()));
    }
    NEPHILA_RETURN_IF_ERROR(log->MakeRoom());
    log->Append(line);
    return {};
  };
  NEPHILA_TRY(const auto files, archive.FilesFrom(from.serial));
  for (const auto& [serial, path] : files) {
    const uint64_t offset = serial == from.serial ? from.offset : 0;
    NEPHILA_RETURN_IF_ERROR(ReadUnits(fs, path, offset, place.thread, take));
  }
  if (is_behind) return {};
  NEPHILA_TRY(const std::string more, logged.Next());
  return more.empty() ? Status() : log->Cut(logged.begin());
}

}  // namespace nephila::store
