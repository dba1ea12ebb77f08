#include "cli/why_cmd.h"

#include <chrono>
#include <memory>
#include <ostream>
#include <type_traits>

#include "base/clock.h"
#include "cli/job_files.h"
#include "control/control_client.h"
#include "inspect/job_view.h"
#include "inspect/why.h"
#include "inspect/why_words.h"

namespace nephila::cli {
namespace {

template <typename T>
T Member(const control::Json& json, const char* name) {
  const auto found = json.find(name);
  T value{};
  if (found == json.end()) return value;
  if constexpr (std::is_same_v<T, bool>) {
    if (found->is_boolean()) value = found->template get<bool>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (found->is_string()) value = found->template get<std::string>();
  } else {
    if (found->is_number_integer()) value = found->template get<T>();
  }
  return value;
}

// What the crawl that runs says, if one does.
inspect::LiveHost AskCrawl(const std::string& dir, const std::string& word) {
  inspect::LiveHost live;
  const auto client = control::ControlClient::Connect(dir);
  if (!client.has_value()) {
    if (client.error().code != ErrorCode::kNotFound) {
      live.error = client.error().message;
    }
    return live;
  }
  const std::string url =
      inspect::IsHostName(word) ? "http://" + word + "/" : word;
  const auto answer = (*client)->Ask({{"verb", "host"}, {"url", url}});
  if (!answer.has_value()) {
    // No URL that is crawled: the files say why.
    if (answer.error().code != ErrorCode::kInvalidArgument) {
      live.error = answer.error().message;
    }
    return live;
  }
  live.is_asked = true;
  live.in_flight = Member<bool>(*answer, "in_flight");
  live.in_memory = Member<bool>(*answer, "in_memory");
  live.resolving = Member<bool>(*answer, "resolving");
  live.waits_for = Member<std::string>(*answer, "waits_for");
  live.reason = Member<std::string>(*answer, "reason");
  live.until = std::chrono::milliseconds(Member<int64_t>(*answer, "until_ms"));
  live.delay = std::chrono::milliseconds(Member<int64_t>(*answer, "delay_ms"));
  live.urls = Member<uint64_t>(*answer, "urls");
  live.hosts_ahead = Member<uint64_t>(*answer, "hosts_ahead");
  live.authority = Member<std::string>(*answer, "authority");
  live.failures = Member<uint32_t>(*answer, "failures");
  live.overloads = Member<uint32_t>(*answer, "overloads");
  return live;
}

Status Explain(inspect::JobView& job, const std::string& word,
               const inspect::LiveHost& live,
               const inspect::WhyOptions& options, bool json,
               const Clock& clock, std::string* text) {
  const WallTime now = clock.WallNow();
  if (inspect::IsHostName(word)) {
    NEPHILA_TRY(const inspect::HostFacts facts,
                inspect::ExplainHost(job, word, live, options));
    *text = json ? inspect::FormatJson(facts) + "\n"
                 : inspect::FormatText(facts, now);
    return {};
  }
  NEPHILA_TRY(const inspect::UrlFacts facts,
              inspect::ExplainUrl(job, word, live, options));
  *text = json ? inspect::FormatJson(facts, now) + "\n"
               : inspect::FormatText(facts, now);
  return {};
}

}  // namespace

Status RunWhy(const Setup& setup, const WhyCmdOptions& options,
              std::ostream& out) {
  if (options.words.empty()) {
    return Unexpected(
        Error{ErrorCode::kInvalidArgument, "why: which URL or host?"});
  }
  const auto fs = OpenJobFiles(options.job, setup.settings);
  const RealClock clock;
  const inspect::JobOptions job{options.job, setup.settings};
  inspect::WhyOptions why;
  why.scan = options.scan;
  for (const std::string& word : options.words) {
    const inspect::LiveHost live = AskCrawl(options.job, word);
    std::string text;
    NEPHILA_RETURN_IF_ERROR(
        inspect::LookAt(*fs, job, [&](inspect::JobView& view) {
          return Explain(view, word, live, why, options.json, clock, &text);
        }));
    out << text;
  }
  return {};
}

}  // namespace nephila::cli
