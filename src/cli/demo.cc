#include "cli/demo.h"

#include <fmt/core.h>
#include <sys/resource.h>

#include <chrono>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/real_file_system.h"
#include "base/text.h"
#include "cli/crawl_cmd.h"
#include "cli/demo_count.h"
#include "cli/file_limit.h"
#include "cli/temporary_folder.h"
#include "config/table.h"
#include "job/job_folder.h"
#include "report/job_reader.h"
#include "report/text_report.h"
#include "report/words.h"
#include "sim/politeness_check.h"
#include "sim/scenario.h"
#include "sim/simulation.h"

namespace nephila::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A web as crawlers know it: link farms, spaces without end, mirrors, servers
// that are slow, broken, hostile or gone, robots.txt files that fail.
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
share = 5
behaviour = "broken-chunking"

[[rule]]
share = 5
behaviour = "gzip-bomb"
bytes = 100000000

[[rule]]
share = 5
behaviour = "redirect-loop"

[[rule]]
share = 10
behaviour = "status"
status = 500

[[rule]]
share = 20
path = "/robots.txt"
behaviour = "status"
status = 503

[[rule]]
share = 30
behaviour = "calendar"

[[rule]]
share = 20
behaviour = "growing-path"

[[rule]]
share = 20
behaviour = "mirror"
of = "@START@"

[[rule]]
share = 10
behaviour = "nxdomain"

[[rule]]
behaviour = "link-farm"
name = "spam"
plds = 20
hosts = 20
entry = 5
)";
constexpr std::string_view kStartMark = "@START@";
// What a rule above asks for.
constexpr seconds kRetryAfter{5};

// Short, since nobody is harmed; the rest is a broad crawl's.
constexpr milliseconds kHostDelay{200};
constexpr milliseconds kServerDelay{100};
// Servers are woken to write their log: on a busy machine late by that much.
constexpr milliseconds kLate{60};
constexpr uint64_t kMemoryBytes = uint64_t{256} << 20;

SetupOptions DemoSettings(const DemoOptions& options, uint16_t dns_port) {
  SetupOptions setup;
  setup.profile = config::Profile::kBroad;
  setup.assignments = {
      "agent.contact=https://example.org/nephila-demo",
      "guard.allow=127.0.0.0/8",
      "dns.servers=127.0.0.1:" + std::to_string(dns_port),
      "politeness.host_delay=500ms",
      "politeness.host_delay_floor=" + FormatDuration(kHostDelay),
      "politeness.server_delay=" + FormatDuration(kServerDelay),
      "politeness.server_delay_floor=" + FormatDuration(kServerDelay),
      // A web of a thousand domains has no ten thousand that matter.
      "reputation.top_k=50",
      "reputation.most=200",
      "fetch.first_byte_timeout=3s",
      "crawl.memory=" + FormatSize(kMemoryBytes),
      "crawl.disk=1GiB",
      // What is thrown away needs no page.
      std::string("crawl.report=") + (options.job.empty() ? "false" : "true"),
      "crawl.history_interval=1s",
      "disk.floor=0",
      "crawl.max_time=" + options.time,
  };
  return setup;
}

std::string Number(uint64_t number) {
  return report::Grouped(number, report::Grouping::kSpace);
}

// With its most popular host as what is copied.
Result<sim::Scenario> DemoScenario() {
  std::string text(kScenario);
  text.replace(text.find(kStartMark), kStartMark.size(), "t.example");
  NEPHILA_TRY(sim::Scenario first, sim::ParseScenario(text, "the demo"));
  NEPHILA_TRY(const sim::Site site, sim::Site::Make(std::move(first)));
  std::string start;
  site.web().AppendUrl({}, &start);
  std::string host = start.substr(start.find("//") + 2);
  host.resize(host.find_first_of(":/"));
  text = kScenario;
  text.replace(text.find(kStartMark), kStartMark.size(), host);
  return sim::ParseScenario(text, "the demo");
}

void SayWhatComes(const sim::Web& web, const std::string& time,
                  std::ostream& out) {
  const auto number = [](int64_t of) {
    return Number(static_cast<uint64_t>(of));
  };
  out << fmt::format(
      "A web that does not exist runs on this machine: {} hosts in {} domains "
      "at\n{} addresses, without network. In it 20 domains of spam that link "
      "to each other\nalone, calendars and paths without end, mirrors, servers "
      "that hang, break off,\nfail, lie, are slow or ask for less. nephila "
      "crawls it for {}.\n\n",
      number(web.shape().hosts), number(web.shape().plds),
      number(web.shape().addresses), time);
  out.flush();
}

// What was asked for and did not come: said by no stage yet, as most of it is
// tried again later.
void SayFailures(const report::Figures& figures, std::ostream& out) {
  std::vector<std::string> all;
  for (const report::NamedCount& one : figures.failures) {
    all.push_back(fmt::format("{} {}", one.name, Number(one.count)));
  }
  for (const report::NamedCount& one : figures.robots) {
    if (one.name.starts_with('2') || one.name.starts_with('4')) continue;
    all.push_back(fmt::format("robots.txt {} {}", one.name, Number(one.count)));
  }
  std::string text;
  for (const std::string& one : all) text += (text.empty() ? "" : ", ") + one;
  if (text.empty()) return;
  const std::string wrapped = config::Wrap(text, "         ", 80);
  out << "Failed " << wrapped.substr(7);
}

void SayKinds(const DemoCount& count, std::ostream& out) {
  struct Row {
    DemoKind kind;
    const char* name;
  };
  constexpr Row kRows[] = {
      {DemoKind::kFarm, "spam: farms of links"},
      {DemoKind::kTrap, "traps: calendars and paths without end"},
      {DemoKind::kMirror, "mirrors of another host"},
      {DemoKind::kOrdinary, "the rest of the web"},
  };
  const DemoCount::Counts all = count.all();
  // Of the width of its column, whatever there is.
  const auto share = [](uint64_t of, uint64_t whole) {
    return fmt::format("{:.1f} %", whole == 0 ? 0.0
                                              : 100 * static_cast<double>(of) /
                                                    static_cast<double>(whole));
  };
  out << fmt::format("\n{:<40} {:>17} {:>19}\n",
                     "What the web sets for crawlers", "URLs found",
                     "pages fetched");
  for (const Row& row : kRows) {
    const DemoCount::Counts one = count.of(row.kind);
    out << fmt::format("  {:<38} {:>9} {:>7} {:>11} {:>7}\n", row.name,
                       Number(one.urls), share(one.urls, all.urls),
                       Number(one.pages), share(one.pages, all.pages));
  }
}

// From what the servers wrote down.
Status SayPoliteness(FileSystem& fs, const std::string& log,
                     std::ostream& out) {
  sim::PolitenessRules rules;
  rules.host_delay = kHostDelay;
  rules.server_delay = kServerDelay;
  rules.tolerance = kLate;
  rules.asked_for = [](std::string_view, std::string_view, int status) {
    sim::AskedFor asked;
    if (status == 429) asked.retry_after = kRetryAfter;
    return asked;
  };
  NEPHILA_TRY(const sim::PolitenessReport report,
              sim::CheckPoliteness(fs, log, rules));
  out << fmt::format(
      "\nPolite   by the servers' own log, exact to {}: {} requests of {}\n"
      "         hosts at {} addresses, {} of them early; {} lie between two "
      "of\n"
      "         a host, {} of an address; {} answers asked for more and got "
      "it\n",
      FormatDuration(kLate), Number(report.requests), Number(report.hosts),
      Number(report.addresses),
      report.violations == 0 ? "none" : Number(report.violations),
      FormatDuration(kHostDelay), FormatDuration(kServerDelay),
      Number(report.asked_for));
  return {};
}

void SayMemory(std::ostream& out) {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return;
  out << fmt::format(
      "Memory   {} at most with the simulated web; the crawl may take {}\n",
      HumanSize(static_cast<uint64_t>(usage.ru_maxrss) * 1024),
      HumanSize(kMemoryBytes));
}

void SayWhatNext(const report::Figures& figures, const std::string& job,
                 std::ostream& out) {
  if (job.empty()) {
    out << "\nThe job is gone again. Keep one, and look further:\n"
           "  nephila demo --job demo\n"
           "  nephila report --job demo       # a page with plots\n"
           "  nephila status --job demo\n"
           "  nephila warc ls demo/archive/*.warc.gz | head\n";
  } else {
    out << "\nThe files it left, in " << EscapeForTerminal(job) << ":\n";
    for (const auto& [name, what] : figures.files) {
      out << fmt::format("  {:<22} {}\n", name, what);
    }
    out << fmt::format(
        "\nLook further:\n"
        "  nephila report --job {0}       # a page with plots\n"
        "  nephila status --job {0}\n"
        "  nephila check --job {0}        # every checksum\n"
        "  nephila warc ls {0}/archive/*.warc.gz | head\n"
        "  nephila check --politeness {0}.requests.log --job {0} --tolerance "
        "{1}\n",
        EscapeForTerminal(job), FormatDuration(kLate));
  }
  out << "Crawl a site of yours:\n"
         "  nephila crawl --job my-site --set agent.contact=you@example.org "
         "\\\n"
         "    https://www.example.org/\n";
}

}  // namespace

Status RunDemo(const DemoOptions& options, std::ostream& out,
               std::ostream& err) {
  const size_t descriptors = RaiseFileLimit();
  const auto fs = MakeRealFileSystem();
  const RealClock clock;
  std::string kept = options.job;
  while (kept.size() > 1 && kept.ends_with('/')) kept.pop_back();
  if (!kept.empty()) {
    NEPHILA_TRY(const job::JobState state, job::JobFolder::Look(*fs, kept));
    if (state != job::JobState::kNone) {
      // Its web was another: it had other ports.
      return Unexpected(Error{ErrorCode::kInvalidArgument,
                              "--job " + kept + ": is there already"});
    }
  }
  NEPHILA_TRY(const auto folder, TemporaryFolder::Make());
  CrawlCmdOptions crawl;
  crawl.profile = "broad";
  // The other end of each connection is in this process too.
  crawl.max_descriptors = descriptors / 2;
  crawl.job = kept.empty() ? folder->path() + "/job" : kept;
  sim::SimulationOptions servers;
  servers.log =
      kept.empty() ? folder->path() + "/requests.log" : kept + ".requests.log";

  NEPHILA_TRY(sim::Scenario scenario, DemoScenario());
  NEPHILA_TRY(const auto simulation,
              sim::Simulation::Start(std::move(scenario), servers, *fs, clock));
  const sim::Web& web = simulation->site().web();
  web.AppendUrl({}, &crawl.seeds.emplace_back());
  NEPHILA_TRY(const Setup setup,
              LoadSetup(DemoSettings(options, simulation->dns_port())));
  SayWhatComes(web, options.time, out);
  DemoCount count(simulation->site());
  crawl.on_finished = [&count](const crawl::FinishedVisit& visit) {
    count.See(visit);
  };
  std::istringstream no_input;
  std::ostringstream accounts;  // told in other words below
  NEPHILA_RETURN_IF_ERROR(RunCrawl(setup, crawl, no_input, accounts, err));
  NEPHILA_RETURN_IF_ERROR(simulation->Stop());

  report::ReportOptions about;
  about.dir = crawl.job;
  about.settings = setup.settings;
  about.scratch = folder->path();
  NEPHILA_TRY(const report::Figures figures, report::ReadFigures(*fs, about));
  report::TextOptions text;
  text.domains = 5;
  text.files = false;  // at the end
  out << '\n' << report::TextReport(figures, text) << '\n';
  SayFailures(figures, out);
  SayKinds(count, out);
  NEPHILA_RETURN_IF_ERROR(SayPoliteness(*fs, servers.log, out));
  SayMemory(out);
  SayWhatNext(figures, kept, out);
  return {};
}

}  // namespace nephila::cli
