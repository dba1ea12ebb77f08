// The program `nephila-bench`: the command line of the benchmarks, one verb a
// function. Errors and exit statuses are those of `nephila`.

#include <algorithm>
#include <csignal>
#include <exception>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "base/heap.h"
#include "base/text.h"
#include "bench/bench_drum.h"
#include "bench/bench_url.h"
#include "bench/hit_rates.h"
#include "bench/stores.h"
#include "cli/exit_code.h"
#include "cli/setup.h"

namespace nephila::bench {
namespace {

constexpr char kFooter[] =
    "Exit status: 0 done, 1 failed while running, 2 wrong command line, "
    "3 wrong setting.";

int Fail(const Error& error, cli::ExitCode code) {
  std::cerr << "nephila-bench: " << EscapeForTerminal(error.message) << '\n';
  return code;
}

int FailUsage(const std::string& message) {
  return Fail(
      {ErrorCode::kInvalidArgument, message + " (see nephila-bench --help)"},
      cli::kUsage);
}

// What a verb does once the settings are loaded.
using Verb = std::function<Status(const cli::Setup&)>;

class CommandLine {
 public:
  CommandLine() {
    app_.allow_extras();
    app_.set_version_flag("--version", "nephila-bench " NEPHILA_VERSION);
    app_.footer(kFooter);
    AddUrl();
    AddDrum();
  }

  int Run(std::vector<std::string> arguments) {
    // CLI11 wants them in reverse.
    std::reverse(arguments.begin(), arguments.end());
    try {
      app_.parse(arguments);
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() != 0) return FailUsage(error.what());
      return CheckOutput(app_.exit(error));
    }
    if (std::string wrong = WrongWord(); !wrong.empty()) {
      return FailUsage(wrong);
    }
    auto setup = cli::LoadSetup(setup_options_);
    if (!setup) return Fail(setup.error(), cli::kBadSettings);
    if (Status status = verb_(*setup); !status) {
      bool usage = status.error().code == ErrorCode::kInvalidArgument;
      return Fail(status.error(), usage ? cli::kUsage : cli::kFailed);
    }
    return CheckOutput(cli::kSuccess);
  }

 private:
  // A full disk must not look like success.
  static int CheckOutput(int code) {
    if (std::cout.flush()) return code;
    return Fail({ErrorCode::kIo, "standard output cannot be written"},
                cli::kFailed);
  }

  // What is wrong with what CLI11 left over, if anything is.
  std::string WrongWord() const {
    const CLI::App* app = &app_;
    while (!app->get_subcommands().empty()) app = app->get_subcommands()[0];
    std::vector<std::string> words = app->remaining();
    for (const std::string& word : words) {
      if (word.starts_with('-')) return word + ": no such option";
    }
    if (!verb_) return UnknownVerb(words);
    if (words.empty()) return "";
    return words[0] + ": " + app->get_name() + " takes no such word";
  }

  std::string UnknownVerb(const std::vector<std::string>& words) const {
    if (words.empty()) return "which verb?";
    std::vector<std::string> names;
    for (const CLI::App* sub : app_.get_subcommands(nullptr)) {
      names.push_back(sub->get_name());
    }
    std::vector<std::string_view> views(names.begin(), names.end());
    std::string message = words[0] + ": no such verb";
    if (auto nearest = NearestName(words[0], views); !nearest.empty()) {
      message.append("; did you mean ").append(nearest).append("?");
    }
    return message;
  }

  CLI::App* AddVerb(const std::string& name, const std::string& doc,
                    Verb verb) {
    CLI::App* sub = app_.add_subcommand(name, doc);
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
    CLI::App* sub =
        AddVerb("url", "Cost of the stage `url` per link",
                [this](const cli::Setup& setup) {
                  return RunBenchUrl(setup, bench_url_options_, std::cout);
                });
    sub->add_option("--urls", bench_url_options_.urls_file,
                    "URLs, one a line, plain or .zst")
        ->type_name("FILE");
    sub->add_option("--passes", bench_url_options_.passes,
                    "How often all of them are gone through")
        ->check(CLI::Range(1, 1000));
    sub->add_flag("--json", bench_url_options_.json, "A line of JSON");
  }

  void AddDrum() {
    CLI::App* sub =
        AddVerb("drum", "Links through a store that lets each through once",
                [this](const cli::Setup&) { return RunDrum(); });
    BenchDrumOptions& options = bench_drum_options_;
    std::string names;
    for (std::string_view name : StoreNames()) names.append(" ").append(name);
    sub->add_option("--store", options.store, "One of:" + names)
        ->capture_default_str();
    sub->add_option("--links", links_,
                    "How many, as 10M or 1B [10M; hit rates: 20M]");
    sub->add_option("--unique", options.unique_share, "Share of new links")
        ->capture_default_str();
    sub->add_option("--preload", preload_, "Keys in the store before")
        ->capture_default_str();
    sub->add_option("--memory", memory_, "For the store: 512MiB")
        ->type_name("SIZE")
        ->capture_default_str();
    sub->add_option("--disk", disk_, "For what waits on disk: 4GiB")
        ->type_name("SIZE")
        ->capture_default_str();
    sub->add_option("--threads", options.threads,
                    "Of the store, in the background")
        ->check(CLI::Range(0, 64))
        ->capture_default_str();
    sub->add_option("--codec", codec_, "Of the text that waits in our store")
        ->check(CLI::IsMember({"auto", "none", "lz4", "zstd"}))
        ->capture_default_str();
    sub->add_flag("--page-cache", options.page_cache,
                  "Our store without direct I/O");
    sub->add_option("--text", options.text_file,
                    "Links from the lines of a file, plain or .zst")
        ->type_name("FILE");
    sub->add_flag("--shuffled", options.shuffled,
                  "Distinct links in random order");
    sub->add_option("--dir", options.directory,
                    "Where to work, in a folder that is removed at the end")
        ->type_name("DIR");
    sub->add_flag("--json", options.json, "A line of JSON");
    sub->add_option("--time-limit", options.time_limit_s,
                    "End the run after SECONDS")
        ->type_name("SECONDS");
    sub->add_option("--load-limit", options.load_limit_s,
                    "Give up the preload after SECONDS")
        ->type_name("SECONDS")
        ->capture_default_str();
    sub->add_option("--seed", options.seed, "Of the stream")
        ->capture_default_str();
    AddHitRates(sub);
  }

  void AddHitRates(CLI::App* sub) {
    model::Machine& machine = bench_drum_options_.machine;
    sub->add_flag("--hit-rates", hit_rates_,
                  "No store: what caches of recent links would catch, and "
                  "whether they pay, on a machine with");
    sub->add_option("--cores", machine.cores, "so many cores")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    sub->add_option("--disk-speed", disk_speed_, "a disk of bytes a second")
        ->type_name("SIZE")
        ->capture_default_str();
    sub->add_option("--disk-share", machine.disk_share,
                    "of which the store may have this")
        ->check(CLI::Range(0.001, 1.0))
        ->capture_default_str();
  }

  Status RunDrum() {
    BenchDrumOptions& options = bench_drum_options_;
    if (hit_rates_) options.links = kHitRateLinks;
    if (!links_.empty()) {
      NEPHILA_TRY(options.links, ParseCount(links_));
    }
    NEPHILA_TRY(options.preload, ParseCount(preload_));
    NEPHILA_TRY(options.memory_bytes, ParseSize(memory_));
    NEPHILA_TRY(options.disk_bytes, ParseSize(disk_));
    if (codec_ != "auto") {
      NEPHILA_TRY(options.codec, drum::ParseCodec(codec_));
    }
    NEPHILA_TRY(const uint64_t speed, ParseSize(disk_speed_));
    if (speed == 0) {
      return Unexpected(Error{ErrorCode::kInvalidArgument,
                              "--disk-speed: more than nothing"});
    }
    options.machine.disk_bytes_per_s = static_cast<double>(speed);
    if (hit_rates_) return RunHitRates(options, std::cout);
    return RunBenchDrum(options, std::cout, std::cerr);
  }

  CLI::App app_{"The benchmarks of nephila", "nephila-bench"};
  cli::SetupOptions setup_options_;
  BenchUrlOptions bench_url_options_;
  BenchDrumOptions bench_drum_options_;
  std::string links_;
  std::string preload_ = "0";
  std::string memory_ = "512MiB";
  std::string disk_ = "4GiB";
  std::string codec_ = "auto";
  std::string disk_speed_ = "1.7GB";  // as of model::Machine
  bool hit_rates_ = false;
  Verb verb_;
};

}  // namespace
}  // namespace nephila::bench

int main(int argc, char** argv) {
  nephila::KeepHeapFlat();
  std::ios::sync_with_stdio(false);
  // A reader that goes away (`| head`) ends the program quietly.
  std::signal(SIGPIPE, SIG_DFL);
  try {
    return nephila::bench::CommandLine().Run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "nephila-bench: " << error.what() << '\n';
    return nephila::cli::kFailed;
  }
}
