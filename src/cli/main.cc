// The program `nephila`: its verbs and their options, one a function.

#include <unistd.h>

#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/real_file_system.h"
#include "cli/bench_cmd.h"
#include "cli/completion.h"
#include "cli/crawl_verbs.h"
#include "cli/job_verbs.h"
#include "cli/links_cmd.h"
#include "cli/look_verbs.h"
#include "cli/man_page.h"
#include "cli/model_cmd.h"
#include "cli/program.h"
#include "cli/robots_cmd.h"
#include "cli/settings_cmd.h"
#include "cli/sim_cmd.h"
#include "cli/test_hooks.h"
#include "cli/url_cmd.h"
#include "cli/warc_verbs.h"

namespace nephila::cli {
namespace {

class Nephila : public Program {
 public:
  Nephila()
      : Program("nephila",
                "A web-scale web crawler: nephila VERB [OPTION...] [--] "
                "[WORD...]\n"
                "`nephila VERB --help` has the options of a verb, `nephila "
                "settings` lists the settings that --config and --set take, "
                "`man nephila` has all of it.",
                "Settings are listed by `nephila settings`.") {
    AddUrl();
    AddRobots();
    AddLinks();
    crawl_verbs_.AddFetch();
    crawl_verbs_.AddCrawl();
    job_verbs_.AddAll();
    look_verbs_.AddAll();
    crawl_verbs_.AddReport();
    crawl_verbs_.AddCheck();
    warc_verbs_.AddAll();
    AddSettings();
    AddOtherProgram("bench", "Benchmarks: see nephila bench --help", ExecBench);
    AddModel();
    AddSim();
    crawl_verbs_.AddDemo();
    crawl_verbs_.SetOnRead(OnReadHook());
    AddCompletion();
    AddMan();
    AddExamples(
        "nephila demo\n"
        "nephila crawl --job my-site --set agent.contact=you@example.org "
        "https://www.example.org/\n"
        "nephila status --job my-site\n"
        "nephila warc ls my-site/archive/*.warc.gz");
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
    AddExamples(
        verb,
        "nephila url --base http://www.example.org/a/ -- '../b.html#x'\n"
        "nephila url --set url.strip_query=utm_* < links.txt");
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
    AddExamples(verb,
                "nephila robots --file robots.txt --agent mybot -- /private/x");
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
    AddExamples(verb, "nephila links --base http://www.example.org/ page.html");
  }

  void AddCompletion() {
    CLI::App* verb = AddVerb(
        "completion",
        "A script by which a shell completes: nephila completion "
        "bash|zsh|fish\n"
        "It completes verbs, options and the names of settings.",
        [this](const Setup&) {
          return RunCompletion(Describe(), completion_, std::cout);
        },
        &completion_.shells);
    AddExamples(verb, "source <(nephila completion bash)");
  }

  // For packages: what `man nephila` shows.
  void AddMan() {
    AddVerb("man", "The man page", [this](const Setup&) -> Status {
      std::cout << FormatManPage(Describe(), NEPHILA_VERSION);
      return {};
    })->group("");
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
    AddExamples(verb, "nephila settings --toml > crawl.toml");
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
        [this](const Setup&) {
          IgnoreBrokenPipes();
          return RunSim(sim_, std::cout);
        },
        &sim_.words);
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
    AddExamples(verb, "nephila sim --port 8080 --dns-port 5353 --log seen.log");
  }

  std::unique_ptr<FileSystem> file_system_ = MakeRealFileSystem();
  UrlOptions url_;
  RobotsOptions robots_;
  CrawlVerbs crawl_verbs_{this};
  JobVerbs job_verbs_{this};
  LookVerbs look_verbs_{this};
  WarcVerbs warc_verbs_{this, *file_system_};
  CompletionOptions completion_;
  LinksOptions links_;
  std::vector<std::string> links_files_;
  SettingsCmdOptions settings_;
  ModelOptions model_;
  SimOptions sim_;
};

}  // namespace
}  // namespace nephila::cli

int main(int argc, char** argv) {
  return nephila::cli::Nephila().Main(argc, argv);
}
