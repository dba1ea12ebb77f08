#include "crawl/archived_page.h"

#include <span>
#include <utility>

#include "store/archive_name.h"
#include "store/warc_reader.h"

namespace nephila::crawl {
namespace {

// Of a unit: request, response, metadata, and one to spare.
constexpr int kMostRecords = 4;

Unexpected<Error> NotThere(const std::string& path,
                           const job::ArchivePlace& place) {
  return Unexpected(
      Error{ErrorCode::kCorruption, path + ": no page at offset " +
                                        std::to_string(place.offset) +
                                        ", where the journal has one"});
}

}  // namespace

std::string StreamPrefix(std::string_view prefix, size_t stream) {
  std::string name(prefix);
  if (stream > 0) name.append("-").append(std::to_string(stream));
  return name;
}

ArchivedPage::ArchivedPage(FileSystem& fs, std::string folder,
                           const fetch::HeadLimits& limits)
    : fs_(fs), folder_(std::move(folder)), head_(limits) {}

Result<std::string> ArchivedPage::FindFile(uint64_t serial,
                                           std::string_view prefix) {
  NEPHILA_TRY(const auto entries, fs_.List(folder_));
  for (const DirEntry& entry : entries) {
    const auto name = store::ParseArchiveName(prefix, entry.name);
    if (name && name->serial == serial) return folder_ + "/" + entry.name;
  }
  return Unexpected(
      Error{ErrorCode::kNotFound,
            folder_ + ": no archive with serial " + std::to_string(serial)});
}

Result<std::optional<item::FetchedPage>> ArchivedPage::Read(
    const job::ArchivePlace& place, std::string_view prefix) {
  NEPHILA_TRY(const std::string path, FindFile(place.serial, prefix));
  NEPHILA_TRY(const auto reader, store::WarcReader::Open(fs_, path));
  reader->Seek(place.offset);
  for (int i = 0; i < kMostRecords; ++i) {
    NEPHILA_TRY(const store::ReadState state, reader->Next());
    if (state != store::ReadState::kRecord) return NotThere(path, place);
    const std::string_view type = reader->header().Get("WARC-Type");
    if (type == "revisit") return std::optional<item::FetchedPage>();
    if (type != "response") continue;
    url_ = reader->header().Get("WARC-Target-URI");
    block_.clear();
    while (true) {
      NEPHILA_TRY(const std::string_view piece, reader->ReadBlock());
      if (piece.empty()) break;
      block_.append(piece);
    }
    NEPHILA_TRY(const store::ReadState end, reader->Finish());
    if (end != store::ReadState::kRecord) return NotThere(path, place);
    item::FetchedPage page;
    page.outcome = item::FetchOutcome::kResponse;
    page.url = url_;
    head_.Clear();
    std::string_view rest = block_;
    if (head_.Add(&rest) != fetch::HeadState::kComplete) head_.Finish();
    body_ = rest;
    page.response_head =
        std::string_view(block_).substr(0, block_.size() - rest.size());
    page.body = std::span(&body_, 1);
    page.transfer_coding = head_.chunked() ? item::TransferCoding::kChunked
                                           : item::TransferCoding::kRemoved;
    if (reader->header().Find("WARC-Truncated") != nullptr) {
      page.truncation = item::Truncation::kUnspecified;
    }
    return std::optional(page);
  }
  return NotThere(path, place);
}

}  // namespace nephila::crawl
