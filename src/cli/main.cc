// The program `nephila`: its verbs and their options, one a function.

#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/bench_cmd.h"
#include "cli/demo.h"
#include "cli/links_cmd.h"
#include "cli/model_cmd.h"
#include "cli/program.h"
#include "cli/robots_cmd.h"
#include "cli/settings_cmd.h"
#include "cli/url_cmd.h"

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
    AddSettings();
    AddOtherProgram("bench", "Benchmarks: see nephila bench --help", ExecBench);
    AddModel();
    AddVerb("demo", "Show what is built, without network",
            [](const Setup& setup) { return RunDemo(setup, std::cout); });
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
        "Find the links of a page: nephila links --base URL [FILE]\n"
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
    verb->add_flag("--text", links_.text, "A line with title and text too");
    verb->add_flag("--meta", links_.meta, "A line for each meta element too");
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

  UrlOptions url_;
  RobotsOptions robots_;
  LinksOptions links_;
  std::vector<std::string> links_files_;
  SettingsCmdOptions settings_;
  ModelOptions model_;
};

}  // namespace
}  // namespace nephila::cli

int main(int argc, char** argv) {
  return nephila::cli::Nephila().Main(argc, argv);
}
