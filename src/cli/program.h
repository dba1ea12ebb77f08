// Program: what `nephila` and `nephila-bench` have in common. A command line of
// verbs, each with options of its own, --config and --set; errors in one line
// on stderr; the statuses of exit_code.h.
//
// CLI11 is included here alone.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "base/error.h"
#include "base/result.h"
#include "cli/command_doc.h"
#include "cli/exit_code.h"
#include "cli/setup.h"

namespace nephila::cli {

// For verbs that write to sockets: a peer that closes its end becomes an error
// of the write instead of the end of the process. Libraries write to sockets
// without MSG_NOSIGNAL.
void IgnoreBrokenPipes();

class Program {
 public:
  // What a verb does once the settings are loaded. An error that says
  // kInvalidArgument is one of the command line.
  using Verb = std::function<Status(const Setup&)>;
  // Gets the arguments as they are; comes back only if it failed.
  using OtherProgram = std::function<Error(const std::vector<std::string>&)>;

  // `doc` as that of a verb. `note` stands at the end of every help text.
  Program(const std::string& name, const std::string& doc,
          const std::string& note);

  // `doc` is a line "What it does: nephila VERB [OPTION]", whose part behind
  // the colon is the usage and may be missing, and more lines. The caller adds
  // the options. Words that belong to no option go to `words` (all that follow
  // "--" are such); with null the verb takes none.
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

  // Shown below the options of a verb, or of the program, as they are typed.
  void AddExamples(CLI::App* verb, const std::string& lines) {
    examples_[verb] = lines;
  }
  void AddExamples(const std::string& lines) { AddExamples(&app_, lines); }

  // What --help knows, for the man page and for shells.
  CommandDoc Describe() const { return Describe(app_); }

  // Everything that main has to do. Returns the exit status.
  int Main(int argc, char** argv);

 private:
  struct Chosen {
    std::string name;
    Verb verb;
    std::vector<std::string>* words = nullptr;
  };

  int Run(std::vector<std::string> arguments);
  CommandDoc Describe(const CLI::App& app) const;
  const CLI::App* ChosenApp() const;
  // That none is left over.
  Status CheckOptions() const;
  Status TakeWords(std::vector<std::string> operands);
  static std::string UnknownVerb(const CLI::App& group,
                                 const std::vector<std::string>& words);
  static std::string UnknownOption(const CLI::App& app,
                                   const std::string& word);
  int CheckOutput(int code) const;
  int Fail(const std::string& message, ExitCode code) const;
  int FailUsage(const std::string& message) const;

  const std::string name_;
  const std::string note_;
  CLI::App app_;
  SetupOptions setup_options_;
  std::string other_name_;
  OtherProgram other_;
  Chosen chosen_;
  Prepare prepare_;
  std::optional<ExitCode> failure_code_;
  std::map<const CLI::App*, std::string> examples_;
};

}  // namespace nephila::cli
