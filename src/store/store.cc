#include "store/store.h"

#include <fmt/core.h>

#include <utility>

#include "config/table.h"
#include "store/log_mend.h"

namespace nephila::store {
namespace {

using item::FetchedPage;
using item::FetchOutcome;

CompressorKind KindOf(const config::StoreSettings& settings) {
  if (settings.format == config::ArchiveFormat::kZstd) {
    return CompressorKind::kZstd;
  }
  switch (settings.gzip_library) {
    case config::GzipLibrary::kIsal:
      return CompressorKind::kIsal;
    case config::GzipLibrary::kLibdeflate:
      return CompressorKind::kLibdeflate;
    case config::GzipLibrary::kZlib:
      break;
  }
  return CompressorKind::kZlib;
}

DigestKind DigestOfSettings(const config::StoreSettings& settings) {
  return settings.digest == config::DigestAlgorithm::kSha256
             ? DigestKind::kSha256
             : DigestKind::kSha1;
}

Unexpected<Error> WrongSetting(std::string message) {
  return Unexpected(Error{ErrorCode::kInvalidArgument, std::move(message)});
}

Result<WarcWriterOptions> WriterOptions(const StoreOptions& options) {
  const config::StoreSettings& settings = options.settings;
  if (!IsNamePart(settings.prefix)) {
    return WrongSetting(
        "store.prefix: letters, digits, '.', '_' and '-', at most 100");
  }
  if (!settings.hostname.empty() && !IsNamePart(settings.hostname)) {
    return WrongSetting(
        "store.hostname: letters, digits, '.', '_' and '-', at most 100");
  }
  WarcWriterOptions writer;
  writer.compressor = KindOf(settings);
  writer.level = settings.level < 0 ? DefaultLevel(writer.compressor)
                                    : static_cast<int>(settings.level);
  if (writer.level < LowestLevel(writer.compressor) ||
      writer.level > HighestLevel(writer.compressor)) {
    return WrongSetting(fmt::format(
        "store.level: this compressor has levels {} to {}",
        LowestLevel(writer.compressor), HighestLevel(writer.compressor)));
  }
  writer.folder = options.folder;
  writer.other_folders = options.other_folders;
  writer.old_folders = options.old_folders;
  writer.floor_bytes = options.floor_bytes;
  writer.margin_bytes = options.margin_bytes;
  writer.before_finish = options.before_finish;
  writer.prefix = settings.prefix;
  writer.host = settings.hostname;
  writer.digest = DigestOfSettings(settings);
  writer.max_file_bytes = settings.max_file_bytes;
  writer.max_file_age = settings.max_file_age;
  writer.max_index_bytes = settings.index_memory_bytes;
  writer.seed = options.seed;
  writer.info = options.info;
  return writer;
}

bool HasResponse(const FetchedPage& page) {
  return page.outcome == FetchOutcome::kResponse ||
         page.outcome == FetchOutcome::kDnsAnswer;
}

}  // namespace

Store::Store(const Clock& clock, StoreOptions options,
             std::unique_ptr<WarcWriter> writer, std::unique_ptr<CrawlLog> log)
    : clock_(clock),
      options_(std::move(options)),
      writer_(std::move(writer)),
      log_(std::move(log)),
      maker_(DigestOfSettings(options_.settings),
             options_.settings.redact_cookies),
      recent_(options_.settings.revisit_memory_bytes) {}

Result<std::unique_ptr<Store>> Store::OpenAt(
    FileSystem& fs, const Clock& clock, StoreOptions options,
    std::optional<StorePosition> checkpoint) {
  NEPHILA_TRY(WarcWriterOptions writer_options, WriterOptions(options));
  NEPHILA_RETURN_IF_ERROR(EnsureDir(fs, ParentDir(options.log_path)));
  NEPHILA_TRY(auto log,
              CrawlLog::OpenAt(fs, options.log_path,
                               checkpoint ? checkpoint->log_bytes : 0));
  std::optional<Position> place;
  if (checkpoint) place = checkpoint->archive;
  NEPHILA_TRY(auto writer,
              WarcWriter::OpenAt(fs, clock, std::move(writer_options), place,
                                 options.keep));
  if (options.keep) {
    const LogPlace log_place = {options.log_path,
                                checkpoint ? checkpoint->log_bytes : 0,
                                options.stream};
    NEPHILA_RETURN_IF_ERROR(
        MendLog(fs, *writer, place.value_or(Position{}), log_place, log.get()));
  }
  return std::unique_ptr<Store>(
      new Store(clock, std::move(options), std::move(writer), std::move(log)));
}

std::optional<Original> Store::FindOriginal(
    const FetchedPage& page, const UnitMaker::Payload& payload) const {
  if (page.kind == item::FetchKind::kDns ||
      page.truncation != item::Truncation::kNone ||
      payload.bytes < options_.settings.revisit_min_bytes) {
    return std::nullopt;
  }
  return recent_.Find(payload.digest, options_.stream);
}

Result<Stored> Store::Archive(const FetchedPage& page) {
  const UnitMaker::Payload payload = maker_.Begin(page);
  const std::optional<Original> original = FindOriginal(page, payload);
  Stored stored;
  stored.payload_digest = payload.digest;
  stored.payload_bytes = payload.bytes;
  NEPHILA_TRY(stored.place,
              writer_->Append(maker_.Records(*writer_, original)));
  stored.record_id = maker_.record_id();
  stored.revisit = maker_.revisit();
  if (stored.revisit) {
    ++revisits_;
    stored.original = original;
  } else if (page.kind != item::FetchKind::kDns &&
             page.truncation == item::Truncation::kNone &&
             payload.bytes >= options_.settings.revisit_min_bytes) {
    recent_.Add(payload.digest,
                {stored.record_id, std::string(page.url), page.begin,
                 options_.stream, stored.place->begin,
                 stored.place->end.offset - stored.place->begin.offset},
                options_.stream, stored.place->end);
  }
  return stored;
}

void Store::Log(const FetchedPage& page, const Stored& stored) {
  LogFacts facts;
  facts.now = clock_.WallNow();
  std::string media_type;
  std::string digest;
  if (stored.place) {
    facts.bytes = stored.payload_bytes;
    facts.revisit = stored.revisit;
    digest = stored.payload_digest.Text();
    facts.digest = digest;
    if (page.kind == item::FetchKind::kDns) {
      media_type = "text/dns";
    } else if (const HttpHead* head = maker_.head(); head != nullptr) {
      facts.http_status = head->status;
      media_type = head->media_type();
    }
    facts.media_type = media_type;
  }
  log_->Append(FormatLogLine(page, facts));
}

Result<Stored> Store::Write(const FetchedPage& page) {
  // First, as a record without its line could not be told from one with it.
  NEPHILA_RETURN_IF_ERROR(log_->MakeRoom());
  Stored stored;
  if (HasResponse(page)) {
    NEPHILA_TRY(stored, Archive(page));
    account_.In();
    account_.Out();
  } else {
    account_.In();
    account_.Drop(StoreDrop::kNoResponse);
  }
  Log(page, stored);
  return stored;
}

Status Store::Sync() {
  // A full disk may keep a file from being finished; what was written can be
  // made durable all the same.
  Status rotated = writer_->RotateIfDue();
  NEPHILA_RETURN_IF_ERROR(writer_->Sync());
  NEPHILA_RETURN_IF_ERROR(log_->Sync());
  return rotated;
}

Status Store::Finish() {
  NEPHILA_RETURN_IF_ERROR(writer_->Finish());
  return log_->Sync();
}

void Store::Covered(const StorePosition& position) {
  recent_.Cover(options_.stream, position.archive);
}

std::vector<std::pair<std::string, std::string>> SettingsInfo(
    const config::Settings& settings) {
  std::vector<std::pair<std::string, std::string>> info;
  for (const config::Row& row : config::AllRows()) {
    config::Value value = row.get(&settings);
    if (value == row.default_value) continue;
    info.emplace_back(
        "setting",
        fmt::format("{} = {}", row.name, config::FormatTomlValue(row, value)));
  }
  return info;
}

}  // namespace nephila::store
