#include "check/archive_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "crawl/archive_folders.h"
#include "crawl/archived_page.h"
#include "store/archive_index.h"
#include "store/archive_name.h"
#include "store/archive_scan.h"
#include "store/verify.h"

namespace nephila::check {
namespace {

using crawl::kMostStreams;

// Of the number that a duplicate is found by: which file, and where in it.
constexpr int kOffsetBits = 40;
constexpr uint64_t kPageSalt = 0xBB67AE8584CAA73B;

std::string LogPath(const std::string& dir, size_t stream) {
  return dir + "/" + crawl::LogName(stream);
}

store::Position BeginOf(const job::ArchivePlace& place) {
  return {place.serial, place.offset};
}

bool IsRedirect(const store::Unit& unit) { return unit.status / 100 == 3; }

}  // namespace

ArchiveCheck::ArchiveCheck(const Parts& parts, Findings* findings)
    : parts_(parts),
      findings_(*findings),
      pages_(parts.fs, parts.scratch, "nephila-sort", parts.memory_bytes) {}

void ArchiveCheck::Run() {
  ListStreams();
  for (Stream& stream : streams_) CheckStream(&stream);
  FindDuplicates();
  EndParts();
}

void ArchiveCheck::ListStreams() {
  struct Found {
    std::string folder;
    std::string name;
  };
  std::vector<Found> found;
  for (const std::string& folder : parts_.folders) {
    const auto entries = parts_.fs.List(folder);
    if (!entries.has_value()) {
      is_damaged_ = true;
      findings_.Report(folder, std::nullopt, entries.error().message);
      continue;
    }
    if (folder != parts_.dir) {
      files_.insert(folder + "/" + std::string(crawl::kOwnerName));
    }
    for (const DirEntry& entry : *entries) {
      if (!entry.is_directory) found.push_back({folder, entry.name});
    }
  }
  uint32_t last = 0;
  for (const PlacedEntry& entry : parts_.journal.placed) {
    last = std::max(last, std::min(entry.place.stream, kMostStreams - 1));
  }
  for (size_t i = 0; i < kMostStreams; ++i) {
    Stream stream;
    stream.number = i;
    const std::string prefix = crawl::StreamPrefix(parts_.prefix, i);
    for (const Found& one : found) {
      const auto name = store::ParseArchiveName(prefix, one.name);
      if (!name) continue;
      ArchiveFile file{one.folder + "/" + one.name, name->serial, name->open,
                       0};
      if (const auto opened = parts_.fs.Open(file.path, OpenMode::kRead)) {
        file.size = (*opened)->Size().value_or(0);
      }
      stream.files.push_back(std::move(file));
    }
    std::sort(stream.files.begin(), stream.files.end(),
              [](const ArchiveFile& a, const ArchiveFile& b) {
                return a.serial < b.serial;
              });
    if (i < parts_.positions.size()) stream.position = parts_.positions[i];
    const bool is_there =
        !stream.files.empty() || i <= last || i < parts_.positions.size();
    if (is_there) streams_.push_back(std::move(stream));
  }
}

void ArchiveCheck::CheckStream(Stream* stream) {
  CheckSerials(*stream);
  TakeEntries(stream);
  const std::string log = LogPath(parts_.dir, stream->number);
  files_.insert(log);
  stream->log = std::make_unique<LogCheck>(
      parts_.fs, log, stream->position.log_bytes,
      FormatUtc(parts_.journal.first_when), &findings_);
  for (const ArchiveFile& file : stream->files) {
    files_.insert(file.path);
    bytes_ += file.size;
    CheckFile(*stream, file);
    WalkUnits(stream, file);
  }
  while (stream->next_entry < stream->entries.size()) {
    MissEntry(*stream, stream->entries[stream->next_entry++], nullptr, nullptr);
  }
  stream->log->Finish();
}

// From 1 on without a gap, and as far as the manifest says.
void ArchiveCheck::CheckSerials(const Stream& stream) {
  const std::string prefix = crawl::StreamPrefix(parts_.prefix, stream.number);
  const auto gone = [&](uint64_t serial) {
    is_damaged_ = true;
    findings_.Report(
        parts_.dir, std::nullopt,
        fmt::format("{}-*-{:05}*.warc.* is missing", prefix, serial));
  };
  uint64_t next = 1;
  for (const ArchiveFile& file : stream.files) {
    if (file.serial < next) {
      findings_.Report(
          file.path, std::nullopt,
          fmt::format("a second file {} of its stream", file.serial));
    }
    for (; next < file.serial; ++next) gone(next);
    next = file.serial + 1;
  }
  const store::Position& position = stream.position.archive;
  const uint64_t last =
      position.serial - (position.offset == 0 && position.serial > 0 ? 1 : 0);
  for (; next <= last; ++next) gone(next);
  for (const ArchiveFile& file : stream.files) {
    if (file.serial != position.serial || file.size >= position.offset) {
      continue;
    }
    is_damaged_ = true;
    findings_.Report(file.path, file.size,
                     fmt::format("ends here, and a checkpoint has seen {} "
                                 "bytes",
                                 position.offset));
  }
}

void ArchiveCheck::CheckFile(const Stream& stream, const ArchiveFile& file) {
  const store::Position& position = stream.position.archive;
  const std::string index = store::IndexPathOf(file.path);
  const auto say = [&](const store::Finding& finding) {
    if (finding.severity != store::Severity::kError) return;
    const bool is_behind =
        file.open && store::Position{file.serial, finding.offset} >= position;
    if (is_behind) {
      findings_.Note(file.path, finding.offset,
                     finding.what +
                         ": a crash left it, the next start cuts "
                         "it");
      return;
    }
    is_damaged_ = true;
    findings_.Report(file.path, finding.offset, finding.what);
  };
  store::VerifyOptions options;
  options.index = false;  // a finished one has to be exact: CheckIndex
  const auto report = store::VerifyArchive(parts_.fs, file.path, options, say);
  if (!report.has_value()) {
    is_damaged_ = true;
    findings_.Report(file.path, std::nullopt, report.error().message);
    return;
  }
  records_ += report->records;
  digests_ += report->digests;
  files_.insert(index);
  if (!file.open) CheckIndex(file, index);
}

// Byte by byte what the archive gives: so each line leads to its record, and
// each record that has a line to that.
void ArchiveCheck::CheckIndex(const ArchiveFile& file,
                              const std::string& index) {
  const auto exists = parts_.fs.Exists(index);
  if (!exists.has_value() || !*exists) {
    findings_.Report(index, std::nullopt,
                     "missing: a finished archive has its index");
    return;
  }
  ++indexes_;
  const auto scan = store::ScanArchive(parts_.fs, file.path,
                                       std::string(store::BaseName(file.path)));
  // Damage of the archive itself has been named.
  if (!scan.has_value() || !scan->damage.empty()) return;
  const auto difference = scan->index.FirstDifference(parts_.fs, index);
  if (!difference.has_value()) {
    findings_.Report(index, std::nullopt, difference.error().message);
  } else if (*difference) {
    findings_.Report(index, **difference,
                     "differs from here on from what the archive gives");
  }
}

// Those that a restart left out go: what a later entry of the stream stands on
// was not there any more when that was written (docs/formats/archive.md).
void ArchiveCheck::TakeEntries(Stream* stream) {
  std::vector<PlacedEntry>& entries = stream->entries;
  for (const PlacedEntry& entry : parts_.journal.placed) {
    if (entry.place.stream == stream->number) entries.push_back(entry);
  }
  std::vector<PlacedEntry> kept;
  kept.reserve(entries.size());
  store::Position least{UINT64_MAX, UINT64_MAX};
  for (size_t i = entries.size(); i-- > 0;) {
    const job::ArchivePlace& place = entries[i].place;
    const store::Position end{place.serial, place.offset + place.size};
    if (end > least) {
      ++void_;
      continue;
    }
    least = BeginOf(place);
    kept.push_back(entries[i]);
  }
  std::reverse(kept.begin(), kept.end());
  entries = std::move(kept);
}

void ArchiveCheck::WalkUnits(Stream* stream, const ArchiveFile& file) {
  auto reader = store::UnitReader::Open(parts_.fs, file.path);
  if (!reader.has_value()) return;  // CheckFile has said it
  paths_.push_back(file.path);
  store::Unit unit;
  while (true) {
    const auto more = (*reader)->Next(&unit);
    if (!more.has_value() || !*more) return;
    if (unit.kind == store::UnitKind::kInfo) continue;
    if (unit.kind == store::UnitKind::kPartial) {
      const store::Position here{file.serial, unit.offset};
      if (file.open && here >= stream->position.archive) {
        findings_.Note(file.path, unit.offset,
                       "records of a fetch whose write was cut off: the next "
                       "start cuts them");
      } else {
        findings_.Report(file.path, unit.offset,
                         "records without the metadata that ends them");
      }
      continue;
    }
    MatchEntry(stream, file, unit);
    stream->log->Match(unit, std::string(store::BaseName(file.path)));
    if (unit.kind == store::UnitKind::kName) {
      ++names_;
      continue;
    }
    ++fetches_;
    NoteForDuplicates(file, unit);
  }
}

void ArchiveCheck::MatchEntry(Stream* stream, const ArchiveFile& file,
                              const store::Unit& unit) {
  const store::Position here{file.serial, unit.offset};
  const std::vector<PlacedEntry>& entries = stream->entries;
  size_t& next = stream->next_entry;
  while (next < entries.size() && BeginOf(entries[next].place) < here) {
    MissEntry(*stream, entries[next++], &file, nullptr);
  }
  if (next < entries.size() && BeginOf(entries[next].place) == here) {
    if (unit.kind == store::UnitKind::kFetch) {
      CompareEntry(entries[next++], file, unit);
    } else {
      MissEntry(*stream, entries[next++], &file, &unit);
    }
    return;
  }
  // Entries of before the journal's beginning are gone.
  const bool is_older = next == 0 && parts_.journal.first > 1;
  if (unit.kind != store::UnitKind::kFetch || is_older) return;
  if (here >= stream->position.archive && next == entries.size()) {
    findings_.Note(file.path, unit.offset,
                   "a record without an entry in the journal: the next start "
                   "cuts it");
  } else if (parts_.journal.whole) {
    findings_.Report(
        file.path, unit.offset,
        "a record of " + unit.url + " without an entry in the journal");
  }
}

void ArchiveCheck::MissEntry(const Stream& stream, const PlacedEntry& entry,
                             const ArchiveFile* file, const store::Unit* unit) {
  // Lost with the power, and left out by the start that followed: nothing
  // stands there, or what was written next. What the archive had by the last
  // manifest is known by other means: sizes, indexes, checksums.
  const bool has_other = unit != nullptr;
  const auto own = std::find_if(
      stream.files.begin(), stream.files.end(),
      [&](const ArchiveFile& one) { return one.serial == entry.place.serial; });
  const bool is_behind =
      own == stream.files.end() || entry.place.offset >= own->size;
  if (has_other || (is_behind && !is_damaged_)) {
    ++void_;
    return;
  }
  const std::string path = own != stream.files.end() ? own->path
                           : file != nullptr         ? file->path
                                                     : parts_.dir;
  findings_.Report(path, entry.place.offset,
                   fmt::format("no record begins here, and journal entry {} "
                               "names it",
                               entry.number));
}

void ArchiveCheck::CompareEntry(const PlacedEntry& entry,
                                const ArchiveFile& file,
                                const store::Unit& unit) {
  ++matched_;
  const auto differ = [&](const std::string& what) {
    findings_.Report(file.path, unit.offset,
                     fmt::format("journal entry {}: {}", entry.number, what));
  };
  if (!IsOf(unit, entry)) {
    return differ("the record is of another URL: " + unit.url);
  }
  if (unit.end - unit.offset != entry.place.size) {
    differ(fmt::format("has {} bytes, and here are {}", entry.place.size,
                       unit.end - unit.offset));
  }
  if (unit.status != entry.status) {
    differ(fmt::format("has status {}, and the record {}", entry.status,
                       unit.status));
  }
  if (unit.attempt != entry.attempt) {
    differ(fmt::format("is attempt {}, and the record of {}", entry.attempt,
                       unit.attempt));
  }
}

bool ArchiveCheck::IsOf(const store::Unit& unit, const PlacedEntry& entry) {
  // Where a redirect of robots.txt led is not in the entry.
  if (entry.is_robots || unit.is_robots()) {
    return entry.is_robots == unit.is_robots();
  }
  if (HashOf(unit.url) == entry.url_hash) return true;
  if (parts_.canonicalizer == nullptr) return true;
  // A redirect that was followed at once leads to the same key.
  const auto canonical = parts_.canonicalizer->Canonicalize(unit.url, nullptr);
  return canonical.has_value() && canonical->keys.url.value == entry.key;
}

void ArchiveCheck::NoteForDuplicates(const ArchiveFile& /*file*/,
                                     const store::Unit& unit) {
  if (unit.is_robots() || unit.revisit || sorter_failed_) return;
  std::string text = unit.url;
  text.append("\n").append(std::to_string(unit.attempt));
  if (IsRedirect(unit)) text.append("\n").append(unit.hop_path);
  const uint64_t place = (paths_.size() - 1) << kOffsetBits | unit.offset;
  const Status added = pages_.Add({KeyedHash(text, kPageSalt), place});
  if (added) return;
  sorter_failed_ = true;
  findings_.Note(parts_.scratch, std::nullopt,
                 "URLs that were archived twice are not looked for: " +
                     added.error().message);
}

void ArchiveCheck::FindDuplicates() {
  if (sorter_failed_) return;
  const auto path_of = [&](uint64_t place) {
    return paths_[place >> kOffsetBits];
  };
  constexpr uint64_t kOffsetMask = (uint64_t{1} << kOffsetBits) - 1;
  std::optional<PairSorter::Pair> before;
  const auto take = [&](const PairSorter::Pair& pair) {
    if (before && before->key == pair.key) {
      findings_.Report(
          path_of(pair.value), pair.value & kOffsetMask,
          fmt::format("archived twice: the same URL and attempt is at offset "
                      "{} of {}",
                      before->value & kOffsetMask,
                      store::BaseName(path_of(before->value))));
    }
    before = pair;
  };
  if (const Status merged = pages_.Merge(take); !merged) {
    findings_.Note(parts_.scratch, std::nullopt,
                   "URLs that were archived twice are not looked for: " +
                       merged.error().message);
  }
}

// Attempts of the journal that left no record have a line, unless it was in
// memory when the process was killed.
void ArchiveCheck::CheckFailures() {
  uint64_t missing = 0;
  for (const uint64_t url : parts_.journal.failed) {
    const bool is_there = std::any_of(
        streams_.begin(), streams_.end(),
        [&](const Stream& one) { return one.log->failures().contains(url); });
    if (!is_there) ++missing;
  }
  if (missing == 0) return;
  findings_.Note(LogPath(parts_.dir, 0), std::nullopt,
                 fmt::format("{} failed attempts of the journal have no line "
                             "(a kill takes those that were in memory)",
                             missing));
}

void ArchiveCheck::EndParts() {
  if (void_ > 0) {
    findings_.Note(parts_.dir, std::nullopt,
                   fmt::format("{} journal entries without their record: they "
                               "were lost with the power, or will be left out "
                               "by the next start",
                               void_));
  }
  size_t files = 0;
  uint64_t of_logs = 0;
  for (const Stream& stream : streams_) {
    files += stream.files.size();
    of_logs += stream.log->counts().damages;
  }
  findings_.EndPart(
      "archive",
      fmt::format("{} files, {} indexes, {} records ({} fetches, {} names), {} "
                  "digests, {} with their journal entry, {}",
                  files, indexes_, records_, fetches_, names_, digests_,
                  matched_, HumanSize(bytes_)),
      of_logs);
  LogCounts sum;
  for (const Stream& stream : streams_) {
    const LogCounts& counts = stream.log->counts();
    sum.lines += counts.lines;
    sum.failures += counts.failures;
    if (counts.without_line + counts.without_unit == 0) continue;
    findings_.Note(LogPath(parts_.dir, stream.number), std::nullopt,
                   fmt::format("{} records without a line, {} lines without a "
                               "record (a crash leaves such)",
                               counts.without_line, counts.without_unit));
  }
  CheckFailures();
  findings_.EndPart("crawl.log",
                    fmt::format("{} lines, {} of them of attempts without a "
                                "record",
                                sum.lines, sum.failures));
}

}  // namespace nephila::check
