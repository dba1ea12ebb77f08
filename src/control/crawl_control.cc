#include "control/crawl_control.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "config/live.h"
#include "config/load.h"
#include "config/table.h"
#include "control/block_entry.h"
#include "control/metrics.h"
#include "control/sockets.h"
#include "crawl/memory_plan.h"
#include "crawl/retry_command.h"
#include "job/blocked.h"
#include "politeness/site_delays.h"

namespace nephila::control {
namespace {

using std::chrono::seconds;

constexpr seconds kSampleInterval{1};
constexpr seconds kDiskUseHolds{10};

Unexpected<Error> Wrong(std::string message) {
  return Unexpected(Error{ErrorCode::kInvalidArgument, std::move(message)});
}

Json Done() {
  Json json;
  json["ok"] = true;
  return json;
}

// The strings of a list in a request.
Result<std::vector<std::string>> StringsOf(const Json& request,
                                           const char* name) {
  std::vector<std::string> strings;
  const auto found = request.find(name);
  if (found == request.end() || !found->is_array() || found->empty()) {
    return Wrong(std::string(name) + ": a list of strings is needed");
  }
  for (const Json& one : *found) {
    if (!one.is_string()) return Wrong(std::string(name) + ": strings only");
    strings.push_back(one.get<std::string>());
  }
  return strings;
}

}  // namespace

LogLevel LevelOf(config::LogDetail detail) {
  switch (detail) {
    case config::LogDetail::kDebug:
      return LogLevel::kDebug;
    case config::LogDetail::kInfo:
      return LogLevel::kInfo;
    case config::LogDetail::kWarning:
      return LogLevel::kWarn;
    case config::LogDetail::kError:
      return LogLevel::kError;
  }
  return LogLevel::kInfo;
}

Result<std::unique_ptr<CrawlControl>> CrawlControl::Open(const Parts& parts) {
  std::unique_ptr<CrawlControl> control(new CrawlControl(parts));
  NEPHILA_TRY(control->kept_, job::KeptSettings::Read(parts.fs, parts.dir));
  // First, since an address that cannot be had is the user's to change.
  NEPHILA_RETURN_IF_ERROR(control->OpenHttp());
  ControlServer::Options options;
  options.version = parts.version;
  NEPHILA_TRY(control->server_,
              ControlServer::Open(parts.crawl.loop(), parts.dir, options));
  control->AddVerbs();
  control->Sample();
  return control;
}

Status CrawlControl::OpenHttp() {
  const std::string& where = parts_.crawl.settings().control.http;
  if (where.empty()) return {};
  NEPHILA_TRY(const net::Endpoint endpoint, ParseLoopback(where));
  auto http = HttpServer::Open(parts_.crawl.loop(), endpoint);
  if (!http.has_value()) return Wrong(http.error().message);
  http_ = *std::move(http);
  const auto offer = [this](const char* path, std::string_view media_type,
                            std::string (*text_of)(const LiveFacts&)) {
    http_->Add(path, std::string(media_type),
               [this, text_of](const std::function<void(std::string)>& done) {
                 Look([text_of, done](const LiveFacts& facts) {
                   done(text_of(facts));
                 });
               });
  };
  offer("/metrics", kMetricsMediaType, MetricsText);
  offer("/status", "application/json", [](const LiveFacts& facts) {
    return StatusJson(facts).dump(-1, ' ', /*ensure_ascii=*/false,
                                  Json::error_handler_t::replace) +
           "\n";
  });
  parts_.log.Info("metrics and status on http://{}/",
                  http_->endpoint().ToString());
  return {};
}

std::optional<net::Endpoint> CrawlControl::http() const {
  if (http_ == nullptr) return std::nullopt;
  return http_->endpoint();
}

CrawlControl::~CrawlControl() { parts_.crawl.loop().Cancel(timer_); }

void CrawlControl::AddVerbs() {
  server_->AddLater(
      "status", [this](const Json&, const ControlServer::Answer& answer) {
        Look([answer](const LiveFacts& facts) { answer(StatusJson(facts)); });
      });
  server_->Add("pause", [this](const Json&) { return Pause(true); });
  server_->Add("resume", [this](const Json&) { return Pause(false); });
  server_->AddLater(
      "checkpoint", [this](const Json&, const ControlServer::Answer& answer) {
        parts_.crawl.TakeCheckpoint([answer](const Result<uint64_t>& number) {
          if (!number.has_value()) return answer(ErrorAnswer(number.error()));
          Json json = Done();
          json["checkpoint"] = *number;
          answer(std::move(json));
        });
      });
  server_->AddLater(
      "host", [this](const Json& request, const ControlServer::Answer& answer) {
        AskHost(request, answer);
      });
  server_->Add("set", [this](const Json& request) { return Set(request); });
  server_->Add("block", [this](const Json& request) { return Block(request); });
  server_->Add("retry", [this](const Json& request) { return Retry(request); });
}

void CrawlControl::Look(std::function<void(const LiveFacts&)> done) {
  // The dispatcher's thread first: the frontier's facts are of the moment at
  // which both are known.
  parts_.crawl.AskDispatcher(
      [this, done = std::move(done)](const crawl::DispatcherFacts& dispatcher) {
        const MonoTime now = parts_.clock.Now();
        LiveFacts facts = FactsOf(parts_.crawl, now);
        facts.dispatcher = dispatcher;
        pages_.Note(now, facts.status.pages);
        bytes_.Note(now, facts.status.bytes);
        facts.pages_now = pages_.Over(seconds(10));
        facts.pages_minute = pages_.Over(seconds(60));
        facts.bytes_now = bytes_.Over(seconds(10));
        facts.bytes_minute = bytes_.Over(seconds(60));
        facts.disk_used = DiskUsed();
        facts.kept = kept_.values();
        facts.version = parts_.version;
        done(facts);
      });
}

void CrawlControl::AskHost(const Json& request,
                           const ControlServer::Answer& answer) {
  const auto url = request.find("url");
  if (url == request.end() || !url->is_string()) {
    return answer(ErrorAnswer(
        {ErrorCode::kInvalidArgument, "host: the request has no \"url\""}));
  }
  parts_.crawl.AskHost(
      url->get<std::string>(),
      [answer](const std::optional<crawl::HostLook>& look) {
        if (!look) {
          return answer(ErrorAnswer(
              {ErrorCode::kInvalidArgument, "host: no URL that is crawled"}));
        }
        answer(HostJson(*look));
      });
}

void CrawlControl::Sample() {
  const MonoTime now = parts_.clock.Now();
  const crawl::Accounts& accounts = parts_.crawl.frontier().accounts();
  pages_.Note(now, accounts.pages.value());
  bytes_.Note(now, accounts.bytes.value());
  timer_ = parts_.crawl.loop().At(now + kSampleInterval, [this] { Sample(); });
}

uint64_t CrawlControl::DiskUsed() {
  const MonoTime now = parts_.clock.Now();
  if (now >= disk_used_until_) {
    disk_used_ = DiskUse(parts_.crawl.Folders());
    disk_used_until_ = now + kDiskUseHolds;
  }
  return disk_used_;
}

Json CrawlControl::Pause(bool pause) {
  using crawl::CrawlState;
  const CrawlState state = parts_.crawl.state();
  if (state == CrawlState::kStopping || state == CrawlState::kStopped) {
    return ErrorAnswer({ErrorCode::kStopped, "the crawl is ending"});
  }
  const bool was = parts_.crawl.is_paused();
  if (pause) {
    parts_.crawl.Pause();
  } else {
    parts_.crawl.Resume();
  }
  if (was != pause) parts_.log.Info("{}", pause ? "paused" : "resumed");
  Json json = Done();
  json["was"] = was ? "paused" : "running";
  json["in_flight"] = parts_.crawl.status().in_flight;
  return json;
}

Json CrawlControl::Set(const Json& request) {
  const auto assignments = StringsOf(request, "settings");
  if (!assignments.has_value()) return ErrorAnswer(assignments.error());
  Json values = Json::object();
  if (Status status = SetAll(*assignments, &values); !status) {
    parts_.log.Warn("refused: set: {}", status.error().message);
    return ErrorAnswer(status.error());
  }
  Json json = Done();
  json["settings"] = std::move(values);
  return json;
}

// All of them or none.
Status CrawlControl::SetAll(const std::vector<std::string>& assignments,
                            Json* values) {
  config::Settings settings = parts_.crawl.settings();
  std::vector<const config::Row*> rows;
  for (const std::string& assignment : assignments) {
    NEPHILA_TRY(const config::Row* const row, config::RowOfSet(assignment));
    if (!config::IsLive(row->name)) {
      return Unexpected(config::NotLive(row->name));
    }
    NEPHILA_RETURN_IF_ERROR(config::ApplySet(assignment, &settings));
    rows.push_back(row);
  }
  NEPHILA_RETURN_IF_ERROR(
      politeness::SiteDelays::Parse(settings.politeness.site_delays));
  // In the folder first: what is said to be set is so after a crash too.
  job::KeptSettings kept = kept_;
  for (const config::Row* row : rows) kept.Keep(row->name, settings);
  NEPHILA_RETURN_IF_ERROR(kept.Write(parts_.fs, parts_.dir));
  kept_ = std::move(kept);
  for (const config::Row* row : rows) {
    const std::string value = config::FormatValue(*row, row->get(&settings));
    (*values)[std::string(row->name)] = value;
    parts_.log.Info("set {} = {}", row->name, value);
  }
  const size_t transfers = crawl::PlanMemory(settings).transfers;
  settings.crawl.max_transfers =
      static_cast<int64_t>(std::min(transfers, parts_.most_transfers));
  parts_.log.SetLevel(LevelOf(settings.log.level));
  parts_.crawl.Change(settings);
  return {};
}

Json CrawlControl::Retry(const Json& request) {
  std::vector<std::string> outcomes;
  const auto given = request.find("outcomes");
  if (given != request.end() && !given->empty()) {
    auto strings = StringsOf(request, "outcomes");
    if (!strings.has_value()) return ErrorAnswer(strings.error());
    outcomes = *std::move(strings);
  }
  const auto command = crawl::RetryText(outcomes);
  if (!command.has_value()) return ErrorAnswer(command.error());
  Json json = Done();
  json["failed"] = parts_.crawl.frontier().failed();
  if (Status status = parts_.crawl.Command(*command); !status) {
    return ErrorAnswer(status.error());
  }
  parts_.log.Info("command: {}", *command);
  return json;
}

Json CrawlControl::Block(const Json& request) {
  const auto entries = StringsOf(request, "entries");
  if (!entries.has_value()) return ErrorAnswer(entries.error());
  std::vector<std::string> lines;
  for (const std::string& entry : *entries) {
    auto line = BlockEntry(entry, parts_.crawl.settings().url, parts_.suffixes);
    if (!line.has_value()) return ErrorAnswer(line.error());
    lines.push_back(*std::move(line));
  }
  const Status written = job::AppendBlocked(parts_.fs, parts_.dir, lines);
  // Also after an error: what is in the file holds.
  parts_.crawl.ReadBlockLists();
  if (!written.has_value()) return ErrorAnswer(written.error());
  for (const std::string& line : lines) parts_.log.Info("blocked: {}", line);
  Json json = Done();
  json["blocked"] = lines;
  return json;
}

}  // namespace nephila::control
