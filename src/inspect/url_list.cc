#include "inspect/url_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "base/pair_sorter.h"
#include "crawl/archived_page.h"
#include "inspect/history.h"
#include "item/outcome_policy.h"
#include "job/job_folder.h"
#include "store/line_file.h"
#include "store/log_line.h"
#include "url/record_keys.h"

namespace nephila::inspect {
namespace {

constexpr size_t kLongestLine = size_t{1} << 20;
constexpr uint64_t kNoBound = std::numeric_limits<uint64_t>::max();

bool Takes(const ListFilter& filter, std::string_view host,
           std::string_view pld) {
  return (filter.host.empty() || filter.host == host) &&
         (filter.domain.empty() || filter.domain == pld);
}

// The attempts of a job in the order of time, numbered; the same whenever it
// is read: logs are read up to where they ended when this was made.
class AttemptReader {
 public:
  explicit AttemptReader(JobView& job) : job_(job) {}

  Status Open() {
    for (size_t i = 0; i < job_.streams(); ++i) {
      const std::string path =
          fmt::format("{}/{}", job_.Path(job::kArchiveDir), crawl::LogName(i));
      auto file = job_.fs().Open(path, OpenMode::kRead);
      if (!file.has_value()) {
        if (file.error().code == ErrorCode::kNotFound) continue;
        return Unexpected(std::move(file).error());
      }
      Stream stream;
      stream.file = *std::move(file);
      NEPHILA_TRY(stream.size, stream.file->Size());
      streams_.push_back(std::move(stream));
    }
    return Rewind();
  }

  Status Rewind() {
    next_ = 0;
    for (Stream& stream : streams_) {
      stream.offset = 0;
      stream.reader =
          std::make_unique<store::LineReader>(*stream.file, kLongestLine);
      NEPHILA_RETURN_IF_ERROR(stream.Advance());
    }
    return {};
  }

  // The next attempt to fetch a page; false behind the last.
  Result<bool> Next(EndedUrl* url, uint64_t* number) {
    while (true) {
      if (current_ != nullptr) NEPHILA_RETURN_IF_ERROR(current_->Advance());
      current_ = nullptr;
      for (Stream& stream : streams_) {
        if (stream.line &&
            (current_ == nullptr || stream.line->made < current_->line->made)) {
          current_ = &stream;
        }
      }
      if (current_ == nullptr) return false;
      const store::LogLine& line = *current_->line;
      if (line.is_name() || line.is_robots()) continue;
      url->url = line.url;
      url->when = line.made;
      url->outcome = OutcomeOf(line);
      url->status = std::max(line.status, 0);
      url->attempt = AttemptOf(line);
      *number = next_++;
      return true;
    }
  }

 private:
  struct Stream {
    // To the next whole line.
    Status Advance() {
      line.reset();
      while (offset < size) {
        NEPHILA_TRY(const bool is_there, reader->Next(&text));
        if (!is_there) break;
        offset += text.size() + 1;
        // The last may have been written in part.
        if (offset > size) break;
        line = store::ParseLogLine(text);
        if (line) break;
      }
      return {};
    }

    std::unique_ptr<File> file;
    std::unique_ptr<store::LineReader> reader;
    uint64_t size = 0;
    uint64_t offset = 0;
    std::string text;
    std::optional<store::LogLine> line;  // views `text`
  };

  JobView& job_;
  std::vector<Stream> streams_;
  Stream* current_ = nullptr;
  uint64_t next_ = 0;
};

class EndedList {
 public:
  EndedList(JobView& job, const ListOptions& options, bool only_failed)
      : job_(job),
        options_(options),
        only_failed_(only_failed),
        attempts_(job),
        of_url_(job.fs(), options.scratch, "urls", options.memory_bytes / 2),
        last_(job.fs(), options.scratch, "last", options.memory_bytes / 2) {}

  Status Run(const EndedSink& sink) {
    NEPHILA_RETURN_IF_ERROR(attempts_.Open());
    NEPHILA_RETURN_IF_ERROR(NoteAttempts());
    if (only_failed_) NEPHILA_RETURN_IF_ERROR(NoteWaiting());
    NEPHILA_RETURN_IF_ERROR(FindLast());
    NEPHILA_RETURN_IF_ERROR(attempts_.Rewind());
    return GiveLast(sink);
  }

 private:
  // Behind all attempts.
  static constexpr uint64_t kWaits = kNoBound;

  // By the key of each URL, its attempts by number.
  Status NoteAttempts() {
    EndedUrl url;
    uint64_t number = 0;
    while (true) {
      NEPHILA_TRY(const bool is_there, attempts_.Next(&url, &number));
      if (!is_there) return {};
      const auto canonical =
          job_.canonicalizer().Canonicalize(url.url, nullptr);
      if (!canonical.has_value() ||
          !Takes(options_.filter, canonical->host, canonical->pld)) {
        continue;
      }
      NEPHILA_RETURN_IF_ERROR(of_url_.Add({canonical->keys.url.value, number}));
    }
  }

  // What waits has not failed for good.
  Status NoteWaiting() {
    HeldUrls held(job_, kNoBound);
    return held.ForEach([&](const HeldUrl& url) -> Result<bool> {
      // Another link to it says nothing.
      if (url.where == HeldIn::kSeenLink || url.where == HeldIn::kSeed) {
        return true;
      }
      NEPHILA_RETURN_IF_ERROR(of_url_.Add(
          {url::KeysOf(url.record, job_.seed()).url.value, kWaits}));
      return true;
    });
  }

  Status FindLast() {
    std::optional<PairSorter::Pair> last;
    Status added;
    const auto end = [&] {
      if (last && last->value != kWaits && added.has_value()) {
        added = last_.Add({last->value, 0});
      }
    };
    NEPHILA_RETURN_IF_ERROR(of_url_.Merge([&](const PairSorter::Pair& pair) {
      if (last && last->key != pair.key) end();
      last = pair;
    }));
    end();
    return added;
  }

  // The numbers come in order, as the attempts do.
  Status GiveLast(const EndedSink& sink) {
    EndedUrl url;
    uint64_t number = 0;
    bool is_over = false;
    Status status;
    const auto give = [&](uint64_t wanted) -> Status {
      while (!is_over) {
        NEPHILA_TRY(const bool is_there, attempts_.Next(&url, &number));
        is_over = !is_there;
        if (is_over || number != wanted) continue;
        const item::OutcomeRow& row = item::RowFor(url.outcome, url.status);
        if (only_failed_ && row.url == item::UrlStep::kDone) return {};
        NEPHILA_TRY(const bool more, sink(url));
        is_over = !more;
        return {};
      }
      return {};
    };
    NEPHILA_RETURN_IF_ERROR(last_.Merge([&](const PairSorter::Pair& pair) {
      if (status.has_value() && !is_over) status = give(pair.key);
    }));
    return status;
  }

  JobView& job_;
  const ListOptions& options_;
  const bool only_failed_;
  AttemptReader attempts_;
  PairSorter of_url_;
  PairSorter last_;
};

}  // namespace

Status ListSeen(JobView& job, const ListOptions& options,
                const EndedSink& sink) {
  return EndedList(job, options, /*only_failed=*/false).Run(sink);
}

Status ListFailed(JobView& job, const ListOptions& options,
                  const EndedSink& sink) {
  return EndedList(job, options, /*only_failed=*/true).Run(sink);
}

Status ListWaiting(JobView& job, const ListFilter& filter,
                   const HeldUrls::Sink& sink) {
  HeldUrls held(job, kNoBound);
  return held.ForEach([&](const HeldUrl& url) -> Result<bool> {
    if (!Takes(filter, url.record.host(), url.record.pld())) return true;
    return sink(url);
  });
}

}  // namespace nephila::inspect
