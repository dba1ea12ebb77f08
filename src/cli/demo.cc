#include "cli/demo.h"

#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <sstream>
#include <string>
#include <system_error>

#include "base/clock.h"
#include "base/real_file_system.h"
#include "base/text.h"
#include "cli/crawl_cmd.h"
#include "cli/file_limit.h"
#include "sim/scenario.h"
#include "sim/simulation.h"

namespace nephila::cli {
namespace {

// A web as crawlers know it: link farms, calendars without end, mirrors,
// servers that are slow, broken or gone, robots.txt files that time out.
constexpr std::string_view kScenario = R"(
[web]
seed = 7
hosts = 4000

[[rule]]
share = 10
behaviour = "hang"

[[rule]]
share = 10
behaviour = "drop"

[[rule]]
share = 10
behaviour = "retry-after"
status = 429
delay = "5s"

[[rule]]
share = 10
behaviour = "slow-first-byte"
delay = "1s"

[[rule]]
share = 20
path = "/robots.txt"
behaviour = "status"
status = 503

[[rule]]
share = 30
behaviour = "calendar"

[[rule]]
behaviour = "link-farm"
name = "spam"
plds = 20
hosts = 20
entry = 20
)";

// Delays are short, since nobody is harmed; the rest is a broad crawl's.
SetupOptions DemoSettings(const DemoOptions& options, uint16_t dns_port) {
  SetupOptions setup;
  setup.profile = config::Profile::kBroad;
  setup.assignments = {
      "agent.contact=https://example.org/nephila-demo",
      "guard.allow=127.0.0.0/8",
      "dns.servers=127.0.0.1:" + std::to_string(dns_port),
      "politeness.host_delay=500ms",
      "politeness.host_delay_floor=100ms",
      "politeness.server_delay=2ms",
      "politeness.server_delay_floor=1ms",
      "fetch.first_byte_timeout=3s",
      "crawl.memory=256MiB",
      "crawl.disk=1GiB",
      "disk.floor=0",
      "crawl.max_time=" + options.time,
  };
  return setup;
}

Result<std::string> DemoFolder() {
  std::error_code error;
  std::string folder =
      (std::filesystem::temp_directory_path(error) / "nephila-demo-XXXXXX")
          .string();
  if (mkdtemp(folder.data()) == nullptr) {
    return Unexpected(Error{ErrorCode::kIo, folder + ": cannot be made"});
  }
  return folder;
}

}  // namespace

Status RunDemo(const DemoOptions& options, std::ostream& out,
               std::ostream& err) {
  RaiseFileLimit();
  NEPHILA_TRY(sim::Scenario scenario,
              sim::ParseScenario(kScenario, "the demo's scenario"));
  const auto fs = MakeRealFileSystem();
  const RealClock clock;
  NEPHILA_TRY(const auto simulation,
              sim::Simulation::Start(std::move(scenario), {}, *fs, clock));
  const sim::Web& web = simulation->site().web();
  std::string start;
  web.AppendUrl({}, &start);

  CrawlCmdOptions crawl;
  crawl.seeds = {start};
  crawl.profile = "broad";
  crawl.job = options.job;
  if (crawl.job.empty()) {
    NEPHILA_TRY(crawl.job, DemoFolder());
  }
  out << fmt::format(
      "A simulated web runs on this machine: {} hosts in {} domains on {} "
      "addresses,\nwith link farms, endless calendars, servers that hang, "
      "break off, ask for less\nor are slow. nephila crawls it for {} from {}\n"
      "\n",
      web.shape().hosts, web.shape().plds, web.shape().addresses, options.time,
      start);
  out.flush();
  NEPHILA_TRY(const Setup setup,
              LoadSetup(DemoSettings(options, simulation->dns_port())));
  std::istringstream no_input;
  NEPHILA_RETURN_IF_ERROR(RunCrawl(setup, crawl, no_input, out, err));
  NEPHILA_RETURN_IF_ERROR(simulation->Stop());
  const std::string job = EscapeForTerminal(crawl.job);
  out << fmt::format(
      "\nLook further:\n"
      "  ./nephila status --job {0}\n"
      "  ./nephila warc ls {0}/archive/*.warc.gz | head\n"
      "  ./nephila warc verify {0}/archive/*.warc.gz\n"
      "  head {0}/archive/crawl.log\n"
      "Crawl a site of yours:\n"
      "  ./nephila crawl --job my-site --set agent.contact=URL "
      "https://www.example.org/\n",
      job);
  return {};
}

}  // namespace nephila::cli
