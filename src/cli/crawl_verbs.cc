#include "cli/crawl_verbs.h"

#include <unistd.h>

#include <iostream>

#include "cli/agent.h"
#include "cli/dry_run.h"
#include "cli/job_files.h"

namespace nephila::cli {

void CrawlVerbs::SetOnRead(std::function<void(std::string_view)> on_read) {
  crawl_.on_read = std::move(on_read);
}

// Nobody is asked for anything by somebody without a name.
Status CrawlVerbs::CheckContact(const Setup& setup) {
  Status status = CheckAgent(setup.settings.agent);
  if (!status) program_->FailWith(kNoContact);
  return status;
}

void CrawlVerbs::AddFetch() {
  CLI::App* verb = program_->AddVerb(
      "fetch",
      "Fetch URLs politely: nephila fetch [--warc DIR] [--] [URL...]\n"
      "robots.txt first, one request to a host at a time, a delay between "
      "them. Prints a line of JSON for each URL; without any it reads lines",
      [this](const Setup& setup) -> Status {
        NEPHILA_RETURN_IF_ERROR(CheckContact(setup));
        IgnoreBrokenPipes();
        fetch_.from_input = fetch_.urls.empty();
        return RunFetch(setup, fetch_, std::cin, std::cout);
      },
      &fetch_.urls);
  program_->SetProfile(verb, config::Profile::kSite);
  verb->add_option("--redirects", fetch_.redirects,
                   "Follow so many redirects, each as a URL of its own; at "
                   "most 50")
      ->check(CLI::Range(0, 50))
      ->capture_default_str();
  verb->add_flag("--links", fetch_.links, "List the links, not only count");
  verb->add_flag("--text", fetch_.text, "Title and text of pages");
  verb->add_option("--warc", fetch_.warc, "Archive all of it in this folder")
      ->type_name("DIR");
  program_->AddExamples(
      verb,
      "nephila fetch --set agent.contact=you@example.org --warc pages "
      "https://www.example.org/");
}

void CrawlVerbs::AddCrawl() {
  CLI::App* verb = program_->AddVerb(
      "crawl",
      "Crawl sites or the web, or go on with a job: nephila crawl --job DIR "
      "[--profile site|broad] [--seeds FILE] [--] [URL...]\n"
      "Goes on where it was if DIR holds a job. Ctrl-C (SIGINT) ends it "
      "cleanly, twice at once. The pages are in DIR/archive.",
      [this](const Setup& setup) -> Status {
        if (crawl_.dry_run) {
          return RunDryRun(setup, crawl_, isatty(STDOUT_FILENO) == 1, std::cin,
                           std::cout, std::cerr);
        }
        NEPHILA_RETURN_IF_ERROR(CheckContact(setup));
        IgnoreBrokenPipes();
        crawl_.warning = RootWarning(geteuid());
        crawl_.sandbox = true;
        return WithAdvice(
            RunCrawl(setup, crawl_, std::cin, std::cout, std::cerr),
            crawl_.job);
      },
      &crawl_.seeds);
  verb->add_option("--job", crawl_.job, "The folder of the crawl")
      ->type_name("DIR");
  verb->add_option("--profile", crawl_.profile,
                   "site: the seeds' sites, a second between requests to a "
                   "host (the default); broad: all of the web, by budgets")
      ->type_name("NAME");
  verb->add_option("--seeds", crawl_.seed_files,
                   "URLs, one a line; - is the standard input; may be "
                   "repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  verb->add_option("--sitemap", crawl_.sitemaps,
                   "URL of a sitemap to start from; may be repeated")
      ->type_name("URL")
      ->allow_extra_args(false);
  program_->AddSettingOption(verb, "--max-pages", "crawl.max_pages", "N",
                             "End with so many pages");
  program_->AddSettingOption(verb, "--max-time", "crawl.max_time", "TIME",
                             "End after this: 90s, 10m, 24h");
  program_->AddSettingOption(verb, "--max-bytes", "crawl.max_bytes", "SIZE",
                             "End with so many bytes of pages");
  program_->AddSettingOption(
      verb, "--memory", "crawl.memory", "SIZE",
      "For everything, whatever the number of URLs: 1GiB unless "
      "said");
  program_->AddSettingOption(
      verb, "--disk", "crawl.disk", "SIZE",
      "For batches that wait for a pass, besides what grows: "
      "8GiB unless said");
  verb->add_flag("--quiet", crawl_.quiet, "No progress, only the end");
  verb->add_flag("--dry-run", crawl_.dry_run,
                 "No crawl: say rule by rule what it would do with the URLs "
                 "of --try, else with its seeds, as lines of JSON");
  verb->add_option("--try", crawl_.tries,
                   "With --dry-run: URLs, one a line; - is the standard "
                   "input; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  program_->AddExamples(
      verb,
      "nephila crawl --job my-site --set agent.contact=you@example.org "
      "https://www.example.org/\n"
      "nephila crawl --job my-site --max-time 1h --config crawl.toml\n"
      "nephila crawl --job web --profile broad --memory 8GiB --seeds "
      "seeds.txt --config crawl.toml");
  verb->parse_complete_callback([this] {
    program_->SetPrepare([this](SetupOptions* options) {
      return WithAdvice(PrepareCrawl(crawl_, options), crawl_.job);
    });
  });
}

void CrawlVerbs::AddReport() {
  CLI::App* verb = program_->AddVerb(
      "report",
      "A page about a job, running or stopped: nephila report --job DIR\n"
      "What was crawled, rates over time, domains, answers, limits "
      "(docs/report.md). Exit status 4 if something is damaged",
      [this](const Setup& setup) {
        bool is_unsound = false;
        Status status = RunReport(setup, report_, std::cout, &is_unsound);
        if (is_unsound) program_->FailWith(kUnsound);
        return status;
      });
  verb->add_option("--job", report_.job, "The folder of the crawl")
      ->type_name("DIR")
      ->required();
  verb->add_option("--output", report_.output,
                   "Into this file, - is the standard output; else "
                   "report.html of the job")
      ->type_name("FILE");
  verb->add_flag("--json", report_.json,
                 "The figures as one line of JSON instead, printed");
  verb->add_flag("--text", report_.text, "A short text instead, printed");
  verb->add_option("--memory", report_.memory,
                   "For the counts of hosts and domains")
      ->type_name("SIZE")
      ->capture_default_str();
  verb->add_option("--scratch", report_.scratch,
                   "For what does not fit into it; else the system's folder")
      ->type_name("DIR");
  verb->parse_complete_callback([this] {
    program_->SetPrepare([this](SetupOptions* options) {
      return PrepareReport(report_, options);
    });
  });
}

void CrawlVerbs::AddCheck() {
  CLI::App* verb = program_->AddVerb(
      "check",
      "Check a job that no process works on: nephila check --job DIR\n"
      "Reads every file to the last record and compares what they say; "
      "changes nothing. Exit status 4 if something is damaged.\n"
      "Or whether a server's log shows a polite crawl: nephila check "
      "--politeness LOG [--job DIR] (docs/formats/request-log.md)",
      [this](const Setup& setup) {
        bool is_unsound = false;
        Status status = RunCheck(setup, check_, std::cout, &is_unsound);
        if (is_unsound) program_->FailWith(kUnsound);
        return status;
      });
  verb->add_option("--job", check_.job, "The folder of the crawl")
      ->type_name("DIR");
  verb->add_option("--politeness", check_.politeness,
                   "What a server saw; with --job the job's delays and what "
                   "its archive says that servers asked for have to be kept")
      ->type_name("LOG");
  verb->add_option("--host-delay", check_.host_delay,
                   "From the end of a transfer from a host to the next "
                   "request to it")
      ->type_name("TIME");
  verb->add_option("--server-delay", check_.server_delay,
                   "From contact to contact of one address")
      ->type_name("TIME");
  verb->add_option("--tolerance", check_.tolerance,
                   "A contact is early if it is early by more")
      ->type_name("TIME")
      ->capture_default_str();
  verb->add_option("--memory", check_.memory, "For sets of what was archived")
      ->type_name("SIZE")
      ->capture_default_str();
  verb->add_option("--scratch", check_.scratch,
                   "For what does not fit into it; else the system's folder")
      ->type_name("DIR");
  verb->add_flag("--json", check_.json, "As one line of JSON");
  program_->AddExamples(
      verb,
      "nephila check --job my-site\n"
      "nephila check --politeness access.log --host-delay 1s");
  verb->parse_complete_callback([this] {
    program_->SetPrepare([this](SetupOptions* options) {
      return PrepareCheck(check_, options);
    });
  });
}

void CrawlVerbs::AddDemo() {
  CLI::App* verb = program_->AddVerb(
      "demo", "Crawl a simulated web, without network", [this](const Setup&) {
        IgnoreBrokenPipes();
        return RunDemo(demo_, std::cout, std::cerr);
      });
  verb->add_option("--time", demo_.time, "How long")
      ->type_name("TIME")
      ->capture_default_str();
  verb->add_option("--job", demo_.job,
                   "The folder of the crawl; else a temporary one")
      ->type_name("DIR");
  program_->AddExamples(verb, "nephila demo --job demo --time 1m");
}

}  // namespace nephila::cli
