// The program `nephila`: its verbs and their options, one a function.

#include <unistd.h>

#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/real_file_system.h"
#include "cli/bench_cmd.h"
#include "cli/check_cmd.h"
#include "cli/crawl_cmd.h"
#include "cli/demo.h"
#include "cli/fetch_cmd.h"
#include "cli/links_cmd.h"
#include "cli/model_cmd.h"
#include "cli/program.h"
#include "cli/robots_cmd.h"
#include "cli/settings_cmd.h"
#include "cli/sim_cmd.h"
#include "cli/url_cmd.h"
#include "cli/warc_cmd.h"

namespace nephila::cli {
namespace {

class Nephila : public Program {
 public:
  Nephila()
      : Program("nephila", "nephila, a web-scale web crawler",
                "Settings are listed by `nephila settings` and in "
                "docs/config.md.") {
    AddUrl();
    AddRobots();
    AddLinks();
    AddFetch();
    AddCrawl();
    AddStatus();
    AddCheck();
    AddWarc();
    AddSettings();
    AddOtherProgram("bench", "Benchmarks: see nephila bench --help", ExecBench);
    AddModel();
    AddSim();
    AddDemo();
  }

 private:
  void AddUrl() {
    CLI::App* verb = AddVerb(
        "url",
        "Parse, normalise and key URLs: nephila url [--base URL] [--] "
        "[URL...]\n"
        "Prints a line of JSON for each URL; without any it reads lines",
        [this](const Setup& setup) {
          url_.from_input = url_.urls.empty();
          return RunUrl(setup, url_, std::cin, std::cout);
        },
        &url_.urls);
    verb->add_option("--base", url_.base, "Resolve on this URL")
        ->type_name("URL");
  }

  void AddRobots() {
    CLI::App* verb = AddVerb(
        "robots",
        "What a robots.txt says: nephila robots --file FILE [--agent NAME] "
        "[--check] [--] [URL...]\n"
        "Prints a line of JSON for each URL; without any it reads lines",
        [this](const Setup& setup) {
          robots_.from_input = robots_.urls.empty();
          return RunRobots(setup, robots_, std::cin, std::cout);
        },
        &robots_.urls);
    verb->add_option("--agent", robots_.agent, "The crawler's product token")
        ->type_name("NAME")
        ->capture_default_str();
    verb->add_option("--file", robots_.file,
                     "The robots.txt; - is the standard input")
        ->type_name("FILE");
    verb->add_flag("--check", robots_.check,
                   "First a line about the file: group, sitemaps, what "
                   "deviates and where");
  }

  void AddLinks() {
    CLI::App* verb = AddVerb(
        "links",
        "Find the links of a page, sitemap or feed: nephila links --base URL "
        "[FILE]\n"
        "Prints a line of JSON for each; without a file it reads its input",
        [this](const Setup& setup) -> Status {
          if (links_files_.size() > 1) {
            return Unexpected(Error{ErrorCode::kInvalidArgument,
                                    links_files_[1] + ": one file at a time"});
          }
          if (!links_files_.empty()) links_.file = links_files_[0];
          return RunLinks(setup, links_, std::cin, std::cout);
        },
        &links_files_);
    verb->add_option("--base", links_.base, "The page's URL")
        ->type_name("URL")
        ->required();
    verb->add_option("--charset", links_.charset,
                     "The page's encoding, as a server would name it")
        ->type_name("LABEL");
    verb->add_option("--header", links_.headers,
                     "A header of the response, as 'Content-Type: text/xml'; "
                     "may be repeated")
        ->type_name("LINE")
        ->allow_extra_args(false);
    verb->add_flag("--text", links_.text, "A line with title and text too");
    verb->add_flag("--meta", links_.meta, "A line for each meta element too");
  }

  void AddFetch() {
    CLI::App* verb = AddVerb(
        "fetch",
        "Fetch URLs politely: nephila fetch [--warc DIR] [--] [URL...]\n"
        "robots.txt first, one request to a host at a time, a delay between "
        "them. Prints a line of JSON for each URL; without any it reads lines",
        [this](const Setup& setup) {
          fetch_.from_input = fetch_.urls.empty();
          return RunFetch(setup, fetch_, std::cin, std::cout);
        },
        &fetch_.urls);
    SetProfile(verb, config::Profile::kSite);
    verb->add_option("--redirects", fetch_.redirects,
                     "Follow so many redirects, each as a URL of its own")
        ->check(CLI::Range(0, 50))
        ->capture_default_str();
    verb->add_flag("--links", fetch_.links, "List the links, not only count");
    verb->add_flag("--text", fetch_.text, "Title and text of pages");
    verb->add_option("--warc", fetch_.warc, "Archive all of it in this folder")
        ->type_name("DIR");
  }

  void AddCrawl() {
    CLI::App* verb = AddVerb(
        "crawl",
        "Crawl: nephila crawl --job DIR [--profile site|broad] [--seeds FILE] "
        "[--] [URL...]\n"
        "Goes on where it was if DIR holds a job. SIGINT ends it cleanly, "
        "twice at once",
        [this](const Setup& setup) {
          return RunCrawl(setup, crawl_, std::cin, std::cout, std::cerr);
        },
        &crawl_.seeds);
    verb->add_option("--job", crawl_.job, "The folder of the crawl")
        ->type_name("DIR")
        ->required();
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
    AddSettingOption(verb, "--max-pages", "crawl.max_pages", "N",
                     "End with so many pages");
    AddSettingOption(verb, "--max-time", "crawl.max_time", "TIME",
                     "End after this: 90s, 10m, 24h");
    AddSettingOption(verb, "--max-bytes", "crawl.max_bytes", "SIZE",
                     "End with so many bytes of pages");
    AddSettingOption(verb, "--memory", "crawl.memory", "SIZE",
                     "For everything");
    AddSettingOption(verb, "--disk", "crawl.disk", "SIZE",
                     "For batches that wait, besides what grows");
    verb->add_flag("--quiet", crawl_.quiet, "No progress, only the end");
    verb->parse_complete_callback([this] {
      SetPrepare([this](SetupOptions* options) {
        return PrepareCrawl(crawl_, options);
      });
    });
  }

  void AddDemo() {
    CLI::App* verb = AddVerb(
        "demo", "Crawl a simulated web, without network",
        [this](const Setup&) { return RunDemo(demo_, std::cout, std::cerr); });
    verb->add_option("--time", demo_.time, "How long")
        ->type_name("TIME")
        ->capture_default_str();
    verb->add_option("--job", demo_.job,
                     "The folder of the crawl; else a temporary one")
        ->type_name("DIR");
  }

  void AddStatus() {
    CLI::App* verb = AddVerb(
        "status", "The numbers of a job: nephila status --job DIR [--json]",
        [this](const Setup&) {
          return RunStatus(*file_system_, status_, std::cout);
        });
    verb->add_option("--job", status_.job, "The folder of the crawl")
        ->type_name("DIR")
        ->required();
    verb->add_flag("--json", status_.json, "As one line of JSON");
  }

  void AddCheck() {
    CLI::App* verb = AddVerb(
        "check",
        "Check a job that no process works on: nephila check --job DIR\n"
        "Reads every file to the last record and compares what they say; "
        "changes nothing. Exit status 4 if something is damaged.\n"
        "Or whether a server's log shows a polite crawl: nephila check "
        "--politeness LOG [--job DIR] (docs/formats/request-log.md)",
        [this](const Setup& setup) {
          bool is_unsound = false;
          Status status = RunCheck(setup, check_, std::cout, &is_unsound);
          if (is_unsound) FailWith(kUnsound);
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
    verb->parse_complete_callback([this] {
      SetPrepare([this](SetupOptions* options) {
        return PrepareCheck(check_, options);
      });
    });
  }

  void AddWarc() {
    CLI::App* warc =
        AddGroup("warc", "List, print, check, repair and index archives");
    AddWarcLs(warc);
    AddWarcCat(warc);
    AddWarcVerify(warc);
    AddWarcIndex(warc);
  }

  void AddWarcLs(CLI::App* warc) {
    CLI::App* ls = AddVerb(
        warc, "ls", "List the records: nephila warc ls [--json] FILE...",
        [this](const Setup&) {
          return RunWarcLs(*file_system_, warc_ls_, std::cout);
        },
        &warc_ls_.files);
    ls->add_flag("--json", warc_ls_.json, "A line of JSON for each record");
  }

  void AddWarcCat(CLI::App* warc) {
    CLI::App* cat = AddVerb(
        warc, "cat",
        "Print a record: nephila warc cat FILE --offset N | --url URL, or "
        "--cdxj LINE [FOLDER]",
        [this](const Setup&) {
          warc_cat_.escape = isatty(STDOUT_FILENO) == 1;
          return RunWarcCat(*file_system_, warc_cat_, std::cout);
        },
        &warc_cat_.files);
    cat->add_option("--offset", warc_cat_.offset, "The record at this offset")
        ->type_name("N");
    cat->add_option("--url", warc_cat_.url,
                    "The first response, resource or revisit of this URL")
        ->type_name("URL");
    cat->add_option("--cdxj", warc_cat_.cdxj,
                    "The record that this line of an index names")
        ->type_name("LINE");
    cat->add_flag("--payload", warc_cat_.payload,
                  "Only the payload, its transfer coding removed");
    cat->add_flag("--decode", warc_cat_.decode,
                  "Only the payload, content codings removed too");
  }

  void AddWarcVerify(CLI::App* warc) {
    CLI::App* verify = AddVerb(
        warc, "verify",
        "Check framing, fields, digests and the index beside: nephila warc "
        "verify [--repair] FILE...",
        [this](const Setup&) {
          return RunWarcVerify(*file_system_, warc_verify_, std::cout);
        },
        &warc_verify_.files);
    verify->add_flag("--repair", warc_verify_.repair,
                     "Cut what is damaged off, keep it in FILE.cut, and make "
                     "the index anew");
    verify->add_flag("--quiet", warc_verify_.quiet, "Errors only, no notes");
  }

  void AddWarcIndex(CLI::App* warc) {
    CLI::App* index = AddVerb(
        warc, "index",
        "Make one sorted CDXJ of archives and sorted .cdxj files: nephila warc "
        "index [--output FILE | --beside] FILE...",
        [this](const Setup&) {
          return RunWarcIndex(*file_system_, warc_index_, std::cout);
        },
        &warc_index_.files);
    index
        ->add_option("--output", warc_index_.output,
                     "Into this file instead of standard output")
        ->type_name("FILE");
    index->add_flag("--beside", warc_index_.beside,
                    "Into x.cdxj beside each x.warc.gz");
  }

  void AddSettings() {
    CLI::App* verb =
        AddVerb("settings", "Show every setting with its default and meaning",
                [this](const Setup& setup) {
                  return RunSettings(setup, settings_, std::cout);
                });
    verb->add_flag("--markdown", settings_.markdown, "As docs/config.md");
    verb->add_flag("--toml", settings_.toml,
                   "As a file to start from, with the values in force");
  }

  void AddModel() {
    std::string names;
    for (std::string_view name : model::TableNames()) {
      names.append(" ").append(name);
    }
    CLI::App* verb = AddVerb(
        "model",
        "The papers' tables and our store's, computed: nephila model [--json] "
        "[TABLE...]\n"
        "Tables:" +
            names + "; all without a word",
        [this](const Setup&) { return RunModel(model_, std::cout); },
        &model_.tables);
    verb->add_flag("--json", model_.json,
                   "A line of JSON for each figure and note");
    model::Parameters& parameters = model_.parameters;
    verb->add_option("--N", parameters.pages, "pages; may be repeated")
        ->allow_extra_args(false);
    verb->add_option("--R", parameters.ram_bytes,
                     "bytes of memory; may be repeated")
        ->allow_extra_args(false);
    verb->add_option("--store-D", parameters.store_disks,
                     "bytes of disk for a pass of our store; may be repeated")
        ->allow_extra_args(false);
    for (const model::NamedParameter& named : model::Named(&parameters)) {
      verb->add_option("--" + named.symbol, *named.value, named.doc)
          ->capture_default_str();
    }
  }

  void AddSim() {
    CLI::App* verb = AddVerb(
        "sim",
        "The simulated web: nephila sim [page URL... | seeds N]\n"
        "Without a word it serves HTTP on 127.0.0.0/8 and DNS on 127.0.0.1 "
        "(docs/sim.md)",
        [this](const Setup&) { return RunSim(sim_, std::cout); }, &sim_.words);
    verb->add_option("--port", sim_.port, "Of HTTP; 0: one that is free");
    verb->add_option("--dns-port", sim_.dns_port, "0: one that is free");
    verb->add_option("--threads", sim_.threads, "That serve HTTP")
        ->check(CLI::Range(1, 256))
        ->capture_default_str();
    verb->add_option("--seed", sim_.seed, "Another seed is another web")
        ->check(CLI::NonNegativeNumber);
    verb->add_option("--hosts", sim_.hosts, "How many, on average")
        ->check(CLI::Range(int64_t{1}, int64_t{1'000'000'000}));
    verb->add_option("--link-port", sim_.link_port,
                     "The port in links; 80 is not written")
        ->check(CLI::Range(0, 65'535));
    verb->add_option("--scenario", sim_.scenario, "TOML: shape and behaviours")
        ->type_name("FILE");
    verb->add_option("--log", sim_.log, "What was asked for, in order")
        ->type_name("FILE");
    verb->add_flag("--json", sim_.json, "What is printed, as a line of JSON");
  }

  std::unique_ptr<FileSystem> file_system_ = MakeRealFileSystem();
  UrlOptions url_;
  RobotsOptions robots_;
  FetchCmdOptions fetch_;
  CrawlCmdOptions crawl_;
  StatusCmdOptions status_;
  CheckCmdOptions check_;
  DemoOptions demo_;
  LinksOptions links_;
  std::vector<std::string> links_files_;
  WarcLsOptions warc_ls_;
  WarcCatOptions warc_cat_;
  WarcVerifyOptions warc_verify_;
  WarcIndexOptions warc_index_;
  SettingsCmdOptions settings_;
  ModelOptions model_;
  SimOptions sim_;
};

}  // namespace
}  // namespace nephila::cli

int main(int argc, char** argv) {
  return nephila::cli::Nephila().Main(argc, argv);
}
