#include "cli/warc_cmd.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <span>
#include <utility>

#include "base/text.h"
#include "cli/temporary_folder.h"
#include "coding/content_decoder.h"
#include "store/archive_index.h"
#include "store/cdxj.h"
#include "store/cdxj_merge.h"
#include "store/http_message.h"
#include "store/surt.h"
#include "store/verify.h"
#include "store/warc_reader.h"

namespace nephila::cli {
namespace {

using store::HttpBlock;
using store::HttpKind;
using store::ReadState;
using store::RecordType;
using store::WarcHeader;
using store::WarcReader;

Unexpected<Error> Usage(std::string message) {
  return Unexpected(Error{ErrorCode::kInvalidArgument, std::move(message)});
}

Unexpected<Error> Damaged(std::string message) {
  return Unexpected(Error{ErrorCode::kCorruption, std::move(message)});
}

bool IsHttpBlock(const WarcHeader& header) {
  return header.content_type() == "application/http";
}

HttpKind KindOf(const WarcHeader& header) {
  return header.type() == RecordType::kRequest ? HttpKind::kRequest
                                               : HttpKind::kResponse;
}

// What a table shows of a record besides its header.
struct Shown {
  std::string status;
  std::string mime;
};

// Reads as much of the block as that takes.
Result<Shown> Look(WarcReader& reader) {
  const WarcHeader& header = reader.header();
  if (!IsHttpBlock(header)) return Shown{"", header.content_type()};
  NEPHILA_TRY(const auto head, store::ReadHttpHead(reader, KindOf(header)));
  if (!head) return Shown{};
  return Shown{head->status > 0 ? std::to_string(head->status) : "",
               head->media_type()};
}

class Lister {
 public:
  Lister(bool json, std::ostream& out) : json_(json), out_(out) {}

  // How many places are damaged.
  Result<uint64_t> List(FileSystem& fs, const std::string& path) {
    NEPHILA_TRY(auto reader, WarcReader::Open(fs, path));
    uint64_t damages = 0;
    while (true) {
      NEPHILA_TRY(ReadState state, reader->Next());
      if (state == ReadState::kEnd) return damages;
      if (state == ReadState::kRecord) {
        NEPHILA_TRY(Shown shown, Look(*reader));
        NEPHILA_TRY(state, reader->Finish());
        PrintRecord(*reader, shown, state == ReadState::kRecord);
      }
      if (state == ReadState::kRecord) continue;
      ++damages;
      PrintDamage(*reader, state);
      NEPHILA_TRY([[maybe_unused]] bool found, reader->Resync());
    }
  }

 private:
  void PrintJson(const nlohmann::ordered_json& line) {
    out_ << line.dump(-1, ' ', true,
                      nlohmann::ordered_json::error_handler_t::replace)
         << '\n';
  }

  void PrintRecord(const WarcReader& reader, const Shown& shown, bool whole) {
    const WarcHeader& header = reader.header();
    std::string length = whole ? std::to_string(reader.length()) : "-";
    if (!json_) {
      auto or_dash = [](std::string_view text) {
        return text.empty() ? std::string("-") : EscapeForTerminal(text);
      };
      out_ << fmt::format("{:>10} {:>9} {:<12} {:>3} {:<24} {:<20} {}\n",
                          reader.offset(), length,
                          or_dash(header.Get("WARC-Type")),
                          or_dash(shown.status), or_dash(shown.mime),
                          or_dash(header.date()), or_dash(header.target_uri()));
      return;
    }
    nlohmann::ordered_json line;
    line["file"] = reader.path();
    line["offset"] = reader.offset();
    if (whole) line["length"] = reader.length();
    line["type"] = header.Get("WARC-Type");
    auto add = [&line](const char* name, std::string_view value) {
      if (!value.empty()) line[name] = value;
    };
    add("status", shown.status);
    add("mime", shown.mime);
    add("date", header.date());
    add("uri", header.target_uri());
    add("id", header.record_id());
    line["block_length"] = reader.block_length();
    add("block_digest", header.block_digest());
    add("payload_digest", header.payload_digest());
    if (whole && reader.shares_member()) {
      line["offset_in_member"] = reader.offset_in_member();
    }
    if (!whole) line["whole"] = false;
    PrintJson(line);
  }

  void PrintDamage(const WarcReader& reader, ReadState state) {
    std::string_view kind = state == ReadState::kTorn ? "torn" : "broken";
    if (!json_) {
      out_ << fmt::format("{:>10} {:>9} {}: {}\n", reader.damage_offset(), "-",
                          kind, EscapeForTerminal(reader.damage()));
      return;
    }
    nlohmann::ordered_json line;
    line["file"] = reader.path();
    line["offset"] = reader.damage_offset();
    line["damage"] = kind;
    line["reason"] = reader.damage();
    PrintJson(line);
  }

  const bool json_;
  std::ostream& out_;
};

class Cat {
 public:
  Cat(const WarcCatOptions& options, std::ostream& out)
      : options_(options), out_(out) {}

  // REQUIRES: a record is in hand.
  Status Print(WarcReader& reader) {
    const WarcHeader& header = reader.header();
    if (!options_.payload && !options_.decode) {
      std::string text;
      header.AppendTo(text);
      Put(text);
    }
    bool take_apart =
        (options_.payload || options_.decode) && IsHttpBlock(header);
    HttpBlock http(KindOf(header));
    std::unique_ptr<coding::ContentDecoder> decoder;
    auto sink = [&](std::string_view piece) {
      if (!options_.decode || !http.has_head()) return Put(piece);
      if (decoder == nullptr) {
        decoder = std::make_unique<coding::ContentDecoder>();
        decoder->Begin(http.head().Get("Content-Encoding"));
      }
      decoder->Feed(piece, [this](std::string_view plain) { Put(plain); });
    };
    while (true) {
      NEPHILA_TRY(std::string_view piece, reader.ReadBlock());
      if (piece.empty()) break;
      take_apart ? http.Feed(piece, sink) : Put(piece);
    }
    if (take_apart) http.Finish(sink);
    auto decoded = coding::DecodeState::kWhole;
    if (decoder != nullptr) {
      decoded = decoder->Finish([this](std::string_view plain) { Put(plain); });
    }
    NEPHILA_TRY(ReadState state, reader.Finish());
    if (state != ReadState::kRecord) {
      return Damaged(fmt::format("{}: offset {}: {}", reader.path(),
                                 reader.damage_offset(), reader.damage()));
    }
    if (decoded == coding::DecodeState::kCut ||
        decoded == coding::DecodeState::kBroken) {
      return Damaged(
          fmt::format("{}: offset {}: the content coding of the "
                      "payload is damaged; this is what it gave",
                      reader.path(), reader.offset()));
    }
    if (!options_.payload && !options_.decode) Put(store::kRecordEnd);
    return {};
  }

 private:
  void Put(std::string_view bytes) {
    if (!options_.escape) {
      out_ << bytes;
      return;
    }
    // Line ends are harmless and wanted.
    while (!bytes.empty()) {
      size_t end = std::min(bytes.find('\n'), bytes.size());
      std::string_view line = bytes.substr(0, end);
      bool newline = end < bytes.size();
      bytes.remove_prefix(newline ? end + 1 : end);
      if (newline && line.ends_with('\r')) line.remove_suffix(1);
      out_ << EscapeForTerminal(line) << (newline ? "\n" : "");
    }
  }

  const WarcCatOptions& options_;
  std::ostream& out_;
};

// Goes to the first record that a reader of pages would want for a URL.
Status FindUrl(WarcReader& reader, const std::string& url) {
  std::string key = store::SurtKey(url);
  while (true) {
    NEPHILA_TRY(ReadState state, reader.Next());
    if (state == ReadState::kEnd) {
      return Unexpected(
          Error{ErrorCode::kNotFound,
                fmt::format("{}: no record of {}", reader.path(), url)});
    }
    if (state != ReadState::kRecord) {
      NEPHILA_TRY([[maybe_unused]] bool found, reader.Resync());
      continue;
    }
    RecordType type = reader.header().type();
    bool wanted =
        type == RecordType::kResponse || type == RecordType::kResource ||
        type == RecordType::kRevisit || type == RecordType::kConversion;
    if (wanted && store::SurtKey(reader.header().target_uri()) == key) {
      return {};
    }
  }
}

// The archive and offset that a line of an index names.
Status TakeCdxj(const WarcCatOptions& options, std::string* path,
                uint64_t* offset) {
  auto line = store::ParseCdxj(*options.cdxj);
  if (!line) {
    return Usage(fmt::format("--cdxj: {}", CdxjErrorText(line.error())));
  }
  if (!line->offset || line->filename.empty()) {
    return Usage("--cdxj: the line names no file and offset");
  }
  *offset = *line->offset;
  // A name from an index leads nowhere but into the folder that was given.
  std::string name(store::BaseName(line->filename));
  *path = options.files.empty() ? name : options.files[0];
  if (std::filesystem::is_directory(*path)) *path += "/" + name;
  return {};
}

Status CheckOne(FileSystem& fs, const std::string& path,
                const WarcVerifyOptions& options, std::ostream& out, bool* ok) {
  std::string shown = EscapeForTerminal(path);
  if (options.repair && path.ends_with(".open")) {
    return Usage(shown + ": a crawl writes it, and mends it when it goes on");
  }
  auto print = [&](const store::Finding& finding) {
    bool error = finding.severity == store::Severity::kError;
    if (!error && options.quiet) return;
    out << fmt::format("{}: offset {}: {}: {}\n", shown, finding.offset,
                       error ? "error" : "note",
                       EscapeForTerminal(finding.what));
  };
  NEPHILA_TRY(auto report, store::VerifyArchive(fs, path, {}, print));
  bool index_missing = options.repair && !report.has_index;
  if (options.repair && (!report.ok() || index_missing)) {
    NEPHILA_RETURN_IF_ERROR(
        store::RepairArchive(fs, path, {}, [&out](const std::string& what) {
          out << EscapeForTerminal(what) << '\n';
        }));
    NEPHILA_TRY(report, store::VerifyArchive(fs, path, {},
                                             [](const store::Finding&) {}));
  }
  *ok = report.ok();
  out << fmt::format("{}: {}, {} records, {} digests, {} errors, {} notes{}\n",
                     shown, report.ok() ? "ok" : "NOT OK", report.records,
                     report.digests, report.errors, report.notes,
                     report.has_index ? ", index compared" : "");
  return {};
}

Status CopyTo(FileSystem& fs, const std::string& path, std::ostream& out) {
  NEPHILA_TRY(auto file, fs.Open(path, OpenMode::kRead));
  std::string buffer(size_t{64} << 10, '\0');
  for (uint64_t offset = 0;;) {
    NEPHILA_TRY(size_t got,
                file->Read(offset, std::as_writable_bytes(std::span(buffer))));
    if (got == 0) return {};
    out << std::string_view(buffer).substr(0, got);
    offset += got;
  }
}

// An index that lacks records is written all the same, and said to.
Status CheckComplete(const store::IndexCounts& counts) {
  if (counts.damages + counts.sharing == 0) return {};
  return Damaged(fmt::format(
      "the index lacks what is behind {} damaged places, and {} records that "
      "share a compressed member (see nephila warc verify)",
      counts.damages, counts.sharing));
}

// The lines of archives go through a sorter, and its output is merged with the
// indexes that are sorted already.
Status IndexAll(FileSystem& fs, const std::vector<std::string>& files,
                const std::string& output, store::IndexCounts* sum) {
  std::vector<std::string> sorted;
  std::string own = output + ".own";
  store::CdxjSorter sorter(fs, own);
  bool any = false;
  for (const std::string& path : files) {
    if (path.ends_with(".cdxj")) {
      sorted.push_back(path);
      continue;
    }
    any = true;
    NEPHILA_TRY(const store::IndexCounts counts,
                store::IndexArchive(fs, path, store::IndexedName(path),
                                    [&](const store::CdxjLine& line) {
                                      return sorter.Add(FormatCdxj(line));
                                    }));
    sum->damages += counts.damages;
    sum->sharing += counts.sharing;
  }
  if (any) {
    NEPHILA_RETURN_IF_ERROR(sorter.Finish());
    sorted.push_back(own);
  }
  Status merged;
  if (auto lines = store::MergeCdxj(fs, sorted, output); !lines) {
    merged = Unexpected(std::move(lines).error());
  }
  if (any) IgnoreError(fs.Remove(own), "scratch");
  return merged;
}

}  // namespace

Status RunWarcLs(FileSystem& fs, const WarcLsOptions& options,
                 std::ostream& out) {
  if (options.files.empty()) return Usage("warc ls: which file?");
  Lister lister(options.json, out);
  uint64_t damages = 0;
  for (const std::string& path : options.files) {
    if (options.files.size() > 1 && !options.json) {
      out << EscapeForTerminal(path) << ":\n";
    }
    NEPHILA_TRY(uint64_t found, lister.List(fs, path));
    damages += found;
  }
  if (damages > 0) {
    return Damaged(
        fmt::format("{} damaged places (see nephila warc verify)", damages));
  }
  return {};
}

Status RunWarcCat(FileSystem& fs, const WarcCatOptions& options,
                  std::ostream& out) {
  int ways =
      (options.offset ? 1 : 0) + (options.url ? 1 : 0) + (options.cdxj ? 1 : 0);
  if (ways != 1) return Usage("warc cat: one of --offset, --url and --cdxj");
  if (options.files.size() > 1 || (options.files.empty() && !options.cdxj)) {
    return Usage("warc cat: one file");
  }
  std::string path = options.files.empty() ? "" : options.files[0];
  uint64_t offset = options.offset.value_or(0);
  if (options.cdxj) {
    NEPHILA_RETURN_IF_ERROR(TakeCdxj(options, &path, &offset));
  }
  NEPHILA_TRY(auto reader, WarcReader::Open(fs, path));
  if (options.url) {
    NEPHILA_RETURN_IF_ERROR(FindUrl(*reader, *options.url));
  } else {
    reader->Seek(offset);
    NEPHILA_TRY(ReadState state, reader->Next());
    if (state != ReadState::kRecord) {
      return Damaged(fmt::format(
          "{}: offset {}: {}", path, offset,
          state == ReadState::kEnd ? "the file ends here" : reader->damage()));
    }
  }
  return Cat(options, out).Print(*reader);
}

Status RunWarcVerify(FileSystem& fs, const WarcVerifyOptions& options,
                     std::ostream& out) {
  if (options.files.empty()) return Usage("warc verify: which file?");
  size_t bad = 0;
  for (const std::string& path : options.files) {
    bool ok = false;
    NEPHILA_RETURN_IF_ERROR(CheckOne(fs, path, options, out, &ok));
    if (!ok) ++bad;
  }
  if (bad > 0) {
    return Damaged(
        fmt::format("{} of {} archives not right", bad, options.files.size()));
  }
  return {};
}

Status RunWarcIndex(FileSystem& fs, const WarcIndexOptions& options,
                    std::ostream& out) {
  if (options.files.empty()) return Usage("warc index: which file?");
  if (options.beside && options.output) {
    return Usage("warc index: --beside and --output exclude each other");
  }
  store::IndexCounts sum;
  if (options.beside) {
    for (const std::string& path : options.files) {
      NEPHILA_TRY(const store::IndexCounts counts,
                  store::RebuildIndex(fs, path));
      sum.damages += counts.damages;
      sum.sharing += counts.sharing;
      out << fmt::format("{}: {} lines\n",
                         EscapeForTerminal(store::IndexPathOf(path)),
                         counts.lines);
    }
  } else if (options.output) {
    NEPHILA_RETURN_IF_ERROR(IndexAll(fs, options.files, *options.output, &sum));
  } else {
    NEPHILA_TRY(auto folder, TemporaryFolder::Make());
    std::string scratch = folder->path() + "/index";
    NEPHILA_RETURN_IF_ERROR(IndexAll(fs, options.files, scratch, &sum));
    NEPHILA_RETURN_IF_ERROR(CopyTo(fs, scratch, out));
  }
  return CheckComplete(sum);
}

}  // namespace nephila::cli
