#include "crawl/archived_page.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "store/archive_name.h"
#include "store/warc_reader.h"

namespace nephila::crawl {
namespace {

// Of a unit: request, response, metadata, and one to spare.
constexpr int kMostRecords = 4;
// A file is renamed once, when it is finished.
constexpr int kMostTries = 3;

}  // namespace

std::string StreamPrefix(std::string_view prefix, size_t stream) {
  std::string name(prefix);
  if (stream > 0) name.append("-").append(std::to_string(stream));
  return name;
}

std::string LogName(size_t stream) {
  return StreamPrefix("crawl", stream) + ".log";
}

ArchivedPage::ArchivedPage(FileSystem& fs, std::vector<std::string> folders,
                           std::string prefix, const fetch::HeadLimits& limits,
                           uint64_t max_body_bytes)
    : fs_(fs),
      folders_(std::move(folders)),
      all_prefix_(std::move(prefix)),
      max_block_bytes_(max_body_bytes > UINT64_MAX - limits.max_bytes
                           ? UINT64_MAX
                           : max_body_bytes + limits.max_bytes),
      head_(limits) {}

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

Result<std::unique_ptr<store::WarcReader>> ArchivedPage::OpenFile(
    const job::ArchivePlace& place) {
  const std::string prefix = StreamPrefix(all_prefix_, place.stream);
  for (int i = 0; i < kMostTries; ++i) {
    NEPHILA_TRY(const bool is_there, FindFile(place.serial, prefix));
    if (!is_there) break;
    auto reader = store::WarcReader::Open(fs_, path_);
    if (reader.has_value() || reader.error().code != ErrorCode::kNotFound) {
      return reader;
    }
    path_.clear();
  }
  return std::unique_ptr<store::WarcReader>();
}

void ArchivedPage::Clear() {
  page_ = {};
  body_ = {};
  block_ = {};
  original_ = {};
}

Result<bool> ArchivedPage::ReadBlock(const job::ArchivePlace& place,
                                     Block* block) {
  NEPHILA_TRY(const auto reader, OpenFile(place));
  if (reader == nullptr) return false;
  reader->Seek(place.offset);
  for (int i = 0; i < kMostRecords; ++i) {
    NEPHILA_TRY(const store::ReadState state, reader->Next());
    if (state != store::ReadState::kRecord) return false;
    const std::string_view type = reader->header().Get("WARC-Type");
    if (type != "response" && type != "revisit") continue;
    block->is_revisit = type == "revisit";
    block->is_truncated = reader->header().Find("WARC-Truncated") != nullptr;
    block->url = reader->header().Get("WARC-Target-URI");
    block->id = reader->header().Get("WARC-Record-ID");
    block->refers_to = reader->header().Get("WARC-Refers-To");
    block->bytes.clear();
    while (true) {
      NEPHILA_TRY(const std::string_view piece, reader->ReadBlock());
      if (piece.empty()) break;
      const size_t room =
          max_block_bytes_ -
          std::min<uint64_t>(max_block_bytes_, block->bytes.size());
      block->bytes.append(piece.substr(0, room));
    }
    NEPHILA_TRY(const store::ReadState end, reader->Finish());
    return end == store::ReadState::kRecord;
  }
  return false;
}

std::string_view ArchivedPage::SplitHead(std::string_view block) {
  head_.Clear();
  std::string_view rest = block;
  if (head_.Add(&rest) != fetch::HeadState::kComplete) head_.Finish();
  return rest;
}

Result<ArchivedPage::Found> ArchivedPage::Read(
    const job::ArchivePlace& place,
    const std::optional<job::ArchivePlace>& original) {
  NEPHILA_TRY(const bool is_there, ReadBlock(place, &block_));
  if (!is_there) return Found::kNothing;
  page_ = {};
  page_.outcome = item::FetchOutcome::kResponse;
  page_.url = block_.url;
  if (block_.is_truncated && !block_.is_revisit) {
    page_.truncation = item::Truncation::kUnspecified;
  }
  body_ = SplitHead(block_.bytes);
  page_.response_head = std::string_view(block_.bytes)
                            .substr(0, block_.bytes.size() - body_.size());
  if (block_.is_revisit && original) {
    NEPHILA_TRY(const bool has_body, ReadBlock(*original, &original_));
    if (!has_body || original_.id != block_.refers_to) return Found::kNoBody;
    // As the body was framed there.
    body_ = SplitHead(original_.bytes);
  }
  page_.body = std::span(&body_, 1);
  page_.transfer_coding = head_.chunked() ? item::TransferCoding::kChunked
                                          : item::TransferCoding::kRemoved;
  return Found::kPage;
}

}  // namespace nephila::crawl
