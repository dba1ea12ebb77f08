#include "store/index_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "base/hash.h"
#include "store/line_file.h"

namespace nephila::store {
namespace {

uint64_t NumberOf(std::string_view timestamp) {
  uint64_t number = 0;
  std::from_chars(timestamp.data(), timestamp.data() + timestamp.size(),
                  number);
  return number;
}

uint64_t Hash(std::string_view text) { return KeyedHash(text, 0); }

}  // namespace

void IndexChecker::AddRecord(const CdxjLine& line) {
  if (!line.offset || !line.length) return;
  if (entries_.size() >= max_records_) {
    full_ = true;
    return;
  }
  entries_.push_back({*line.offset, *line.length, Hash(line.url),
                      Hash(line.digest), NumberOf(line.timestamp), false});
}

std::string IndexChecker::CompareLine(const CdxjLine& line) {
  if (!line.offset) return "no offset";
  auto entry = std::lower_bound(
      entries_.begin(), entries_.end(), *line.offset,
      [](const Entry& e, uint64_t offset) { return e.offset < offset; });
  if (entry == entries_.end() || entry->offset != *line.offset) {
    // Behind what is remembered nothing can be said.
    if (full_ && entry == entries_.end()) return "";
    return fmt::format("no record for it at offset {}", *line.offset);
  }
  entry->seen = true;
  if (line.length && *line.length != entry->length) {
    return fmt::format("length {}, but the record at offset {} has {}",
                       *line.length, *line.offset, entry->length);
  }
  if (Hash(line.url) != entry->url) {
    return fmt::format("another URL than the record at offset {}",
                       *line.offset);
  }
  if (NumberOf(line.timestamp) != entry->timestamp) {
    return fmt::format("another time than the record at offset {}",
                       *line.offset);
  }
  if (!line.digest.empty() && Hash(line.digest) != entry->digest) {
    return fmt::format("another digest than the record at offset {}",
                       *line.offset);
  }
  return "";
}

Result<uint64_t> IndexChecker::Compare(
    FileSystem& fs, const std::string& index_path, std::string_view filename,
    const std::function<void(std::string)>& say) {
  NEPHILA_TRY(auto file, fs.Open(index_path, OpenMode::kRead));
  LineReader reader(*file, kLongestCdxjLine);
  uint64_t differences = 0;
  auto report = [&](std::string what) {
    if (differences++ < kMostSaid) say(std::move(what));
  };
  std::string text;
  std::string last;
  while (true) {
    NEPHILA_TRY(bool more, reader.Next(&text));
    if (!more) break;
    if (text.empty() || IsCdxjHeader(text)) continue;
    if (text < last) {
      report(fmt::format("line {}: not in order", reader.number()));
    }
    last = text;
    auto line = ParseCdxj(text);
    if (!line) {
      report(fmt::format("line {}: {}", reader.number(),
                         CdxjErrorText(line.error())));
      continue;
    }
    if (line->filename != filename) continue;
    std::string wrong = CompareLine(*line);
    if (!wrong.empty()) {
      report(fmt::format("line {}: {}", reader.number(), wrong));
    }
  }
  for (const Entry& entry : entries_) {
    if (!entry.seen) {
      report(fmt::format("no line for the record at offset {}", entry.offset));
    }
  }
  return differences;
}

}  // namespace nephila::store
