#include "store/archive_index.h"

#include "store/index_line.h"

namespace nephila::store {
namespace {

bool MayHaveLine(const WarcHeader& header) {
  RecordType type = header.type();
  return type == RecordType::kResponse || type == RecordType::kRevisit ||
         type == RecordType::kResource;
}

}  // namespace

Result<std::optional<HttpHead>> ReadHttpHead(WarcReader& reader,
                                             HttpKind kind) {
  if (reader.header().content_type() != "application/http") {
    return std::optional<HttpHead>();
  }
  HttpBlock http(kind);
  auto ignore = [](std::string_view) {};
  while (!http.has_head() && http.error() == nullptr) {
    NEPHILA_TRY(std::string_view piece, reader.ReadBlock());
    if (piece.empty()) break;
    http.Feed(piece, ignore);
  }
  http.Finish(ignore);
  if (!http.has_head()) return std::optional<HttpHead>();
  return std::optional<HttpHead>(http.head());
}

Result<std::optional<CdxjLine>> IndexRecord(WarcReader& reader,
                                            std::string_view filename,
                                            ReadState* state) {
  std::optional<CdxjLine> line;
  if (MayHaveLine(reader.header())) {
    NEPHILA_TRY(std::optional<HttpHead> head,
                ReadHttpHead(reader, HttpKind::kResponse));
    line = IndexLineOf(reader.header(), head ? &*head : nullptr);
  }
  NEPHILA_TRY(*state, reader.Finish());
  if (!line || *state != ReadState::kRecord || reader.shares_member()) {
    return std::optional<CdxjLine>();
  }
  line->offset = reader.offset();
  line->length = reader.length();
  line->filename = filename;
  return line;
}

Result<IndexCounts> IndexArchive(
    FileSystem& fs, const std::string& path, std::string_view filename,
    const std::function<Status(const CdxjLine&)>& take) {
  NEPHILA_TRY(auto reader, WarcReader::Open(fs, path));
  IndexCounts counts;
  while (true) {
    NEPHILA_TRY(ReadState state, reader->Next());
    if (state == ReadState::kRecord) {
      NEPHILA_TRY(auto line, IndexRecord(*reader, filename, &state));
      if (state == ReadState::kRecord) {
        ++counts.records;
        bool shares = reader->shares_member();
        if (shares && MayHaveLine(reader->header())) ++counts.sharing;
      }
      if (line) {
        ++counts.lines;
        NEPHILA_RETURN_IF_ERROR(take(*line));
      }
    }
    if (state == ReadState::kEnd) return counts;
    if (state == ReadState::kRecord) continue;
    ++counts.damages;
    NEPHILA_TRY([[maybe_unused]] bool found, reader->Resync());
  }
}

std::string IndexPathOf(std::string_view archive_path) {
  for (std::string_view suffix : {".open", ".gz", ".zst", ".warc", ".arc"}) {
    if (archive_path.ends_with(suffix)) {
      archive_path.remove_suffix(suffix.size());
    }
  }
  return std::string(archive_path) + ".cdxj";
}

std::string_view BaseName(std::string_view path) {
  size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view IndexedName(std::string_view path) {
  constexpr std::string_view kOpen = ".open";
  std::string_view name = BaseName(path);
  if (name.ends_with(kOpen)) name.remove_suffix(kOpen.size());
  return name;
}

}  // namespace nephila::store
