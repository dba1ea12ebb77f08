#include "job/history.h"

#include <algorithm>
#include <limits>
#include <map>
#include <span>

#include "base/bytes.h"
#include "base/hash.h"

namespace nephila::job {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kMagic = "nephila history";
constexpr uint64_t kVersion = 1;
constexpr uint8_t kNames = 1;
constexpr uint8_t kRecord = 2;
constexpr uint32_t kMostFrameBytes = uint32_t{1} << 20;
constexpr size_t kMostNameBytes = 256;
// Names are told again after so many records: where they are damaged, those
// behind them say nothing.
constexpr size_t kNamesEvery = 64;
// With more runs than this their ends are thinned like all else.
constexpr size_t kRunShare = 8;

uint64_t HeadSalt() { return KeyedHash(kMagic, 0); }
// Any frame of a job may stand anywhere in its file, so that what is behind a
// damaged one can be found.
uint64_t FrameSalt(uint64_t salt) { return KeyedHash(kMagic, salt); }

std::string Path(const std::string& dir) {
  return dir + "/" + std::string(kHistoryName);
}

std::span<const std::byte> BytesOf(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

void AppendHead(uint64_t salt, milliseconds spacing, uint64_t rewrites,
                std::string& out) {
  std::string payload;
  ByteWriter writer(payload);
  writer.Sized(kMagic);
  writer.Varint(kVersion);
  writer.U64(FrameSalt(salt));
  writer.Varint(static_cast<uint64_t>(spacing.count()));
  writer.Varint(rewrites);
  AppendFrame(out, payload, HeadSalt());
}

void AppendNames(const HistoryNumbers& numbers, uint64_t salt,
                 std::string& out) {
  std::string payload;
  ByteWriter writer(payload);
  writer.U8(kNames);
  writer.Varint(numbers.size());
  for (const auto& [name, number] : numbers) writer.Sized(name);
  AppendFrame(out, payload, FrameSalt(salt));
}

void AppendRecord(const HistoryRecord& record, uint64_t salt,
                  std::string& out) {
  std::string payload;
  ByteWriter writer(payload);
  writer.U8(kRecord);
  writer.Varint(record.run);
  const auto when = std::chrono::floor<milliseconds>(record.when);
  writer.U64(static_cast<uint64_t>(when.time_since_epoch().count()));
  writer.Varint(static_cast<uint64_t>(record.elapsed.count()));
  writer.Varint(record.numbers.size());
  for (const auto& [name, number] : record.numbers) writer.Varint(number);
  AppendFrame(out, payload, FrameSalt(salt));
}

bool HasNames(const HistoryNumbers& numbers,
              const std::vector<std::string>& names) {
  return std::ranges::equal(numbers, names, {},
                            &HistoryNumbers::value_type::first);
}

std::vector<std::string> NamesOf(const HistoryNumbers& numbers) {
  std::vector<std::string> names;
  names.reserve(numbers.size());
  for (const auto& [name, number] : numbers) names.push_back(name);
  return names;
}

}  // namespace

uint64_t HistoryRecord::Get(std::string_view name) const {
  const auto found =
      std::ranges::find(numbers, name, &HistoryNumbers::value_type::first);
  return found == numbers.end() ? 0 : found->second;
}

std::optional<HistoryMark> ReadHistoryMark(std::string_view bytes) {
  ByteReader reader(bytes);
  const auto rewrites = reader.Varint();
  const auto size = reader.Varint();
  if (!rewrites || !size || !reader.AtEnd()) return std::nullopt;
  return HistoryMark{*rewrites, *size};
}

Result<HistoryReader> HistoryReader::Open(FileSystem& fs,
                                          const std::string& dir,
                                          uint64_t salt) {
  const std::string path = Path(dir);
  NEPHILA_TRY(std::string bytes, ReadWholeFile(fs, path, kMostHistoryBytes));
  return Read(std::move(bytes), path, salt);
}

Result<HistoryReader> HistoryReader::Read(std::string bytes,
                                          const std::string& path,
                                          uint64_t salt) {
  HistoryReader reader;
  reader.bytes_ = std::move(bytes);
  uint64_t version = kVersion;
  const bool is_one = reader.ReadHead(salt, &version);
  if (version > kVersion) {
    return Unexpected(Error{ErrorCode::kUnsupported,
                            path + ": version " + std::to_string(version) +
                                " of the history is that of a later nephila"});
  }
  if (!is_one) {
    return Unexpected(
        Error{ErrorCode::kCorruption,
              path + ": does not begin as the history of this job"});
  }
  return reader;
}

bool HistoryReader::ReadHead(uint64_t salt, uint64_t* version) {
  ByteReader frames(bytes_);
  const auto payload = ReadFrame(frames, HeadSalt(), kMostFrameBytes);
  if (!payload) return false;
  ByteReader reader(*payload);
  const auto magic = reader.Sized();
  const auto read_version = reader.Varint();
  if (!magic || *magic != kMagic || !read_version) return false;
  *version = *read_version;
  const auto frame_salt = reader.U64();
  const auto spacing = reader.Varint();
  const auto rewrites = reader.Varint();
  if (!frame_salt || *frame_salt != FrameSalt(salt) || !spacing || !rewrites ||
      !reader.AtEnd()) {
    return false;
  }
  constexpr auto kMostSpacing = uint64_t{1} << 40;
  spacing_ = milliseconds(std::min(*spacing, kMostSpacing));
  salt_ = *frame_salt;
  rewrites_ = *rewrites;
  at_ = end_ = frames.position();
  return true;
}

std::optional<std::string_view> HistoryReader::NextFrame() {
  // A length has a checksum of its own: one in 4 billion places that are no
  // frame pretends to be one, and then its payload does not fit.
  for (uint64_t at = at_; at < bytes_.size(); ++at) {
    ByteReader frames(std::string_view(bytes_).substr(at));
    const auto payload = ReadFrame(frames, salt_, kMostFrameBytes);
    if (!payload) continue;
    if (at != at_) damaged_.push_back(at_);
    at_ = at + frames.position();
    return *payload;
  }
  return std::nullopt;
}

bool HistoryReader::Next(HistoryRecord* record) {
  // Records that have lost their names are one damage with them.
  const size_t before = damaged_.size();
  const auto merge = [&] {
    damaged_.resize(std::min(damaged_.size(), before + 1));
  };
  while (const auto payload = NextFrame()) {
    const uint64_t begin = end_;
    end_ = at_;
    if (!payload->empty()) {
      const auto kind = static_cast<uint8_t>(payload->front());
      if (kind == kRecord && ReadRecord(*payload, record)) {
        merge();
        return true;
      }
      if (kind == kNames && ReadNames(*payload)) continue;
    }
    damaged_.push_back(begin);
  }
  merge();
  return false;
}

bool HistoryReader::ReadNames(std::string_view payload) {
  ByteReader reader(payload.substr(1));
  const auto count = reader.Varint();
  if (!count || *count > kMostHistoryNumbers) return false;
  std::vector<std::string> names;
  for (uint64_t i = 0; i < *count; ++i) {
    const auto name = reader.Sized();
    if (!name || name->size() > kMostNameBytes) return false;
    names.emplace_back(*name);
  }
  if (!reader.AtEnd()) return false;
  names_ = std::move(names);
  return true;
}

// Its names may have been in a frame that is damaged: then they are those of
// before, and a record of another length has none.
bool HistoryReader::ReadRecord(std::string_view payload,
                               HistoryRecord* record) const {
  ByteReader reader(payload.substr(1));
  const auto run = reader.Varint();
  const auto when = reader.U64();
  const auto elapsed = reader.Varint();
  const auto count = reader.Varint();
  constexpr auto kMost =
      static_cast<uint64_t>(std::numeric_limits<int64_t>::max() / 1'000'000);
  if (!run || !when || *when > kMost || !elapsed || *elapsed > kMost ||
      !count || *count != names_.size()) {
    return false;
  }
  record->run = *run;
  record->when = WallTime(milliseconds(*when));
  record->elapsed = milliseconds(*elapsed);
  record->numbers.clear();
  for (const std::string& name : names_) {
    const auto number = reader.Varint();
    if (!number) return false;
    record->numbers.emplace_back(name, *number);
  }
  return reader.AtEnd();
}

History::History(FileSystem& fs, const std::string& dir, uint64_t salt,
                 size_t most_records)
    : fs_(fs),
      dir_(dir),
      path_(Path(dir)),
      salt_(salt),
      most_records_(std::max<size_t>(most_records, 4)) {}

Result<std::unique_ptr<History>> History::Open(FileSystem& fs,
                                               const std::string& dir,
                                               uint64_t salt,
                                               size_t most_records) {
  std::unique_ptr<History> history(new History(fs, dir, salt, most_records));
  auto reader = HistoryReader::Open(fs, dir, salt);
  if (reader.has_value()) {
    NEPHILA_RETURN_IF_ERROR(history->Load(*std::move(reader)));
    return history;
  }
  NEPHILA_RETURN_IF_ERROR(history->BeginAnew(reader.error()));
  return history;
}

Status History::BeginAnew(const Error& why) {
  file_.reset();
  if (why.code != ErrorCode::kNotFound) {
    const bool is_later = why.code == ErrorCode::kUnsupported;
    NEPHILA_RETURN_IF_ERROR(
        fs_.Rename(path_, path_ + (is_later ? ".later" : ".damaged")));
  }
  end_ = synced_ = 0;
  records_ = 0;
  names_.clear();
  // A disk that is full now may have room when the first record is due.
  std::string head;
  AppendHead(salt_, spacing_, rewrites_, head);
  Status made = Make(head);
  if (!made && made.error().code != ErrorCode::kNoSpace) return made;
  return {};
}

Status History::Load(HistoryReader reader) {
  HistoryRecord record;
  while (reader.Next(&record)) {
    ++records_;
    run_ = std::max(run_, record.run + 1);
    before_ = std::max(before_, record.elapsed);
  }
  spacing_ = reader.spacing();
  rewrites_ = reader.rewrites();
  end_ = reader.end();
  if (!reader.damaged().empty()) {
    Status whole = Rewrite(spacing_);
    if (whole.has_value() || whole.error().code != ErrorCode::kNoSpace) {
      return whole;
    }
  }
  if (file_ != nullptr) return {};
  NEPHILA_TRY(file_, fs_.Open(path_, OpenMode::kReadWrite));
  return reader.torn_bytes() == 0 ? Status() : file_->Truncate(end_);
}

Status History::Make(std::string_view contents) {
  NEPHILA_RETURN_IF_ERROR(PublishFile(fs_, path_, contents));
  NEPHILA_TRY(file_, fs_.Open(path_, OpenMode::kReadWrite));
  end_ = contents.size();
  synced_ = end_;
  return {};
}

std::string History::Mark() const {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.Varint(rewrites_);
  writer.Varint(end_);
  return bytes;
}

Status History::Sync() {
  if (file_ == nullptr || synced_ == end_) return {};
  NEPHILA_RETURN_IF_ERROR(file_->Sync());
  synced_ = end_;
  return {};
}

Status History::Append(WallTime when, std::chrono::nanoseconds elapsed,
                       const HistoryNumbers& numbers, bool always) {
  HistoryRecord record;
  record.run = run_;
  record.when = when;
  record.elapsed = before_ + std::chrono::floor<milliseconds>(elapsed);
  record.numbers = numbers;
  if (!always && last_ && record.elapsed - *last_ < spacing_) return {};
  std::string frames;
  const bool new_names =
      records_ % kNamesEvery == 0 || !HasNames(numbers, names_);
  if (new_names) AppendNames(numbers, salt_, frames);
  AppendRecord(record, salt_, frames);
  Status written = Write(frames);
  if (!written.has_value()) {
    if (written.error().code != ErrorCode::kNoSpace) return written;
    ++refused_;
    return {};
  }
  if (new_names) names_ = NamesOf(numbers);
  last_ = record.elapsed;
  if (++records_ <= most_records_) return {};
  // At least twice what it was, and enough for half of them.
  const auto even = record.elapsed / static_cast<int64_t>(most_records_ / 2);
  Status thinned = Rewrite(std::max({2 * spacing_, even, milliseconds(1)}));
  if (thinned.has_value() || thinned.error().code != ErrorCode::kNoSpace) {
    return thinned;
  }
  return {};  // the next record tries again
}

Status History::Write(std::string_view frames) {
  if (file_ == nullptr) {
    std::string head;
    AppendHead(salt_, spacing_, rewrites_, head);
    NEPHILA_RETURN_IF_ERROR(Make(head));
  }
  Status written = file_->Write(end_, BytesOf(frames));
  if (written.has_value()) {
    end_ += frames.size();
    return {};
  }
  if (written.error().code == ErrorCode::kNoSpace) {
    IgnoreError(file_->Truncate(end_), "the next record is written over it");
  }
  return written;
}

Status History::Rewrite(milliseconds spacing) {
  auto opened = HistoryReader::Open(fs_, dir_, salt_);
  if (!opened.has_value()) {
    // Somebody has removed it, or its disk has lost its head.
    ++rewrites_;
    return BeginAnew(opened.error());
  }
  HistoryReader reader = *opened;
  HistoryRecord record;
  std::map<uint64_t, milliseconds> last_of_run;
  while (opened->Next(&record)) last_of_run[record.run] = record.elapsed;
  const bool keep_ends = last_of_run.size() < most_records_ / kRunShare;

  std::string contents;
  AppendHead(salt_, spacing, rewrites_ + 1, contents);
  std::vector<std::string> names;
  std::optional<HistoryRecord> kept;
  size_t records = 0;
  while (reader.Next(&record)) {
    const bool is_end = !kept || kept->run != record.run ||
                        last_of_run[record.run] == record.elapsed;
    const bool is_far = !kept || record.elapsed - kept->elapsed >= spacing;
    if (!is_far && !(is_end && keep_ends)) continue;
    if (records % kNamesEvery == 0 || !HasNames(record.numbers, names)) {
      names = NamesOf(record.numbers);
      AppendNames(record.numbers, salt_, contents);
    }
    AppendRecord(record, salt_, contents);
    ++records;
    kept = record;
  }
  file_.reset();
  Status made = Make(contents);
  if (!made.has_value()) {
    // As it was, if the old one still is.
    if (made.error().code != ErrorCode::kNoSpace) return made;
    NEPHILA_TRY(file_, fs_.Open(path_, OpenMode::kReadWrite));
    return made;
  }
  ++rewrites_;
  spacing_ = spacing;
  records_ = records;
  names_ = std::move(names);
  return {};
}

}  // namespace nephila::job
