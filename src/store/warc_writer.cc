#include "store/warc_writer.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "store/index_line.h"

namespace nephila::store {
namespace {

// Pieces of a body are handed to the compressor in parts of this size, so that
// what it makes can be written before there is much of it.
constexpr size_t kPartBytes = size_t{256} * 1024;

constexpr std::string_view kFormatFields =
    "format: WARC File Format 1.1\r\n"
    "conformsTo: http://iipc.github.io/warc-specifications/specifications/"
    "warc-format/warc-1.1/\r\n";

// A field of application/warc-fields: one line, whatever is in it.
void AppendInfo(std::string_view name, std::string_view value,
                std::string* out) {
  out->append(name).append(": ");
  for (const char c : value) {
    *out += static_cast<uint8_t>(c) < 0x20 || c == 0x7F ? ' ' : c;
  }
  *out += "\r\n";
}

// The lowest `digits` of a number.
void AppendHex(uint64_t value, int digits, std::string* out) {
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    *out += "0123456789abcdef"[value >> shift & 15];
  }
}

}  // namespace

WarcWriter::WarcWriter(FileSystem& fs, const Clock& clock,
                       WarcWriterOptions options)
    : fs_(fs),
      clock_(clock),
      options_(std::move(options)),
      random_(options_.seed),
      compressor_(MakeCompressor(options_.compressor, options_.level)),
      folder_(options_.folder),
      position_folder_(options_.folder) {}

WarcWriter::~WarcWriter() = default;

std::string WarcWriter::PathOf(const std::string& name) const {
  return folder_ + "/" + name;
}

// RFC 9562 s5.4.
std::string WarcWriter::NewRecordId() {
  const uint64_t high = random_.Next();
  const uint64_t low = random_.Next();
  std::string id = "urn:uuid:";
  id.reserve(id.size() + 36);
  AppendHex(high >> 32, 8, &id);
  id += '-';
  AppendHex(high >> 16, 4, &id);
  id += "-4";
  AppendHex(high, 3, &id);
  id += '-';
  AppendHex(0x8000 | (low >> 48 & 0x3FFF), 4, &id);
  id += '-';
  AppendHex(low, 12, &id);
  return id;
}

Unexpected<Error> WarcWriter::Break(Error error) {
  // A sync may fail for want of space too, and is not to be tried again.
  if (error.code == ErrorCode::kNoSpace) error.code = ErrorCode::kIo;
  broken_ = error;
  return Unexpected(std::move(error));
}

Unexpected<Error> WarcWriter::Judge(Error error) {
  if (error.code == ErrorCode::kNoSpace) return Unexpected(std::move(error));
  return Break(std::move(error));
}

Unexpected<Error> WarcWriter::Undo(Error error) {
  if (error.code != ErrorCode::kNoSpace) return Break(std::move(error));
  if (Status cut = file_->Rollback(); !cut) {
    return Break(std::move(cut).error());
  }
  return Unexpected(std::move(error));
}

bool WarcWriter::Due() const {
  return file_ != nullptr &&
         (file_->end() >= options_.max_file_bytes ||
          index_.bytes() >= options_.max_index_bytes || is_low_ ||
          clock_.Now() - file_begin_ >= options_.max_file_age);
}

Status WarcWriter::BeginFile() {
  ArchiveName name;
  name.prefix = options_.prefix;
  name.timestamp = Timestamp17(clock_.WallNow());
  name.serial = position_.serial + 1;
  name.host = options_.host;
  name.suffix = SuffixOf(options_.compressor);
  name.open = true;
  ChooseFolder();
  const std::string path = PathOf(name.Text());
  auto file = fs_.Open(path, OpenMode::kCreateNew);
  if (!file) return Judge(std::move(file).error());
  name_ = std::move(name);
  file_ = std::make_unique<ArchiveFile>(*std::move(file), 0);
  index_.Clear();
  file_begin_ = clock_.Now();
  sync_folder_ = true;
  Status status = WriteWarcinfo();
  if (status) {
    position_ = {name_.serial, file_->end()};
    position_folder_ = folder_;
    bytes_written_ += file_->end();
    return {};
  }
  // A file without a warcinfo is none; the next try makes another.
  file_.reset();
  if (broken_) return status;
  if (Status removed = fs_.Remove(path); !removed) {
    return Break(std::move(removed).error());
  }
  return status;
}

Status WarcWriter::WriteWarcinfo() {
  std::string fields;
  for (const auto& [name, value] : options_.info) {
    AppendInfo(name, value, &fields);
  }
  if (!options_.host.empty()) AppendInfo("hostname", options_.host, &fields);
  fields += kFormatFields;
  const std::string_view block[] = {fields};
  NewRecord record;
  record.block = block;
  const std::string id = NewRecordId();
  WarcHeader& header = record.header;
  header.Reset("1.1");
  header.Add("WARC-Type", "warcinfo");
  header.Add("WARC-Record-ID", "<" + id + ">");
  header.Add("WARC-Date", WarcDate(clock_.WallNow()));
  header.Add("WARC-Filename", name_.FinalText());
  header.Add("WARC-Block-Digest", DigestOf(options_.digest, fields).Text());
  header.Add("Content-Type", "application/warc-fields");
  warcinfo_id_.clear();
  auto place = WriteRecord(record);
  Status status =
      place ? file_->EndUnit() : Status(Unexpected(std::move(place).error()));
  if (!status) return Judge(std::move(status).error());
  warcinfo_id_ = id;
  return {};
}

// The record may have to be written again, into another file, so the fields
// that depend on the place stand in the text alone.
void WarcWriter::FormatHeader(const WarcHeader& header, uint64_t block_bytes) {
  header_text_.clear();
  header.AppendTo(header_text_);
  header_text_.resize(header_text_.size() - std::string_view("\r\n").size());
  if (!warcinfo_id_.empty()) {
    header_text_.append("WARC-Warcinfo-ID: <");
    header_text_.append(warcinfo_id_).append(">\r\n");
  }
  header_text_.append("Content-Length: ");
  header_text_.append(std::to_string(block_bytes)).append("\r\n\r\n");
}

Result<RecordPlace> WarcWriter::WriteRecord(const NewRecord& record) {
  uint64_t block_bytes = 0;
  for (const std::string_view piece : record.block) block_bytes += piece.size();
  FormatHeader(record.header, block_bytes);
  RecordPlace place;
  place.offset = file_->tail();
  compressor_->Begin(header_text_.size() + block_bytes + kRecordEnd.size(),
                     &file_->buffer());
  compressor_->Add(header_text_, Effort::kCompress);
  bool stored = false;
  for (size_t i = 0; i < record.block.size(); ++i) {
    stored = stored || i >= record.store_from;
    std::string_view piece = record.block[i];
    while (!piece.empty()) {
      const std::string_view part = piece.substr(0, kPartBytes);
      compressor_->Add(part, stored ? Effort::kStore : Effort::kCompress);
      NEPHILA_RETURN_IF_ERROR(file_->Drain());
      piece.remove_prefix(part.size());
    }
  }
  compressor_->Add(kRecordEnd, stored ? Effort::kStore : Effort::kCompress);
  compressor_->End();
  NEPHILA_RETURN_IF_ERROR(file_->Drain());
  place.length = file_->tail() - place.offset;
  return place;
}

Status WarcWriter::WriteRecords(std::span<const NewRecord> unit,
                                UnitPlace* place) {
  for (const NewRecord& record : unit) {
    NEPHILA_TRY(const RecordPlace written, WriteRecord(record));
    place->records.push_back(written);
  }
  return file_->EndUnit();
}

Result<UnitPlace> WarcWriter::Append(std::span<const NewRecord> unit) {
  if (broken_) return Unexpected(*broken_);
  // Each folder at most once.
  size_t tries = 1 + options_.other_folders.size();
  while (true) {
    Result<UnitPlace> place = TryAppend(unit);
    if (place.has_value() || place.error().code != ErrorCode::kNoSpace) {
      return place;
    }
    NoteRefusal();
    if (--tries == 0 || !HasRoomElsewhere()) return place;
    if (Status left = Leave(); !left)
      return Unexpected(std::move(left).error());
  }
}

Result<UnitPlace> WarcWriter::TryAppend(std::span<const NewRecord> unit) {
  NEPHILA_RETURN_IF_ERROR(RotateIfDue());
  if (file_ == nullptr) NEPHILA_RETURN_IF_ERROR(BeginFile());
  UnitPlace place;
  place.filename = name_.FinalText();
  place.begin = position_;
  place.records.reserve(unit.size());
  if (Status written = WriteRecords(unit, &place); !written) {
    return Undo(std::move(written).error());
  }
  bytes_written_ += file_->end() - position_.offset;
  position_.offset = file_->end();
  place.end = position_;
  for (size_t i = 0; i < unit.size(); ++i) {
    const RecordPlace& at = place.records[i];
    if (auto line = IndexLineOf(unit[i].header, unit[i].http)) {
      line->offset = at.offset;
      line->length = at.length;
      line->filename = place.filename;
      index_.Add(*line);
    }
  }
  return place;
}

Status WarcWriter::Sync() {
  if (broken_) return Unexpected(*broken_);
  // It stays as it is until there is room; it is durable.
  if (Status late = FinishLate();
      !late && late.error().code != ErrorCode::kNoSpace) {
    return late;
  }
  if (file_ == nullptr) return {};
  NoteIfLow();
  if (Status synced = file_->Sync(); !synced) {
    return Break(std::move(synced).error());
  }
  if (!sync_folder_) return {};
  if (Status synced = fs_.SyncDir(folder_); !synced) {
    return Break(std::move(synced).error());
  }
  sync_folder_ = false;
  return {};
}

Status WarcWriter::RotateIfDue() {
  if (broken_) return Unexpected(*broken_);
  if (!Due()) return {};
  Status finished = FinishFile();
  if (finished || finished.error().code != ErrorCode::kNoSpace) return finished;
  NoteRefusal();
  return HasRoomElsewhere() ? Leave() : finished;
}

// Each step can be done again, so that a full disk may interrupt it anywhere.
// The index stands before the archive has its name: whoever sees a finished
// archive finds its index.
Status WarcWriter::FinishFile() {
  if (broken_) return Unexpected(*broken_);
  if (file_ == nullptr) return {};
  if (options_.before_finish) NEPHILA_RETURN_IF_ERROR(options_.before_finish());
  NEPHILA_RETURN_IF_ERROR(Sync());
  NEPHILA_RETURN_IF_ERROR(Publish({folder_, name_}, index_));
  file_.reset();
  index_.Clear();
  warcinfo_id_.clear();
  is_low_ = false;
  return {};
}

Status WarcWriter::Finish() {
  NEPHILA_RETURN_IF_ERROR(FinishFile());
  return FinishLate();
}

Status WarcWriter::Publish(const Place& place, const IndexBuilder& index) {
  const std::string& folder = place.folder;
  const ArchiveName& name = place.name;
  if (Status published = index.Publish(fs_, folder + "/" + name.IndexText());
      !published) {
    return Judge(std::move(published).error());
  }
  if (Status renamed = fs_.Rename(folder + "/" + name.Text(),
                                  folder + "/" + name.FinalText());
      !renamed) {
    return Judge(std::move(renamed).error());
  }
  if (Status synced = fs_.SyncDir(folder); !synced) {
    return Break(std::move(synced).error());
  }
  return {};
}

}  // namespace nephila::store
