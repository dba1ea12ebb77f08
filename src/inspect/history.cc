#include "inspect/history.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/text.h"
#include "crawl/archived_page.h"
#include "item/url_record.h"
#include "job/job_folder.h"
#include "store/archive_index.h"
#include "store/archive_name.h"
#include "store/cdxj_search.h"
#include "store/line_file.h"
#include "store/surt.h"
#include "store/warc_reader.h"
#include "url/record_keys.h"

namespace nephila::inspect {
namespace {

using item::FetchOutcome;

// URLs have 64 KiB at most, and a line has three of them.
constexpr size_t kLongestLine = size_t{1} << 20;
// Of a unit: request, response, metadata, and one to spare.
constexpr int kMostRecords = 4;
constexpr int kMostRenames = 8;

// Without the newest the rest is of little use.
template <typename T>
void KeepLast(std::vector<T>* all, size_t most) {
  if (all->size() > most) {
    all->erase(all->begin(), all->end() - static_cast<std::ptrdiff_t>(most));
  }
}

bool IsSame(const FetchAttempt& of_log, const job::Entry& entry) {
  return of_log.attempt == entry.attempt && of_log.outcome == entry.outcome &&
         of_log.status == entry.status && !of_log.is_in_journal;
}

}  // namespace

FetchOutcome OutcomeOf(const store::LogLine& line) {
  if (line.status > 1) return FetchOutcome::kResponse;
  if (line.is_name()) return FetchOutcome::kDnsAnswer;
  std::optional<FetchOutcome> found;
  for (uint8_t i = 0; i < item::kFetchOutcomes; ++i) {
    const auto outcome = static_cast<FetchOutcome>(i);
    if (outcome == FetchOutcome::kTooManyRetries ||
        !HasNote(line, FetchOutcomeName(outcome))) {
      continue;
    }
    found = outcome;
  }
  return found.value_or(FetchOutcome::kTooManyRetries);
}

bool IsGivenUp(const store::LogLine& line) {
  return HasNote(line, FetchOutcomeName(FetchOutcome::kTooManyRetries));
}

Status HistoryReader::ReadLog(
    const std::string& path,
    const std::function<Status(const store::LogLine& line,
                               std::string_view text)>& take) {
  auto opened = job_.fs().Open(path, OpenMode::kRead);
  if (!opened.has_value()) {
    // A stream that has not written a line yet.
    if (opened.error().code == ErrorCode::kNotFound) return {};
    return Unexpected(std::move(opened).error());
  }
  File& file = **opened;
  NEPHILA_TRY(const uint64_t size, file.Size());
  const uint64_t begin = size - std::min(size, most_bytes_);
  log_bytes_ += size;
  log_read_ += size - begin;
  store::LineReader reader(file, kLongestLine, begin);
  std::string text;
  bool is_cut = begin > 0;
  while (true) {
    NEPHILA_TRY(const bool is_there, reader.Next(&text));
    if (!is_there) return {};
    // The first may be the rest of a line, the last may still be written.
    if (const auto line = store::ParseLogLine(text); line && !is_cut) {
      NEPHILA_RETURN_IF_ERROR(take(*line, text));
    }
    is_cut = false;
  }
}

Status HistoryReader::ForEachLine(
    const std::function<Status(const store::LogLine& line,
                               std::string_view text)>& take) {
  log_bytes_ = 0;
  log_read_ = 0;
  for (size_t i = 0; i < job_.streams(); ++i) {
    NEPHILA_RETURN_IF_ERROR(ReadLog(
        fmt::format("{}/{}", job_.Path(job::kArchiveDir), crawl::LogName(i)),
        take));
  }
  return {};
}

bool HistoryReader::IsOf(std::string_view url, url::UrlKey key) {
  const auto canonical = job_.canonicalizer().Canonicalize(url, nullptr);
  return canonical.has_value() && canonical->keys.url == key;
}

Status HistoryReader::ReadLogs(std::string_view pld, url::UrlKey key,
                               History* history) {
  NEPHILA_RETURN_IF_ERROR(ForEachLine([&](const store::LogLine& line,
                                          std::string_view) -> Status {
    // Parsing each URL would take most of the time.
    if (line.is_name() || line.is_robots() ||
        line.url.find(pld) == std::string_view::npos || !IsOf(line.url, key)) {
      return {};
    }
    FetchAttempt attempt;
    attempt.when = line.made;
    attempt.outcome = OutcomeOf(line);
    attempt.status = std::max(line.status, 0);
    attempt.attempt = AttemptOf(line);
    attempt.bytes = line.bytes;
    if (line.media_type != "-") attempt.media_type = line.media_type;
    attempt.is_given_up = IsGivenUp(line);
    history->attempts.push_back(std::move(attempt));
    ++history->attempt_count;
    KeepLast(&history->attempts, 2 * History::kMostAttempts);
    return {};
  }));
  history->log_bytes = log_bytes_;
  history->log_read = log_read_;
  return {};
}

// What the log has as well is completed, what it has not yet is added.
Status HistoryReader::ReadJournal(url::UrlKey key, History* history) {
  std::vector<job::ArchivePlace> places;
  NEPHILA_RETURN_IF_ERROR(job_.ForEachEntry(
      [&](const JobView::JournalEntry& numbered) -> Result<bool> {
        const job::Entry& entry = numbered.entry;
        if (entry.kind != job::EntryKind::kPage) return true;
        const auto record = item::ReadUrl(entry.record);
        if (!record.has_value() ||
            url::KeysOf(*record, job_.seed()).url != key) {
          return true;
        }
        auto& attempts = history->attempts;
        auto same = std::find_if(attempts.begin(), attempts.end(),
                                 [&](const FetchAttempt& attempt) {
                                   return IsSame(attempt, entry);
                                 });
        if (same == attempts.end()) {
          ++history->attempt_count;
          same = attempts.insert(attempts.end(), FetchAttempt());
          same->when = FormatUtc(entry.when);
          same->outcome = entry.outcome;
          same->status = entry.status;
          same->attempt = entry.attempt;
          same->bytes = entry.body_bytes;
        }
        same->is_in_journal = true;
        same->retry = entry.retry;
        if (entry.goes_on) {
          same->followed = entry.next;
        } else if (entry.retry) {
          same->again = entry.when + entry.url_wait;
        }
        if (entry.archive) places.push_back(*entry.archive);
        return true;
      }));
  KeepLast(&places, History::kMostAttempts);
  for (const job::ArchivePlace& place : places) {
    Status status = ReadPlaced(place, key);
    // Finished meanwhile: its index is asked below.
    if (!status.has_value() && status.error().code != ErrorCode::kNotFound) {
      return status;
    }
  }
  return {};
}

// Of an archive that may be open.
Status HistoryReader::ReadPlaced(const job::ArchivePlace& place,
                                 url::UrlKey key) {
  const std::string prefix =
      crawl::StreamPrefix(job_.settings().store.prefix, place.stream);
  for (const std::string& folder : job_.archives()) {
    NEPHILA_TRY(const auto entries, job_.fs().List(folder));
    for (const DirEntry& entry : entries) {
      const auto name = store::ParseArchiveName(prefix, entry.name);
      if (!name || name->serial != place.serial) continue;
      NEPHILA_TRY(const auto reader, store::WarcReader::Open(
                                         job_.fs(), folder + "/" + entry.name));
      reader->Seek(place.offset);
      for (int i = 0; i < kMostRecords; ++i) {
        NEPHILA_TRY(store::ReadState state, reader->Next());
        if (state != store::ReadState::kRecord) return {};
        NEPHILA_TRY(const auto line,
                    store::IndexRecord(*reader, name->FinalText(), &state));
        if (line && IsOf(line->url, key)) {
          AddCopy(*line);
          return {};
        }
        if (state != store::ReadState::kRecord) return {};
      }
    }
  }
  return {};
}

void HistoryReader::AddCopy(const store::CdxjLine& line) {
  ArchivedCopy copy;
  copy.file = line.filename;
  copy.offset = line.offset.value_or(0);
  copy.timestamp = line.timestamp;
  copy.status = line.status;
  copy.media_type = line.mime;
  for (const auto& [name, value] : line.others) {
    if (name == "redirect") copy.redirect = value;
  }
  const bool is_known = std::any_of(
      copies_.begin(), copies_.end(), [&](const ArchivedCopy& other) {
        return other.file == copy.file && other.offset == copy.offset;
      });
  if (!is_known) copies_.push_back(std::move(copy));
  std::stable_sort(copies_.begin(), copies_.end(),
                   [](const ArchivedCopy& a, const ArchivedCopy& b) {
                     return a.timestamp < b.timestamp;
                   });
  KeepLast(&copies_, History::kMostAttempts);
}

Status HistoryReader::ReadArchives(std::string_view url, url::UrlKey key) {
  // An archive that is finished meanwhile has another name then.
  Status status = LookInArchives(url, key);
  for (int i = 0; i < kMostRenames && !status.has_value() &&
                  status.error().code == ErrorCode::kNotFound;
       ++i) {
    not_read_.clear();
    status = LookInArchives(url, key);
  }
  return status;
}

Status HistoryReader::LookInArchives(std::string_view url, url::UrlKey key) {
  const std::string surt = store::SurtKey(url);
  const auto take = [&](const store::CdxjLine& line) {
    if (line.key == surt && IsOf(line.url, key)) AddCopy(line);
  };
  for (const std::string& folder : job_.archives()) {
    NEPHILA_TRY(const auto entries, job_.fs().List(folder));
    for (const DirEntry& entry : entries) {
      const std::string path = folder + "/" + entry.name;
      if (entry.name.ends_with(store::kIndexSuffix)) {
        NEPHILA_RETURN_IF_ERROR(
            store::FindInIndex(job_.fs(), path, surt, take));
      } else if (entry.name.ends_with(store::kOpenSuffix)) {
        NEPHILA_TRY(const auto file, job_.fs().Open(path, OpenMode::kRead));
        NEPHILA_TRY(const uint64_t size, file->Size());
        if (size > most_bytes_) {
          not_read_.push_back(entry.name);
          continue;
        }
        NEPHILA_RETURN_IF_ERROR(
            store::IndexArchive(job_.fs(), path, store::IndexedName(path),
                                [&](const store::CdxjLine& line) -> Status {
                                  take(line);
                                  return {};
                                }));
      }
    }
  }
  return {};
}

Result<std::vector<ArchivedCopy>> HistoryReader::Copies(std::string_view url,
                                                        url::UrlKey key) {
  copies_.clear();
  not_read_.clear();
  NEPHILA_RETURN_IF_ERROR(ReadArchives(url, key));
  return std::exchange(copies_, {});
}

Result<History> HistoryReader::Read(std::string_view url, std::string_view pld,
                                    url::UrlKey key) {
  History history;
  copies_.clear();
  not_read_.clear();
  NEPHILA_RETURN_IF_ERROR(ReadLogs(pld, key, &history));
  NEPHILA_RETURN_IF_ERROR(ReadJournal(key, &history));
  NEPHILA_RETURN_IF_ERROR(ReadArchives(url, key));
  // Streams have a log each.
  std::stable_sort(history.attempts.begin(), history.attempts.end(),
                   [](const FetchAttempt& a, const FetchAttempt& b) {
                     return a.when < b.when;
                   });
  KeepLast(&history.attempts, History::kMostAttempts);
  history.copies = std::exchange(copies_, {});
  history.archives_not_read = std::exchange(not_read_, {});
  return history;
}

}  // namespace nephila::inspect
