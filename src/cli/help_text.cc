#include "cli/help_text.h"

#include <fmt/core.h>

#include <sstream>

#include "cli/exit_code.h"
#include "config/table.h"

namespace nephila::cli {
namespace {

constexpr size_t kColumns = 80;
// Where texts begin beside names; a longer name has a line of its own.
constexpr size_t kNames = 22;

// A name and its text beside it, or below where the name is long.
std::string Row(const std::string& name, const std::string& text) {
  const std::string indent(kNames, ' ');
  std::string wrapped = config::Wrap(text, indent, kColumns);
  if (name.size() + 4 > kNames) return "  " + name + "\n" + wrapped;
  wrapped.replace(2, name.size(), name);
  return wrapped;
}

std::string OptionRow(const OptionDoc& option) {
  std::string name = option.name;
  if (!option.type.empty()) name += " " + option.type;
  std::string text = option.doc;
  if (option.required) text += " (required)";
  if (!option.default_value.empty()) {
    text += " (default: " + option.default_value + ")";
  }
  return Row(name, text);
}

std::string UsageOf(const CommandDoc& command) {
  if (!command.usage.empty()) return command.usage;
  if (!command.verbs.empty()) return command.path + " VERB [OPTION...]";
  return command.path + " [OPTION...]";
}

// Lines as they are, each wrapped.
std::string Paragraphs(const std::string& text) {
  std::string paragraphs;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    paragraphs += line.empty() ? "\n" : config::Wrap(line, "", kColumns);
  }
  return paragraphs;
}

std::string Examples(const std::string& examples) {
  std::string text;
  std::istringstream lines(examples);
  for (std::string line; std::getline(lines, line);) text += "  " + line + "\n";
  return text;
}

std::string ExitStatus() {
  std::string text = "Exit status:";
  for (const ExitCodeRow& row : kExitCodes) {
    text += fmt::format("{} {} {}", row.code == kSuccess ? "" : ";",
                        static_cast<int>(row.code), row.meaning);
  }
  return config::Wrap(text + ".", "", kColumns);
}

}  // namespace

std::string FormatHelp(const CommandDoc& command, const std::string& note) {
  std::string help = Paragraphs(command.summary + ".");
  help += "\nUsage: ";
  // Wrapped behind its label.
  help += config::Wrap(UsageOf(command), "       ", kColumns).substr(7);
  if (!command.details.empty()) help += "\n" + Paragraphs(command.details);
  if (!command.verbs.empty()) {
    help += "\nVerbs:\n";
    for (const CommandDoc& verb : command.verbs) {
      help += Row(verb.name, verb.summary);
    }
  }
  if (!command.options.empty()) {
    help += "\nOptions:\n";
    for (const OptionDoc& option : command.options) help += OptionRow(option);
  }
  if (!command.examples.empty()) {
    help += "\nExamples:\n" + Examples(command.examples);
  }
  return help + "\n" + ExitStatus() + Paragraphs(note);
}

}  // namespace nephila::cli
