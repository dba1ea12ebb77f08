#include "cli/fetch_cmd.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/clock.h"
#include "base/real_file_system.h"
#include "base/text.h"
#include "cli/agent.h"
#include "cli/file_limit.h"
#include "cli/lines.h"
#include "crawl/polite_fetch.h"
#include "crawl/real_web.h"
#include "fetch/connection_budget.h"
#include "net/event_loop.h"

namespace nephila::cli {
namespace {

using Json = nlohmann::ordered_json;

// A tool for a list of URLs, not a crawl.
constexpr size_t kMostInFlight = 1000;

Json RobotsJson(const crawl::RobotsWord& word) {
  Json robots;
  robots["allowed"] = word.allowed;
  robots["rule"] = nullptr;
  robots["line"] = nullptr;
  if (!word.rule.empty()) {
    robots["rule"] = word.rule;
    robots["line"] = word.line;
  }
  robots["verdict"] = word.verdict;
  if (word.status != 0) robots["status"] = word.status;
  if (word.outcome != item::FetchOutcome::kResponse) {
    robots["outcome"] = item::FetchOutcomeName(word.outcome);
  }
  if (!word.error.empty()) robots["error"] = word.error;
  return robots;
}

void AddResult(const crawl::FetchedUrl& fetched, Json* line) {
  const fetch::FetchResult& result = *fetched.result;
  if (!result.error.empty()) (*line)["error"] = result.error;
  if (!result.certificate_error.empty()) {
    (*line)["certificate_error"] = result.certificate_error;
  }
  if (!result.address_text.empty()) {
    (*line)["address"] = result.address_text;
    (*line)["port"] = result.port;
  }
  if (result.protocol_count > 0) {
    (*line)["protocol"] = Json::array();
    for (size_t i = 0; i < result.protocol_count; ++i) {
      (*line)["protocol"].push_back(result.protocols[i]);
    }
  }
  if (!result.cipher_suite.empty()) (*line)["cipher"] = result.cipher_suite;
  (*line)["reused"] = result.reused;
  Json times;
  if (fetched.answer != nullptr) times["dns"] = Seconds(fetched.answer->took);
  times["connect"] = Seconds(result.timings.connect);
  if (result.timings.tls.count() != 0) {
    times["tls"] = Seconds(result.timings.tls);
  }
  times["first_byte"] = Seconds(result.timings.first_byte);
  times["total"] = Seconds(result.timings.total);
  (*line)["times"] = times;
  Json bytes;
  bytes["out"] = result.bytes_out;
  bytes["in"] = result.bytes_in;
  bytes["body"] = result.body.size_bytes();
  if (fetched.facts.parsed) bytes["content"] = fetched.facts.content_bytes;
  (*line)["bytes"] = bytes;
}

void AddPage(const crawl::FetchedUrl& fetched, const FetchCmdOptions& options,
             Json* line) {
  const crawl::PageFacts& facts = fetched.facts;
  if (!fetched.location.empty()) (*line)["location"] = fetched.location;
  if (!facts.parsed) return;
  (*line)["type"] = facts.media_type;
  (*line)["kind"] = parse::ContentKindName(facts.kind);
  if (facts.decoding != coding::DecodeState::kWhole) {
    (*line)["decoding"] = coding::DecodeStateName(facts.decoding);
  }
  if (facts.chunks_broken) (*line)["chunks"] = "broken";
  if (!facts.use.index) (*line)["noindex"] = true;
  if (!facts.use.follow) (*line)["nofollow"] = true;
  (*line)["links"] = facts.out;
  Json dropped = Json::object();
  auto add = [&dropped](std::string_view reason, uint64_t count) {
    if (count != 0) dropped[std::string(reason)] = count;
  };
  add("unwanted", facts.unwanted);
  add("nofollow", facts.nofollow);
  add("repeated", facts.repeated);
  add("not-crawled", facts.not_crawled);
  if (!dropped.empty()) (*line)["dropped"] = dropped;
  if (options.links) (*line)["links"] = fetched.links;
  if (options.text) {
    (*line)["title"] = facts.title;
    (*line)["text"] = facts.text;
  }
}

void Print(const crawl::FetchedUrl& fetched, const FetchCmdOptions& options,
           std::ostream& out) {
  Json line;
  line["url"] = fetched.url;
  if (!fetched.via.empty()) line["via"] = fetched.via;
  line["outcome"] = item::FetchOutcomeName(fetched.outcome);
  if (fetched.result != nullptr && fetched.result->status != 0) {
    line["status"] = fetched.result->status;
    std::string_view truncated =
        item::TruncationName(fetched.result->truncation);
    if (!truncated.empty()) line["truncated"] = truncated;
  }
  line["robots"] = RobotsJson(fetched.robots);
  AddPage(fetched, options, &line);
  if (fetched.result != nullptr) AddResult(fetched, &line);
  if (!fetched.record_id.empty()) line["record"] = fetched.record_id;
  // What is no UTF-8 is shown with U+FFFD: JSON cannot hold it.
  out << line.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  out.flush();
}

Result<std::unique_ptr<store::Store>> OpenStore(const Setup& setup,
                                                const std::string& folder,
                                                FileSystem& fs,
                                                const Clock& clock) {
  store::StoreOptions options;
  options.settings = setup.settings.store;
  options.folder = folder;
  options.log_path = folder + "/crawl.log";
  options.seed = RandomSeed();
  NEPHILA_TRY(bool exists, fs.Exists(options.log_path));
  if (exists) {
    return Unexpected(
        Error{ErrorCode::kAlreadyExists,
              "--warc " + EscapeForTerminal(folder) +
                  ": holds an archive already; name another folder"});
  }
  options.info = ArchiveInfo(setup.settings);
  return store::Store::OpenAt(fs, clock, std::move(options), std::nullopt);
}

// As many as the limit of open files allows.
size_t MaxInFlight() {
  // Sockets of the resolver, files and what libraries open are besides.
  constexpr size_t kOtherFiles = 100;
  const size_t limit = RaiseFileLimit();
  return std::min(limit - std::min(limit / 2, kOtherFiles), kMostInFlight);
}

}  // namespace

Status RunFetch(const Setup& setup, const FetchCmdOptions& options,
                std::istream& in, std::ostream& out) {
  const RealClock clock;
  NEPHILA_TRY(const auto loop, net::EventLoop::Make(clock));
  const size_t max_in_flight = MaxInFlight();
  fetch::ConnectionBudget connections(max_in_flight);
  NEPHILA_TRY(const auto web,
              crawl::RealWeb::Make(setup.settings, setup.suffixes, clock,
                                   &connections));
  NEPHILA_TRY(const auto resolver, web->MakeResolver(*loop));
  NEPHILA_TRY(const auto fetcher, web->MakeFetcher(*loop));
  auto fs = MakeRealFileSystem();
  std::unique_ptr<store::Store> store;
  if (!options.warc.empty()) {
    NEPHILA_TRY(store, OpenStore(setup, options.warc, *fs, clock));
  }
  crawl::PoliteFetch fetch({{*loop, *resolver, *fetcher, web->limits(),
                             setup.settings, max_in_flight},
                            setup.settings,
                            setup.suffixes,
                            store.get(),
                            options.redirects,
                            [&](const crawl::FetchedUrl& fetched) {
                              Print(fetched, options, out);
                            }});
  for (const std::string& url : options.urls) {
    NEPHILA_RETURN_IF_ERROR(fetch.Add(url));
  }
  if (options.from_input) {
    Status added;
    NEPHILA_RETURN_IF_ERROR(ForEachLine(in, [&](const std::string& line) {
      if (added) added = fetch.Add(line);
    }));
    NEPHILA_RETURN_IF_ERROR(added);
  }
  // A reader that has left gets no more answers: nobody is asked for them.
  while (fetch.busy() && out.good()) {
    loop->RunOnce(clock.Now() + std::chrono::seconds(60));
  }
  NEPHILA_RETURN_IF_ERROR(fetch.status());
  return store != nullptr ? store->Finish() : Status();
}

}  // namespace nephila::cli
