// The program `nephila`: the command line, one verb a function.

#include <algorithm>
#include <csignal>
#include <exception>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "base/heap.h"
#include "base/text.h"
#include "cli/bench_cmd.h"
#include "cli/demo.h"
#include "cli/exit_code.h"
#include "cli/model_cmd.h"
#include "cli/settings_cmd.h"
#include "cli/setup.h"
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

int FailUsage(const std::string& message) {
  return Fail({ErrorCode::kInvalidArgument, message + " (see nephila --help)"},
              kUsage);
}

// What a verb does once the settings are loaded.
using Verb = std::function<Status(const Setup&)>;

class CommandLine {
 public:
  CommandLine() {
    app_.allow_extras();
    app_.set_version_flag("--version", "nephila " NEPHILA_VERSION);
    app_.footer(kFooter);
    AddUrl();
    AddSettings();
    AddBench();
    AddModel();
    AddDemo();
  }

  int Run(std::vector<std::string> arguments) {
    // Not ours to read: the other program has options of its own.
    if (!arguments.empty() && arguments[0] == "bench") {
      arguments.erase(arguments.begin());
      return Fail(ExecBench(arguments), kFailed);
    }
    // Behind "--" everything is an operand, whatever it looks like.
    auto dashes = std::find(arguments.begin(), arguments.end(), "--");
    if (dashes != arguments.end()) {
      operands_.assign(dashes + 1, arguments.end());
      arguments.erase(dashes, arguments.end());
    }
    // CLI11 wants them in reverse.
    std::reverse(arguments.begin(), arguments.end());
    try {
      app_.parse(arguments);
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() != 0) return FailUsage(error.what());
      return CheckOutput(app_.exit(error));
    }
    if (Status status = TakeOperands(); !status) {
      return FailUsage(status.error().message);
    }
    auto setup = LoadSetup(setup_options_);
    if (!setup) return Fail(setup.error(), kBadSettings);
    if (Status status = verb_(*setup); !status) {
      bool usage = status.error().code == ErrorCode::kInvalidArgument;
      return Fail(status.error(), usage ? kUsage : kFailed);
    }
    return CheckOutput(kSuccess);
  }

 private:
  // A full disk must not look like success.
  static int CheckOutput(int code) {
    if (std::cout.flush()) return code;
    return Fail({ErrorCode::kIo, "standard output cannot be written"}, kFailed);
  }

  // What CLI11 left over. It is not told of operands, as it would read lists
  // into "[a,b]", so wrong flags and verbs end up here too.
  Status TakeOperands() {
    CLI::App* app = &app_;
    while (!app->get_subcommands().empty()) app = app->get_subcommands()[0];
    auto refuse = [](std::string message) {
      return Unexpected(Error{ErrorCode::kInvalidArgument, std::move(message)});
    };
    std::vector<std::string> words = app->remaining();
    for (const std::string& word : words) {
      if (word.starts_with('-')) return refuse(word + ": no such option");
    }
    words.insert(words.end(), operands_.begin(), operands_.end());
    if (!verb_) return refuse(UnknownVerb(*app, words));
    if (app == model_app_) {
      model_options_.tables = std::move(words);
      return {};
    }
    if (app != url_app_ && !words.empty()) {
      return refuse(words[0] + ": " + app->get_name() + " takes no such word");
    }
    url_options_.from_input = words.empty();
    url_options_.urls = std::move(words);
    return {};
  }

  static std::string UnknownVerb(const CLI::App& app,
                                 const std::vector<std::string>& words) {
    if (words.empty()) return "which verb?";
    std::vector<std::string> names;
    for (const CLI::App* sub : app.get_subcommands(nullptr)) {
      names.push_back(sub->get_name());
    }
    std::vector<std::string_view> views(names.begin(), names.end());
    std::string message = words[0] + ": no such verb";
    if (auto nearest = NearestName(words[0], views); !nearest.empty()) {
      message.append("; did you mean ").append(nearest).append("?");
    }
    return message;
  }

  CLI::App* AddVerb(CLI::App* parent, const std::string& name,
                    const std::string& doc, Verb verb) {
    CLI::App* sub = parent->add_subcommand(name, doc);
    sub->add_option(
           "--config", setup_options_.config_files,
           "A TOML file with settings; may be repeated, later ones win")
        ->type_name("FILE")
        ->allow_extra_args(false);
    sub->add_option("--set", setup_options_.assignments,
                    "One setting, over those of files; may be repeated")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
    sub->footer(kFooter);
    sub->allow_extras();
    sub->callback([this, verb = std::move(verb)] { verb_ = verb; });
    return sub;
  }

  void AddUrl() {
    url_app_ = AddVerb(
        &app_, "url",
        "Parse, normalise and key URLs: nephila url [--base URL] [--] "
        "[URL...]\n"
        "Prints a line of JSON for each URL; without any it reads lines",
        [this](const Setup& setup) {
          return RunUrl(setup, url_options_, std::cin, std::cout);
        });
    url_app_->add_option("--base", url_options_.base, "Resolve on this URL")
        ->type_name("URL");
  }

  void AddSettings() {
    CLI::App* sub = AddVerb(
        &app_, "settings", "Show every setting with its default and meaning",
        [this](const Setup& setup) {
          return RunSettings(setup, settings_cmd_options_, std::cout);
        });
    sub->add_flag("--markdown", settings_cmd_options_.markdown,
                  "As docs/config.md");
    sub->add_flag("--toml", settings_cmd_options_.toml,
                  "As a file to start from, with the values in force");
  }

  void AddBench() {
    // For --help alone: Run has handed the verb on before.
    app_.add_subcommand("bench", "Benchmarks: see nephila bench --help");
  }

  void AddModel() {
    std::string names;
    for (std::string_view name : model::TableNames()) {
      names.append(" ").append(name);
    }
    model_app_ = AddVerb(
        &app_, "model",
        "The papers' tables and our store's, computed: nephila model [--json] "
        "[TABLE...]\n"
        "Tables:" +
            names + "; all without a word",
        [this](const Setup&) { return RunModel(model_options_, std::cout); });
    model_app_->add_flag("--json", model_options_.json,
                         "A line of JSON for each figure and note");
    model::Parameters& parameters = model_options_.parameters;
    model_app_->add_option("--N", parameters.pages, "pages; may be repeated")
        ->allow_extra_args(false);
    model_app_
        ->add_option("--R", parameters.ram_bytes,
                     "bytes of memory; may be repeated")
        ->allow_extra_args(false);
    model_app_
        ->add_option("--store-D", parameters.store_disks,
                     "bytes of disk for a pass of our store; may be repeated")
        ->allow_extra_args(false);
    for (const model::NamedParameter& named : model::Named(&parameters)) {
      model_app_->add_option("--" + named.symbol, *named.value, named.doc)
          ->capture_default_str();
    }
  }

  void AddDemo() {
    AddVerb(&app_, "demo", "Show what is built, without network",
            [](const Setup& setup) { return RunDemo(setup, std::cout); });
  }

  CLI::App app_{"nephila, a web-scale web crawler", "nephila"};
  CLI::App* url_app_ = nullptr;
  CLI::App* model_app_ = nullptr;
  SetupOptions setup_options_;
  UrlOptions url_options_;
  SettingsCmdOptions settings_cmd_options_;
  ModelOptions model_options_;
  std::vector<std::string> operands_;
  Verb verb_;
};

}  // namespace
}  // namespace nephila::cli

int main(int argc, char** argv) {
  nephila::KeepHeapFlat();
  std::ios::sync_with_stdio(false);
  // A reader that goes away (`| head`) ends the program quietly.
  std::signal(SIGPIPE, SIG_DFL);
  try {
    return nephila::cli::CommandLine().Run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "nephila: " << error.what() << '\n';
    return nephila::cli::kFailed;
  }
}
