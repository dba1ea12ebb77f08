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
#include "dns/cares_resolver.h"
#include "fetch/cookie_jar.h"
#include "fetch/curl_fetcher.h"
#include "fetch/rate_limit.h"
#include "net/address_guard.h"
#include "net/event_loop.h"

namespace nephila::cli {
namespace {

using Json = nlohmann::ordered_json;

// A tool for a list of URLs, not a crawl.
constexpr size_t kMostInFlight = 1000;

double Seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

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
  options.info = {
      {"software", "nephila"},
      {"http-header-user-agent", fetch::UserAgent(setup.settings.agent)},
      {"robots", "obey"}};
  for (auto& field : store::SettingsInfo(setup.settings)) {
    options.info.push_back(std::move(field));
  }
  return store::Store::OpenAt(fs, clock, std::move(options), std::nullopt);
}

// The engine and its surroundings, in the order in which they need each other.
class Engine {
 public:
  static Result<std::unique_ptr<Engine>> Make(const Setup& setup) {
    auto engine = std::unique_ptr<Engine>(new Engine());
    NEPHILA_TRY(
        engine->options_,
        fetch::FetchOptions::Make(setup.settings.agent, setup.settings.fetch));
    NEPHILA_TRY(engine->guard_, net::AddressGuard::Make(setup.settings.guard));
    NEPHILA_TRY(engine->loop_, net::EventLoop::Make(engine->clock_));
    NEPHILA_TRY(engine->pool_,
                fetch::BodyPool::Make(setup.settings.fetch.body_memory_bytes));
    engine->share_ = std::make_unique<fetch::BodyShare>(*engine->pool_);
    engine->rate_ = std::make_unique<fetch::RateLimit>(setup.settings.fetch,
                                                       engine->clock_);
    if (setup.settings.fetch.cookies) {
      engine->cookies_ = std::make_unique<fetch::CookieJar>(
          setup.settings.fetch, setup.suffixes, engine->clock_);
    }
    // Sockets of the resolver, files and what libraries open are besides.
    constexpr size_t kOtherFiles = 100;
    engine->max_in_flight_ =
        std::clamp<size_t>(RaiseFileLimit(), 2 * kOtherFiles, kMostInFlight) -
        kOtherFiles;
    NEPHILA_TRY(engine->resolver_,
                dns::CaresResolver::Make(*engine->loop_, engine->guard_,
                                         setup.settings.dns));
    NEPHILA_TRY(
        engine->fetcher_,
        fetch::CurlFetcher::Make(
            {*engine->loop_, engine->options_, engine->guard_, *engine->share_,
             engine->rate_.get(), engine->cookies_.get()}));
    return engine;
  }

  crawl::Contacts::Parts Parts(const Setup& setup) {
    return {*loop_,          *resolver_,     *fetcher_,
            options_.limits, setup.settings, max_in_flight_};
  }
  net::EventLoop& loop() { return *loop_; }
  const Clock& clock() const { return clock_; }

 private:
  Engine() = default;

  RealClock clock_;
  fetch::FetchOptions options_;
  net::AddressGuard guard_;
  std::unique_ptr<net::EventLoop> loop_;
  std::unique_ptr<fetch::BodyPool> pool_;
  std::unique_ptr<fetch::BodyShare> share_;
  std::unique_ptr<fetch::RateLimit> rate_;
  std::unique_ptr<fetch::CookieJar> cookies_;
  size_t max_in_flight_ = 0;
  std::unique_ptr<dns::CaresResolver> resolver_;
  std::unique_ptr<fetch::CurlFetcher> fetcher_;
};

}  // namespace

Status RunFetch(const Setup& setup, const FetchCmdOptions& options,
                std::istream& in, std::ostream& out) {
  NEPHILA_RETURN_IF_ERROR(CheckAgent(setup.settings.agent));
  NEPHILA_TRY(auto engine, Engine::Make(setup));
  auto fs = MakeRealFileSystem();
  std::unique_ptr<store::Store> store;
  if (!options.warc.empty()) {
    NEPHILA_TRY(store, OpenStore(setup, options.warc, *fs, engine->clock()));
  }
  crawl::PoliteFetch fetch({engine->Parts(setup), setup.settings,
                            setup.suffixes, store.get(), options.redirects,
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
  while (fetch.busy()) {
    engine->loop().RunOnce(engine->clock().Now() + std::chrono::seconds(60));
  }
  NEPHILA_RETURN_IF_ERROR(fetch.status());
  return store != nullptr ? store->Finish() : Status();
}

}  // namespace nephila::cli
