#include "check/politeness_rules.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "check/journal_check.h"
#include "fetch/response_head.h"
#include "job/job_folder.h"
#include "store/archive_name.h"
#include "url/parser.h"

namespace nephila::check {
namespace {

using std::chrono::nanoseconds;

constexpr size_t kMostStreams = 1024;

uint64_t KeyOf(std::string_view host, std::string_view path) {
  std::string text(host);
  text.append(" ").append(path);
  return HashOf(text);
}

bool MayAsk(const store::Unit& unit) {
  constexpr int kTooManyRequests = 429;
  constexpr int kUnavailable = 503;
  return unit.is_robots() || !unit.retry_after.empty() ||
         unit.status == kTooManyRequests || unit.status == kUnavailable;
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
  const auto now = ParseUtc(unit.date);
  if (!now) return nanoseconds{0};
  return head.RetryAfter(*now, settings.politeness.max_retry_after)
      .value_or(nanoseconds{0});
}

}  // namespace

JobAnswers::JobAnswers(FileSystem& fs, std::string dir,
                       const config::Settings& settings,
                       politeness::SiteDelays site_delays)
    : fs_(fs),
      dir_(std::move(dir)),
      settings_(settings),
      site_delays_(std::move(site_delays)),
      archived_(fs, dir_, fetch::HeadLimitsOf(settings.fetch)),
      robots_(settings) {}

Result<std::unique_ptr<JobAnswers>> JobAnswers::Read(
    FileSystem& fs, const std::string& dir,
    const config::Settings& settings) {
  NEPHILA_TRY(
      politeness::SiteDelays site_delays,
      politeness::SiteDelays::Parse(settings.politeness.site_delays));
  std::unique_ptr<JobAnswers> answers(
      new JobAnswers(fs, dir + "/" + std::string(job::kArchiveDir), settings,
                     std::move(site_delays)));
  for (size_t stream = 0; stream < kMostStreams; ++stream) {
    NEPHILA_RETURN_IF_ERROR(answers->ReadStream(stream));
  }
  return answers;
}

Status JobAnswers::ReadStream(size_t stream) {
  NEPHILA_TRY(const auto entries, fs_.List(dir_));
  const std::string prefix =
      crawl::StreamPrefix(settings_.store.prefix, stream);
  std::vector<std::pair<uint64_t, std::string>> files;
  for (const DirEntry& entry : entries) {
    const auto name = store::ParseArchiveName(prefix, entry.name);
    if (name) files.emplace_back(name->serial, dir_ + "/" + entry.name);
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
    NEPHILA_TRY(
        const auto found,
        archived_.Read(place,
                       crawl::StreamPrefix(settings_.store.prefix, stream)));
    if (found == crawl::ArchivedPage::Found::kPage) {
      robots_.ReadHop(archived_.page());
      answer.asked.crawl_delay =
          robots_.Parse().crawl_delay.value_or(std::chrono::milliseconds(0));
      answer.origin = HashOf(std::string(url.scheme()) + " " +
                             std::string(url.port()));
    }
  }
  std::string path(url.path());
  if (url.has_query()) path.append("?").append(url.query());
  answers_[KeyOf(url.host(), path)].push_back(answer);
  ++count_;
  return {};
}

sim::AskedFor JobAnswers::Find(std::string_view host, std::string_view path,
                               int status) {
  const auto found = answers_.find(KeyOf(host, path));
  if (found == answers_.end()) return {};
  std::deque<Answer>& answers = found->second;
  const auto answer = std::find_if(
      answers.begin(), answers.end(),
      [&](const Answer& one) { return one.status == status; });
  if (answer == answers.end()) return {};
  sim::AskedFor asked = answer->asked;
  if (asked.crawl_delay) {
    // Each origin of a host has its own, and the log does not tell them apart:
    // the least of them is what all requests have to keep.
    auto& delays = delays_[HashOf(host)];
    delays[answer->origin] = asked.crawl_delay->count();
    const auto least = std::min_element(
        delays.begin(), delays.end(),
        [](const auto& a, const auto& b) { return a.second < b.second; });
    asked.crawl_delay = nanoseconds(least->second);
  }
  answers.erase(answer);
  return asked;
}

sim::PolitenessRules JobAnswers::Rules() {
  const config::PolitenessSettings& settings = settings_.politeness;
  sim::PolitenessRules rules;
  rules.host_delay = settings.host_delay;
  rules.server_delay = settings.server_delay;
  if (settings_.crawl.budgets) {
    rules.host_delay = std::min(rules.host_delay, nanoseconds(
                                                      settings.host_delay_floor));
  }
  // One budget for all in a crawl without; but a server's mean is of numbers
  // that nobody stores.
  rules.server_delay = std::min(
      rules.server_delay,
      settings_.crawl.budgets ? nanoseconds(settings.server_delay_floor)
                              : rules.server_delay);
  rules.server_in_flight =
      static_cast<uint64_t>(settings.server_in_flight);
  rules.site_delay = [this](std::string_view host) {
    return site_delays_.Find(host);
  };
  rules.asked_for = [this](std::string_view host, std::string_view path,
                           int status) { return Find(host, path, status); };
  return rules;
}

}  // namespace nephila::check
