// Program: what `nephila` and `nephila-bench` have in common. A command line of
// verbs, each with options of its own, --config and --set; errors in one line
// on stderr; the statuses of exit_code.h.
//
// CLI11 is included here and in the two main.cc alone.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "base/error.h"
#include "base/result.h"
#include "cli/exit_code.h"
#include "cli/setup.h"

namespace nephila::cli {

class Program {
 public:
  // What a verb does once the settings are loaded. An error that says
  // kInvalidArgument is one of the command line.
  using Verb = std::function<Status(const Setup&)>;
  // Gets the arguments as they are; comes back only if it failed.
  using OtherProgram = std::function<Error(const std::vector<std::string>&)>;

  // `note` stands at the end of every help text.
  Program(const std::string& name, const std::string& doc,
          const std::string& note);

  // The caller adds the options. Words that belong to no option go to `words`
  // (all that follow "--" are such); with null the verb takes none.
  CLI::App* AddVerb(const std::string& name, const std::string& doc, Verb verb,
                    std::vector<std::string>* words = nullptr) {
    return AddVerb(&app_, name, doc, std::move(verb), words);
  }
  // In a group: `nephila warc ls`.
  CLI::App* AddVerb(CLI::App* group, const std::string& name,
                    const std::string& doc, Verb verb,
                    std::vector<std::string>* words = nullptr);
  // For a verb whose defaults, under what the user sets, are a profile's.
  void SetProfile(CLI::App* verb, config::Profile profile) {
    verb->parse_complete_callback(
        [this, profile] { setup_options_.profile = profile; });
  }
  // `flag` is short for --set SETTING=...
  void AddSettingOption(CLI::App* verb, const std::string& flag,
                        const std::string& setting, const std::string& type,
                        const std::string& doc);
  // Asked when the command line is read and before settings are loaded.
  using Prepare = std::function<Status(SetupOptions* options)>;
  void SetPrepare(Prepare prepare) { prepare_ = std::move(prepare); }
  CLI::App* AddGroup(const std::string& name, const std::string& doc);

  // A verb that another program does, with options of its own.
  void AddOtherProgram(const std::string& name, const std::string& doc,
                       OtherProgram other);

  // The error that a verb is about to return ends the program with this.
  void FailWith(ExitCode code) { failure_code_ = code; }

  // Everything that main has to do. Returns the exit status.
  int Main(int argc, char** argv);

 private:
  struct Chosen {
    std::string name;
    Verb verb;
    std::vector<std::string>* words = nullptr;
  };

  int Run(std::vector<std::string> arguments);
  Status TakeWords(std::vector<std::string> operands);
  static std::string UnknownVerb(const CLI::App& group,
                                 const std::vector<std::string>& words);
  int CheckOutput(int code) const;
  int Fail(const std::string& message, ExitCode code) const;
  int FailUsage(const std::string& message) const;

  const std::string name_;
  const std::string footer_;
  CLI::App app_;
  SetupOptions setup_options_;
  std::string other_name_;
  OtherProgram other_;
  Chosen chosen_;
  Prepare prepare_;
  std::optional<ExitCode> failure_code_;
};

}  // namespace nephila::cli
