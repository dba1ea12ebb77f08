#include "cli/sim_cmd.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <ctime>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/clock.h"
#include "base/real_file_system.h"
#include "base/text.h"
#include "cli/file_limit.h"
#include "sim/simulation.h"
#include "url/parser.h"

namespace nephila::cli {
namespace {

Unexpected<Error> Usage(std::string message) {
  return Unexpected(Error{ErrorCode::kInvalidArgument, std::move(message)});
}

Result<sim::Scenario> LoadScenario(const SimOptions& options) {
  sim::Scenario scenario;
  if (!options.scenario.empty()) {
    const auto fs = MakeRealFileSystem();
    NEPHILA_TRY(
        const std::string text,
        ReadWholeFile(*fs, options.scenario, sim::kMaxScenarioBytes + 1));
    NEPHILA_TRY(scenario, sim::ParseScenario(text, options.scenario));
  }
  sim::Shape& shape = scenario.shape;
  if (options.seed) shape.seed = *options.seed;
  if (options.hosts) shape.hosts = *options.hosts;
  if (options.link_port) shape.port = *options.link_port;
  return scenario;
}

// Every connection is a descriptor.
void PrintReady(const sim::Simulation& simulation, bool json,
                std::ostream& out) {
  const sim::Web& web = simulation.site().web();
  std::string start;
  web.AppendUrl({}, &start);
  if (json) {
    nlohmann::ordered_json line;
    line["port"] = simulation.port();
    line["dns_port"] = simulation.dns_port();
    line["seed"] = web.shape().seed;
    line["hosts"] = web.shape().hosts;
    line["plds"] = web.shape().plds;
    line["addresses"] = web.shape().addresses;
    line["start"] = start;
    out << line.dump() << '\n';
  } else {
    out << fmt::format(
        "Serving {} hosts in {} domains on {} addresses: HTTP on port {}, DNS "
        "on 127.0.0.1 port {}. Begin at {}\n",
        web.shape().hosts, web.shape().plds, web.shape().addresses,
        simulation.port(), simulation.dns_port(), start);
  }
  out.flush();
}

Status Serve(const SimOptions& options, std::ostream& out) {
  NEPHILA_TRY(sim::Scenario scenario, LoadScenario(options));
  RaiseFileLimit();
  // Before there are threads, which inherit it: the signals wait for us.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  sim::SimulationOptions serving;
  serving.port = options.port;
  serving.dns_port = options.dns_port;
  serving.threads = static_cast<size_t>(options.threads);
  serving.log = options.log;
  const auto fs = MakeRealFileSystem();
  RealClock clock;
  NEPHILA_TRY(auto simulation,
              sim::Simulation::Start(std::move(scenario), serving, *fs, clock));
  PrintReady(*simulation, options.json, out);
  // A log that is looked at while we run is a second old at most.
  const timespec second{1, 0};
  while (sigtimedwait(&signals, nullptr, &second) < 0) {
    NEPHILA_RETURN_IF_ERROR(simulation->FlushLog());
  }
  return simulation->Stop();
}

Status PrintPage(const SimOptions& options, const std::string& text,
                 std::ostream& out) {
  url::Url parsed;
  if (!url::Parse(text, nullptr, &parsed) || !parsed.is_http()) {
    return Usage(EscapeForTerminal(text) + ": not an http URL");
  }
  NEPHILA_TRY(sim::Scenario scenario, LoadScenario(options));
  if (scenario.shape.port == 0) {
    const std::string_view port = parsed.port();
    std::from_chars(port.data(), port.data() + port.size(),
                    scenario.shape.port);
  }
  NEPHILA_TRY(const sim::Site site, sim::Site::Make(std::move(scenario)));
  sim::Request request;
  request.method = "GET";
  request.host = parsed.host();
  std::string target(parsed.path());
  if (parsed.has_query()) target.append("?").append(parsed.query());
  request.target = target;
  std::string body;
  const sim::Found found = site.Find(request, &body);
  if (!options.json) {
    out << body;
    return {};
  }
  nlohmann::ordered_json line;
  line["url"] = parsed.href();
  line["status"] = found.status;
  line["bytes"] = body.size();
  line["gzip"] = found.gzip;
  line["links"] = nlohmann::ordered_json::array();
  constexpr std::string_view kHref = "href=\"";
  for (size_t at = body.find(kHref); at != std::string::npos;
       at = body.find(kHref, at)) {
    at += kHref.size();
    line["links"].push_back(body.substr(at, body.find('"', at) - at));
  }
  out << line.dump() << '\n';
  return {};
}

Status PrintSeeds(const SimOptions& options, const std::string& text,
                  std::ostream& out) {
  uint64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc() || read != end) {
    return Usage(EscapeForTerminal(text) + ": not a number of seeds");
  }
  NEPHILA_TRY(const sim::Scenario scenario, LoadScenario(options));
  NEPHILA_TRY(const sim::Web web, sim::Web::Make(scenario.shape));
  std::string url;
  for (uint64_t pld = 0; pld < std::min(count, web.pld_count()); ++pld) {
    url.clear();
    web.AppendUrl({{pld, 0}, 0}, &url);
    out << url << '\n';
  }
  return {};
}

}  // namespace

Status RunSim(const SimOptions& options, std::ostream& out) {
  const std::vector<std::string>& words = options.words;
  if (words.empty()) return Serve(options, out);
  if (words.size() < 2) {
    return Usage("sim: page URL..., seeds N, or nothing to serve");
  }
  if (words[0] == "page") {
    for (size_t i = 1; i < words.size(); ++i) {
      NEPHILA_RETURN_IF_ERROR(PrintPage(options, words[i], out));
    }
    return {};
  }
  if (words[0] == "seeds" && words.size() == 2) {
    return PrintSeeds(options, words[1], out);
  }
  return Usage(EscapeForTerminal(words[0]) +
               ": sim knows page URL... and seeds N");
}

}  // namespace nephila::cli
