// The program `nephila`: the command line, one verb a function.

#include <csignal>
#include <exception>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "base/text.h"
#include "cli/bench_url.h"
#include "cli/demo.h"
#include "cli/exit_code.h"
#include "cli/settings_cmd.h"
#include "cli/settings_options.h"
#include "cli/url_cmd.h"

namespace nephila::cli {
namespace {

constexpr char kFooter[] =
    "Exit status: 0 done, 1 failed while running, 2 wrong command line, "
    "3 wrong setting.\n"
    "Settings are listed by `nephila settings` and in docs/config.md.";

int Fail(const Error& error, ExitCode code) {
  std::cerr << "nephila: " << EscapeForTerminal(error.message) << '\n';
  return code;
}

// What a verb does once the settings are loaded.
using Verb = std::function<Status(const config::Settings&)>;

class CommandLine {
 public:
  CommandLine() {
    app_.set_version_flag("--version", "nephila " NEPHILA_VERSION);
    app_.require_subcommand(1);
    app_.footer(kFooter);
    AddUrl();
    AddSettings();
    AddBench();
    AddDemo();
  }

  int Run(int argc, char** argv) {
    if (argc > 1 && argv[1][0] != '-') {
      if (Status known = CheckVerb(argv[1]); !known) {
        return Fail(known.error(), kUsage);
      }
    }
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() == 0) return app_.exit(error);
      return Fail({ErrorCode::kInvalidArgument,
                   std::string(error.what()) + " (see nephila --help)"},
                  kUsage);
    }
    auto settings = LoadSettings(settings_options_);
    if (!settings) return Fail(settings.error(), kBadSettings);
    if (Status status = verb_(*settings); !status) {
      bool usage = status.error().code == ErrorCode::kInvalidArgument;
      return Fail(status.error(), usage ? kUsage : kFailed);
    }
    return kSuccess;
  }

 private:
  // CLI11 would only say that a verb is required.
  Status CheckVerb(std::string_view name) {
    std::vector<std::string_view> verbs;
    for (const CLI::App* sub : app_.get_subcommands(nullptr)) {
      if (sub->get_name() == name) return {};
      verbs.push_back(sub->get_name());
    }
    std::string message(name);
    message += ": no such verb";
    if (auto nearest = NearestName(name, verbs); !nearest.empty()) {
      message.append("; did you mean ").append(nearest).append("?");
    }
    return Unexpected(
        Error{ErrorCode::kInvalidArgument, message + " (see nephila --help)"});
  }

  CLI::App* AddVerb(CLI::App* parent, const std::string& name,
                    const std::string& doc, Verb verb) {
    CLI::App* sub = parent->add_subcommand(name, doc);
    sub->add_option("--config", settings_options_.config_file,
                    "A TOML file with settings")
        ->type_name("FILE");
    sub->add_option("--set", settings_options_.assignments,
                    "One setting; may be repeated")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
    sub->footer(kFooter);
    sub->callback([this, verb = std::move(verb)] { verb_ = verb; });
    return sub;
  }

  void AddUrl() {
    CLI::App* sub = AddVerb(
        &app_, "url",
        "Parse, normalise and key URLs: a line of JSON for each argument, or "
        "for each line of the input if there is none",
        [this](const config::Settings& settings) {
          return RunUrl(settings, url_options_, std::cin, std::cout);
        });
    sub->add_option("--base", url_options_.base, "Resolve on this URL")
        ->type_name("URL");
    sub->add_option("urls", url_options_.urls, "URLs; put -- before them")
        ->type_name("URL");
  }

  void AddSettings() {
    CLI::App* sub = AddVerb(
        &app_, "settings", "Show every setting with its default and meaning",
        [this](const config::Settings& settings) {
          return RunSettings(settings, settings_cmd_options_, std::cout);
        });
    sub->add_flag("--markdown", settings_cmd_options_.markdown,
                  "As docs/config.md");
    sub->add_flag("--toml", settings_cmd_options_.toml,
                  "As a file to start from, with the values in force");
  }

  void AddBench() {
    CLI::App* bench = app_.add_subcommand("bench", "Benchmarks");
    bench->require_subcommand(1);
    CLI::App* sub =
        AddVerb(bench, "url", "Cost of the stage `url` per link",
                [this](const config::Settings& settings) {
                  return RunBenchUrl(settings, bench_url_options_, std::cout);
                });
    sub->add_option("--urls", bench_url_options_.urls_file,
                    "URLs, one a line, plain or .zst")
        ->type_name("FILE");
    sub->add_option("--passes", bench_url_options_.passes,
                    "How often all of them are gone through")
        ->check(CLI::Range(1, 1000));
    sub->add_flag("--json", bench_url_options_.json, "A line of JSON");
  }

  void AddDemo() {
    AddVerb(&app_, "demo", "Show what is built, without network",
            [](const config::Settings& settings) {
              return RunDemo(settings, std::cout);
            });
  }

  CLI::App app_{"nephila, a web-scale web crawler", "nephila"};
  SettingsOptions settings_options_;
  UrlOptions url_options_;
  SettingsCmdOptions settings_cmd_options_;
  BenchUrlOptions bench_url_options_;
  Verb verb_;
};

}  // namespace
}  // namespace nephila::cli

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  // A reader that goes away (`| head`) ends the program quietly.
  std::signal(SIGPIPE, SIG_DFL);
  try {
    return nephila::cli::CommandLine().Run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "nephila: " << error.what() << '\n';
    return nephila::cli::kFailed;
  }
}
