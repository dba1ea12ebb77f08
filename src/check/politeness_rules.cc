#include "check/politeness_rules.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>
#include <vector>

#include "check/journal_check.h"
#include "config/load.h"
#include "crawl/archive_folders.h"
#include "fetch/response_head.h"
#include "job/job_folder.h"
#include "job/manifest.h"
#include "store/archive_name.h"
#include "url/parser.h"

namespace nephila::check {
namespace {

using std::chrono::nanoseconds;

using crawl::kMostStreams;

// Those of the settings, and of the job's last manifest.
std::vector<std::string> FoldersOf(FileSystem& fs, const std::string& dir,
                                   const config::Settings& settings) {
  std::vector<std::string> named;
  const auto file = job::JobFolder::Read(fs, dir);
  if (file.has_value()) {
    const auto stored = job::ReadManifests(
        fs, dir + "/" + std::string(job::kManifestsDir), file->key_seed);
    if (stored.has_value() && stored->newest) {
      const auto found = stored->newest->parts.find("archive");
      if (found != stored->newest->parts.end()) {
        const auto part = crawl::ReadArchivePart(found->second);
        if (part.has_value()) named = part->folders;
      }
    }
  }
  return crawl::ArchivePaths(dir, settings.store.folders, named);
}

std::string KeyOf(std::string_view host, std::string_view path) {
  return std::string(host).append(" ").append(path);
}

bool MayAsk(const store::Unit& unit) {
  constexpr int kTooManyRequests = 429;
  constexpr int kUnavailable = 503;
  return unit.is_robots() || !unit.retry_after.empty() ||
         unit.status == kTooManyRequests || unit.status == kUnavailable;
}

// When the answer had come: "2026-01-02T03:04:05.678901Z" and its time. What
// is no date is 1970, and a date to wait for then far away.
WallTime EndOf(const store::Unit& unit) {
  const auto number = [&](size_t at, size_t digits) {
    int value = 0;
    if (unit.date.size() < at + digits) return value;
    std::from_chars(unit.date.data() + at, unit.date.data() + at + digits,
                    value);
    return value;
  };
  const std::chrono::year_month_day day{
      std::chrono::year(number(0, 4)),
      std::chrono::month(static_cast<unsigned>(number(5, 2))),
      std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  if (!day.ok()) return WallTime{};
  int64_t took = 0;
  std::from_chars(unit.fetch_ms.data(),
                  unit.fetch_ms.data() + unit.fetch_ms.size(), took);
  return WallTime(std::chrono::sys_days(day)) +
         std::chrono::hours(number(11, 2)) +
         std::chrono::minutes(number(14, 2)) +
         std::chrono::seconds(number(17, 2)) +
         std::chrono::milliseconds(number(20, 3) + took);
}

// As of the moment of the answer, which a date is compared with.
nanoseconds RetryAfter(const store::Unit& unit,
                       const config::Settings& settings) {
  if (unit.retry_after.empty()) return nanoseconds{0};
  fetch::ResponseHead head(fetch::HeadLimitsOf(settings.fetch));
  const std::string text =
      "HTTP/1.1 200 x\r\nRetry-After: " + unit.retry_after + "\r\n\r\n";
  std::string_view bytes = text;
  if (head.Add(&bytes) != fetch::HeadState::kComplete) return nanoseconds{0};
  return head.RetryAfter(EndOf(unit), settings.politeness.max_retry_after)
      .value_or(nanoseconds{0});
}

}  // namespace

JobAnswers::JobAnswers(FileSystem& fs, std::vector<std::string> folders,
                       const config::Settings& settings)
    : fs_(fs),
      folders_(std::move(folders)),
      settings_(settings),
      archived_(fs, folders_, settings.store.prefix,
                fetch::HeadLimitsOf(settings.fetch)),
      robots_(settings) {}

Result<std::unique_ptr<JobAnswers>> JobAnswers::Read(
    FileSystem& fs, const std::string& dir, const config::Settings& settings) {
  std::unique_ptr<JobAnswers> answers(
      new JobAnswers(fs, FoldersOf(fs, dir, settings), settings));
  for (size_t stream = 0; stream < kMostStreams; ++stream) {
    NEPHILA_RETURN_IF_ERROR(answers->ReadStream(stream));
  }
  if (answers->held_.empty()) {
    NEPHILA_RETURN_IF_ERROR(answers->AddDelays(settings));
  }
  return answers;
}

Status JobAnswers::ReadStream(size_t stream) {
  const std::string prefix =
      crawl::StreamPrefix(settings_.store.prefix, stream);
  std::vector<std::pair<uint64_t, std::string>> files;
  for (const std::string& folder : folders_) {
    NEPHILA_TRY(const auto entries, fs_.List(folder));
    for (const DirEntry& entry : entries) {
      const auto name = store::ParseArchiveName(prefix, entry.name);
      if (name) files.emplace_back(name->serial, folder + "/" + entry.name);
    }
  }
  std::sort(files.begin(), files.end());
  for (const auto& [serial, path] : files) {
    NEPHILA_RETURN_IF_ERROR(ReadFile(stream, path, serial));
  }
  return {};
}

Status JobAnswers::ReadFile(size_t stream, const std::string& path,
                            uint64_t serial) {
  NEPHILA_TRY(const auto reader, store::UnitReader::Open(fs_, path));
  store::Unit unit;
  while (true) {
    NEPHILA_TRY(const bool more, reader->Next(&unit));
    if (!more) return {};
    if (unit.kind == store::UnitKind::kInfo) {
      NEPHILA_RETURN_IF_ERROR(TakeSettings(unit.info));
    }
    const bool is_fetch = unit.kind == store::UnitKind::kFetch;
    if (is_fetch && MayAsk(unit)) {
      NEPHILA_RETURN_IF_ERROR(Take(stream, serial, unit));
    }
  }
}

Status JobAnswers::Take(size_t stream, uint64_t serial,
                        const store::Unit& unit) {
  url::Url url;
  if (!url::Parse(unit.url, nullptr, &url)) return {};
  Answer answer;
  answer.status = unit.status;
  answer.asked.retry_after = RetryAfter(unit, settings_);
  if (unit.is_robots() && unit.status / 100 == 2) {
    const job::ArchivePlace place{static_cast<uint32_t>(stream), serial,
                                  unit.offset, unit.end - unit.offset};
    NEPHILA_TRY(const auto found, archived_.Read(place, std::nullopt));
    if (found == crawl::ArchivedPage::Found::kPage) {
      robots_.ReadHop(archived_.page());
      answer.asked.crawl_delay =
          robots_.Parse().crawl_delay.value_or(std::chrono::milliseconds(0));
      answer.origin =
          hash_(std::string(url.scheme()) + " " + std::string(url.port()));
    }
  }
  std::string path(url.path());
  if (url.has_query()) path.append("?").append(url.query());
  answers_[hash_(KeyOf(url.host(), path))].push_back(answer);
  ++count_;
  return {};
}

sim::AskedFor JobAnswers::Find(std::string_view host, std::string_view path,
                               int status) {
  const auto found = answers_.find(hash_(KeyOf(host, path)));
  if (found == answers_.end()) return {};
  std::deque<Answer>& answers = found->second;
  const auto answer =
      std::find_if(answers.begin(), answers.end(),
                   [&](const Answer& one) { return one.status == status; });
  if (answer == answers.end()) return {};
  sim::AskedFor asked = answer->asked;
  if (asked.crawl_delay) {
    // Each origin of a host has its own, and the log does not tell them apart:
    // the least of them is what all requests have to keep.
    auto& delays = delays_[hash_(host)];
    delays[answer->origin] = asked.crawl_delay->count();
    const auto least = std::min_element(
        delays.begin(), delays.end(),
        [](const auto& a, const auto& b) { return a.second < b.second; });
    asked.crawl_delay = nanoseconds(least->second);
  }
  answers.erase(answer);
  return asked;
}

// "setting: politeness.host_delay = "1s"": those that were not at their
// defaults.
Status JobAnswers::TakeSettings(std::string_view info) {
  constexpr std::string_view kName = "setting: ";
  config::Settings settings;
  bool any = false;
  while (!info.empty()) {
    const size_t end = std::min(info.find("\r\n"), info.size());
    const std::string_view line = info.substr(0, end);
    info.remove_prefix(std::min(end + 2, info.size()));
    if (!line.starts_with(kName)) continue;
    any = true;
    // One of a later nephila says nothing here.
    IgnoreError(
        config::ApplyToml(line.substr(kName.size()), "warcinfo", &settings),
        "a setting that is not known any more");
  }
  return any ? AddDelays(settings) : Status();
}

Status JobAnswers::AddDelays(const config::Settings& settings) {
  const config::PolitenessSettings& politeness = settings.politeness;
  Delays delays;
  delays.text = config::FormatToml(settings);
  if (std::find(held_.begin(), held_.end(), delays) != held_.end()) return {};
  delays.host = politeness.host_delay;
  delays.server = politeness.server_delay;
  if (settings.crawl.budgets) {
    delays.host =
        std::min<nanoseconds>(delays.host, politeness.host_delay_floor);
    delays.server =
        std::min<nanoseconds>(delays.server, politeness.server_delay_floor);
  }
  delays.server_in_flight = static_cast<uint64_t>(politeness.server_in_flight);
  NEPHILA_TRY(delays.sites,
              politeness::SiteDelays::Parse(politeness.site_delays));
  held_.push_back(std::move(delays));
  return {};
}

sim::PolitenessRules JobAnswers::Rules() {
  sim::PolitenessRules rules;
  rules.groups = net::ServerGroups::Of(settings_.guard);
  rules.host_delay = rules.server_delay = nanoseconds::max();
  for (const Delays& delays : held_) {
    rules.host_delay = std::min(rules.host_delay, delays.host);
    rules.server_delay = std::min(rules.server_delay, delays.server);
    rules.server_in_flight =
        std::max(rules.server_in_flight, delays.server_in_flight);
  }
  rules.site_delay = [this](std::string_view host) {
    std::optional<nanoseconds> least;
    for (const Delays& delays : held_) {
      const nanoseconds delay = delays.sites.Find(host).value_or(delays.host);
      if (!least || delay < *least) least = delay;
    }
    return least;
  };
  rules.asked_for = [this](std::string_view host, std::string_view path,
                           int status) { return Find(host, path, status); };
  return rules;
}

}  // namespace nephila::check
