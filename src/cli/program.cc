#include "cli/program.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>
#include <iostream>
#include <string_view>
#include <utility>

#include "base/heap.h"
#include "base/text.h"
#include "cli/help_text.h"

namespace nephila::cli {
namespace {

ExitCode CodeOf(const Error& error) {
  switch (error.sys_errno) {
    case EACCES:
    case EPERM:
    case EROFS:
      return kNotPermitted;
    case EHOSTUNREACH:  // SeedWatch
      return kNothingFetched;
    default:
      break;
  }
  switch (error.code) {
    case ErrorCode::kInvalidArgument:
      return kUsage;
    case ErrorCode::kBusy:
      return kInUse;
    case ErrorCode::kNoSpace:
      return kDiskFull;
    case ErrorCode::kCorruption:
      return kUnsound;
    default:
      return kFailed;
  }
}

std::string DidYouMean(std::string_view word,
                       const std::vector<std::string>& names) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string_view nearest = NearestName(word, views);
  if (nearest.empty()) return "";
  return "; did you mean " + std::string(nearest) + "?";
}

// The words by which a verb is called: "nephila warc ls".
std::string PathOf(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  if (parent == nullptr) return app.get_name();
  return PathOf(*parent) + " " + app.get_name();
}

OptionDoc DocOf(const CLI::Option& option) {
  OptionDoc doc;
  doc.name = "--" + option.get_lnames()[0];
  doc.doc = option.get_description();
  doc.default_value = option.get_default_str();
  doc.required = option.get_required();
  if (option.get_type_size_max() == 0) return doc;  // a flag
  // What a validator says stands behind a colon.
  doc.type = option.get_type_name();
  doc.type = doc.type.substr(0, doc.type.find(':'));
  if (doc.type == "INT" || doc.type == "UINT" || doc.type == "FLOAT") {
    doc.type = "N";
  }
  return doc;
}

}  // namespace

Program::Program(const std::string& name, const std::string& doc,
                 const std::string& note)
    : name_(name), note_(note), app_(doc, name) {
  app_.allow_extras();
  app_.set_version_flag("--version", name + " " NEPHILA_VERSION,
                        "The version, and no more");
  app_.set_help_flag("-h,--help", "Of the program, or of a verb");
  // Verbs take it over when they are added.
  app_.formatter_fn(
      [this](const CLI::App* app, const std::string&, CLI::AppFormatMode) {
        return FormatHelp(Describe(*app), note_);
      });
}

CommandDoc Program::Describe(const CLI::App& app) const {
  CommandDoc doc;
  doc.name = app.get_name();
  doc.path = PathOf(app);
  const std::string text = app.get_description();
  doc.summary = text.substr(0, text.find('\n'));
  if (doc.summary.size() < text.size()) {
    doc.details = text.substr(doc.summary.size() + 1);
  }
  const size_t colon = doc.summary.find(": " + name_ + " ");
  if (colon != std::string::npos) {
    doc.usage = doc.summary.substr(colon + 2);
    doc.summary.resize(colon);
  }
  const auto examples = examples_.find(&app);
  if (examples != examples_.end()) doc.examples = examples->second;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty() || option->get_lnames().empty() ||
        (option == app.get_help_ptr() && &app != &app_)) {
      continue;
    }
    doc.options.push_back(DocOf(*option));
  }
  // What all verbs have comes behind what is their own.
  std::stable_partition(
      doc.options.begin(), doc.options.end(), [](const OptionDoc& option) {
        return option.name != "--config" && option.name != "--set";
      });
  for (const CLI::App* sub : app.get_subcommands(nullptr)) {
    if (!sub->get_group().empty()) doc.verbs.push_back(Describe(*sub));
  }
  return doc;
}

CLI::App* Program::AddGroup(const std::string& name, const std::string& doc) {
  CLI::App* group = app_.add_subcommand(name, doc);
  group->allow_extras();
  group->require_subcommand(0, 1);
  return group;
}

CLI::App* Program::AddVerb(CLI::App* group, const std::string& name,
                           const std::string& doc, Verb verb,
                           std::vector<std::string>* words) {
  CLI::App* sub = group->add_subcommand(name, doc);
  sub->add_option("--config", setup_options_.config_files,
                  "A TOML file with settings; may be repeated, later ones win")
      ->type_name("FILE")
      ->allow_extra_args(false);
  sub->add_option("--set", setup_options_.assignments,
                  "One setting, over those of files; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  sub->allow_extras();
  sub->callback([this, chosen = Chosen{name, std::move(verb), words}] {
    chosen_ = chosen;
  });
  return sub;
}

void Program::AddSettingOption(CLI::App* verb, const std::string& flag,
                               const std::string& setting,
                               const std::string& type,
                               const std::string& doc) {
  verb->add_option_function<std::string>(
          flag,
          [this, setting](const std::string& value) {
            setup_options_.assignments.push_back(setting + "=" + value);
          },
          doc)
      ->type_name(type);
}

void Program::AddOtherProgram(const std::string& name, const std::string& doc,
                              OtherProgram other) {
  app_.add_subcommand(name, doc);  // for --help alone
  other_name_ = name;
  other_ = std::move(other);
}

void IgnoreBrokenPipes() { std::signal(SIGPIPE, SIG_IGN); }

int Program::Main(int argc, char** argv) {
  KeepHeapFlat();
  std::ios::sync_with_stdio(false);
  // A reader that goes away (`| head`) ends the program quietly; a limit on
  // the size of files (`ulimit -f`) is an error of the write, with its name.
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return Run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    return Fail(error.what(), kFailed);
  }
}

int Program::Run(std::vector<std::string> arguments) {
  // Not ours to read.
  if (other_ && !arguments.empty() && arguments[0] == other_name_) {
    arguments.erase(arguments.begin());
    return Fail(other_(arguments).message, kFailed);
  }
  // Behind "--" everything is an operand, whatever it looks like.
  std::vector<std::string> operands;
  auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes != arguments.end()) {
    operands.assign(dashes + 1, arguments.end());
    arguments.erase(dashes, arguments.end());
  }
  // CLI11 wants them in reverse.
  std::reverse(arguments.begin(), arguments.end());
  try {
    app_.parse(arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      // An option that is misspelt is why another one is missing.
      const Status words = CheckOptions();
      return FailUsage(words ? error.what() : words.error().message);
    }
    return CheckOutput(app_.exit(error));
  }
  if (Status status = TakeWords(std::move(operands)); !status) {
    return FailUsage(status.error().message);
  }
  if (prepare_) {
    if (Status status = prepare_(&setup_options_); !status) {
      return Fail(status.error().message, CodeOf(status.error()));
    }
  }
  auto setup = LoadSetup(setup_options_);
  if (!setup) return Fail(setup.error().message, kBadSettings);
  if (Status status = chosen_.verb(*setup); !status) {
    return Fail(status.error().message,
                failure_code_.value_or(CodeOf(status.error())));
  }
  return CheckOutput(kSuccess);
}

// What CLI11 left over. It is not told of operands, as it would read lists
// into "[a,b]", so wrong flags and verbs end up here too.
Status Program::TakeWords(std::vector<std::string> operands) {
  NEPHILA_RETURN_IF_ERROR(CheckOptions());
  const CLI::App* app = ChosenApp();
  auto refuse = [](std::string message) {
    return Unexpected(Error{ErrorCode::kInvalidArgument, std::move(message)});
  };
  std::vector<std::string> words = app->remaining();
  words.insert(words.end(), std::make_move_iterator(operands.begin()),
               std::make_move_iterator(operands.end()));
  if (!chosen_.verb) return refuse(UnknownVerb(*app, words));
  if (chosen_.words != nullptr) {
    *chosen_.words = std::move(words);
  } else if (!words.empty()) {
    return refuse(words[0] + ": " + chosen_.name + " takes no such word");
  }
  return {};
}

const CLI::App* Program::ChosenApp() const {
  const CLI::App* app = &app_;
  while (!app->get_subcommands().empty()) app = app->get_subcommands()[0];
  return app;
}

Status Program::CheckOptions() const {
  const CLI::App* app = ChosenApp();
  for (const std::string& word : app->remaining()) {
    // "-" alone is a name: that of the standard input.
    if (word.size() > 1 && word.starts_with('-')) {
      return Unexpected(
          Error{ErrorCode::kInvalidArgument, UnknownOption(*app, word)});
    }
  }
  return {};
}

std::string Program::UnknownVerb(const CLI::App& group,
                                 const std::vector<std::string>& words) {
  if (words.empty()) return "which verb?";
  std::vector<std::string> names;
  for (const CLI::App* sub : group.get_subcommands(nullptr)) {
    names.push_back(sub->get_name());
  }
  return words[0] + ": no such verb" + DidYouMean(words[0], names);
}

std::string Program::UnknownOption(const CLI::App& app,
                                   const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return word + ": no such option" +
         DidYouMean(word.substr(0, word.find('=')), names);
}

// A full disk must not look like success.
int Program::CheckOutput(int code) const {
  if (std::cout.flush()) return code;
  return Fail("standard output cannot be written", kFailed);
}

int Program::Fail(const std::string& message, ExitCode code) const {
  std::cerr << name_ << ": " << EscapeForTerminal(message) << '\n';
  return code;
}

int Program::FailUsage(const std::string& message) const {
  return Fail(message + " (see " + name_ + " --help)", kUsage);
}

}  // namespace nephila::cli
