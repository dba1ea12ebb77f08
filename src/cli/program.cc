#include "cli/program.h"

#include <algorithm>
#include <csignal>
#include <exception>
#include <iostream>
#include <string_view>
#include <utility>

#include "base/heap.h"
#include "base/text.h"

namespace nephila::cli {
namespace {

ExitCode CodeOf(const Error& error) {
  if (error.code == ErrorCode::kInvalidArgument) return kUsage;
  return error.code == ErrorCode::kBusy ? kInUse : kFailed;
}

}  // namespace

Program::Program(const std::string& name, const std::string& doc,
                 const std::string& note)
    : name_(name),
      footer_(
          "Exit status: 0 done, 1 failed while running, 2 wrong command line, "
          "3 wrong setting, 4 check: damage or early contacts, 5 the job is "
          "in use.\n" +
          note),
      app_(doc, name) {
  app_.allow_extras();
  app_.set_version_flag("--version", name + " " NEPHILA_VERSION);
  app_.footer(footer_);
}

CLI::App* Program::AddGroup(const std::string& name, const std::string& doc) {
  CLI::App* group = app_.add_subcommand(name, doc);
  group->allow_extras();
  group->require_subcommand(0, 1);
  group->footer(footer_);
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
  sub->footer(footer_);
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

int Program::Main(int argc, char** argv) {
  KeepHeapFlat();
  std::ios::sync_with_stdio(false);
  // A reader that goes away (`| head`) ends the program quietly.
  std::signal(SIGPIPE, SIG_DFL);
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
    if (error.get_exit_code() != 0) return FailUsage(error.what());
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
  const CLI::App* app = &app_;
  while (!app->get_subcommands().empty()) app = app->get_subcommands()[0];
  auto refuse = [](std::string message) {
    return Unexpected(Error{ErrorCode::kInvalidArgument, std::move(message)});
  };
  std::vector<std::string> words = app->remaining();
  for (const std::string& word : words) {
    // "-" alone is a name: that of the standard input.
    if (word.size() > 1 && word.starts_with('-')) {
      return refuse(word + ": no such option");
    }
  }
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

std::string Program::UnknownVerb(const CLI::App& group,
                                 const std::vector<std::string>& words) {
  if (words.empty()) return "which verb?";
  std::vector<std::string> names;
  for (const CLI::App* sub : group.get_subcommands(nullptr)) {
    names.push_back(sub->get_name());
  }
  std::vector<std::string_view> views(names.begin(), names.end());
  std::string message = words[0] + ": no such verb";
  if (auto nearest = NearestName(words[0], views); !nearest.empty()) {
    message.append("; did you mean ").append(nearest).append("?");
  }
  return message;
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
