#include "crawl/archived_page.h"

#include <span>
#include <string>
#include <utility>

#include "store/archive_name.h"
#include "store/warc_reader.h"

namespace nephila::crawl {
namespace {

// Of a unit: request, response, metadata, and one to spare.
constexpr int kMostRecords = 4;

}  // namespace

std::string StreamPrefix(std::string_view prefix, size_t stream) {
  std::string name(prefix);
  if (stream > 0) name.append("-").append(std::to_string(stream));
  return name;
}

ArchivedPage::ArchivedPage(FileSystem& fs, std::vector<std::string> folders,
                           const fetch::HeadLimits& limits)
    : fs_(fs), folders_(std::move(folders)), head_(limits) {}

Result<bool> ArchivedPage::FindFile(uint64_t serial, std::string_view prefix) {
  if (!path_.empty() && serial == serial_ && prefix == prefix_) return true;
  for (const std::string& folder : folders_) {
    NEPHILA_TRY(const auto entries, fs_.List(folder));
    for (const DirEntry& entry : entries) {
      const auto name = store::ParseArchiveName(prefix, entry.name);
      if (!name || name->serial != serial) continue;
      serial_ = serial;
      prefix_ = prefix;
      path_ = folder;
      path_.append("/").append(entry.name);
      return true;
    }
  }
  return false;
}

Result<ArchivedPage::Found> ArchivedPage::Read(const job::ArchivePlace& place,
                                               std::string_view prefix) {
  NEPHILA_TRY(const bool is_there, FindFile(place.serial, prefix));
  if (!is_there) return Found::kNothing;
  NEPHILA_TRY(const auto reader, store::WarcReader::Open(fs_, path_));
  reader->Seek(place.offset);
  for (int i = 0; i < kMostRecords; ++i) {
    NEPHILA_TRY(const store::ReadState state, reader->Next());
    if (state != store::ReadState::kRecord) return Found::kNothing;
    const std::string_view type = reader->header().Get("WARC-Type");
    if (type != "response" && type != "revisit") continue;
    url_ = reader->header().Get("WARC-Target-URI");
    page_ = {};
    page_.outcome = item::FetchOutcome::kResponse;
    page_.url = url_;
    if (type == "revisit") return Found::kRevisit;
    block_.clear();
    while (true) {
      NEPHILA_TRY(const std::string_view piece, reader->ReadBlock());
      if (piece.empty()) break;
      block_.append(piece);
    }
    NEPHILA_TRY(const store::ReadState end, reader->Finish());
    if (end != store::ReadState::kRecord) return Found::kNothing;
    head_.Clear();
    std::string_view rest = block_;
    if (head_.Add(&rest) != fetch::HeadState::kComplete) head_.Finish();
    body_ = rest;
    page_.response_head =
        std::string_view(block_).substr(0, block_.size() - rest.size());
    page_.body = std::span(&body_, 1);
    page_.transfer_coding = head_.chunked() ? item::TransferCoding::kChunked
                                            : item::TransferCoding::kRemoved;
    if (reader->header().Find("WARC-Truncated") != nullptr) {
      page_.truncation = item::Truncation::kUnspecified;
    }
    return Found::kPage;
  }
  return Found::kNothing;
}

}  // namespace nephila::crawl
