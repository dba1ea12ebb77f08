#include "cli/completion.h"

#include <fmt/core.h>

#include <functional>
#include <ostream>
#include <string_view>

#include "base/error.h"
#include "config/table.h"

namespace nephila::cli {
namespace {

// Between single quotes of a shell.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

// "bool" and "choice" have values that can be listed.
std::string ValuesOf(const config::Row& row) {
  std::string values;
  if (row.type == config::Type::kBool) return "true false";
  for (const std::string_view choice : row.choices) {
    if (!values.empty()) values += ' ';
    values += choice;
  }
  return values;
}

std::string Names(const std::vector<CommandDoc>& verbs) {
  std::string names;
  for (const CommandDoc& verb : verbs) {
    if (!names.empty()) names += ' ';
    names += verb.name;
  }
  return names;
}

std::string OptionNames(const CommandDoc& verb, bool with_value) {
  std::string names;
  for (const OptionDoc& option : verb.options) {
    if (with_value && option.type.empty()) continue;
    if (!names.empty()) names += ' ';
    names += option.name;
  }
  return names;
}

std::string SettingNames() {
  std::string names;
  for (const config::Row& row : config::AllRows()) {
    if (!names.empty()) names += ' ';
    names += fmt::format("{}=", row.name);
  }
  return names;
}

constexpr const char* kShells = "bash zsh fish";

// Both know a place by the words before it: "nephila warc ls".
constexpr std::string_view kBash =
    R"(# bash completion of nephila, made by `nephila completion bash`.

_nephila() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local place=nephila name= words= i
  local -A options=(
@OPTIONS@  )
  local -A takes=(
@TAKES@  )
  local -A verbs=(
@GROUPS@  )
  local -A values=(
@VALUES@  )
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ -n ${verbs[$place]-} && ${COMP_WORDS[i]} != -* ]] || break
    place="$place ${COMP_WORDS[i]}"
  done
  # Bash takes = for a word of its own: NAME = VALUE.
  if [[ $current == = ]]; then
    name=$before
    current=
  elif [[ $before == = ]] && ((COMP_CWORD >= 2)); then
    name=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if [[ -n $name ]]; then
    mapfile -t COMPREPLY < <(compgen -W "${values[$name]-}" -- "$current")
    return
  fi
  case $before in
    --set)
      mapfile -t COMPREPLY < <(compgen -W "@SETTINGS@" -- "$current")
      compopt -o nospace 2>/dev/null
      return
      ;;
    --profile)
      words="site broad"
      ;;
    *)
      if [[ $current == -* ]]; then
        words="${options[$place]-} --help"
      elif [[ " ${takes[$place]-} " != *" $before "* ]]; then
        words=${verbs[$place]-}
      fi
      ;;
  esac
  if [[ -n $words ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  else
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -F _nephila nephila
)";

constexpr std::string_view kZsh = R"(#compdef nephila
# zsh completion of nephila, made by `nephila completion zsh`.

_nephila() {
  local place=nephila word
  local -A options verbs
  options=(
@OPTIONS@  )
  verbs=(
@GROUPS@  )
  for word in ${words[2,CURRENT-1]}; do
    [[ -n ${verbs[$place]} && $word != -* ]] || break
    place="$place $word"
  done
  if [[ ${words[CURRENT-1]} == --set ]]; then
    compadd -S '' -- @SETTINGS@
  elif [[ ${words[CURRENT-1]} == --profile ]]; then
    compadd -- site broad
  elif [[ ${words[CURRENT]} == -* ]]; then
    compadd -- ${=options[$place]} --help
  elif [[ -n ${verbs[$place]} ]]; then
    compadd -- ${=verbs[$place]}
  else
    _files
  fi
}

if [[ $funcstack[1] == _nephila ]]; then
  _nephila
else
  compdef _nephila nephila
fi
)";

void Replace(std::string_view what, std::string_view with, std::string* text) {
  for (size_t at = text->find(what); at != std::string::npos;
       at = text->find(what, at + with.size())) {
    text->replace(at, what.size(), with);
  }
}

// What bash and zsh have in common.
std::string Filled(std::string_view script, const CommandDoc& program,
                   bool is_bash) {
  const auto line = [&](std::string_view key, const std::string& words) {
    return is_bash ? fmt::format("    [{}]={}\n", Quoted(key), Quoted(words))
                   : fmt::format("    {} {}\n", Quoted(key), Quoted(words));
  };
  std::string options;
  std::string takes;
  std::string groups;
  std::string values;
  const std::function<void(const std::string&, const CommandDoc&)> add =
      [&](const std::string& place, const CommandDoc& verb) {
        options += line(place, OptionNames(verb, /*with_value=*/false));
        takes += line(place, OptionNames(verb, /*with_value=*/true));
        if (!verb.verbs.empty()) groups += line(place, Names(verb.verbs));
        for (const CommandDoc& sub : verb.verbs) {
          add(place + " " + sub.name, sub);
        }
      };
  add("nephila", program);
  groups += line("nephila completion", kShells);
  for (const config::Row& setting : config::AllRows()) {
    if (const std::string known = ValuesOf(setting); !known.empty()) {
      values += line(setting.name, known);
    }
  }
  std::string text(script);
  Replace("@OPTIONS@", options, &text);
  Replace("@TAKES@", takes, &text);
  Replace("@GROUPS@", groups, &text);
  Replace("@VALUES@", values, &text);
  Replace("@SETTINGS@", SettingNames(), &text);
  return text;
}

std::string FishOptions(const std::string& condition, const CommandDoc& verb) {
  std::string text;
  for (const OptionDoc& option : verb.options) {
    if (option.name == "--set") continue;
    text += fmt::format("complete -c nephila -n {} -l {}{} -d {}\n",
                        Quoted(condition), option.name.substr(2),
                        option.type.empty() ? "" : " -r", Quoted(option.doc));
  }
  return text;
}

std::string Fish(const CommandDoc& program) {
  std::string text =
      "# fish completion of nephila, made by `nephila completion fish`.\n";
  for (const CommandDoc& verb : program.verbs) {
    text += fmt::format(
        "complete -c nephila -n __fish_use_subcommand -f -a {} -d {}\n",
        verb.name, Quoted(verb.summary));
    const std::string in_verb = "__fish_seen_subcommand_from " + verb.name;
    if (verb.verbs.empty()) text += FishOptions(in_verb, verb);
    for (const CommandDoc& sub : verb.verbs) {
      text += fmt::format(
          "complete -c nephila -n {} -f -a {} -d {}\n",
          Quoted(in_verb + "; and not __fish_seen_subcommand_from " +
                 Names(verb.verbs)),
          sub.name, Quoted(sub.summary));
      text += FishOptions(
          in_verb + "; and __fish_seen_subcommand_from " + sub.name, sub);
    }
  }
  text += fmt::format(
      "complete -c nephila -n 'not __fish_use_subcommand' -l set -x -a {}\n",
      Quoted(SettingNames()));
  return text;
}

}  // namespace

Status RunCompletion(const CommandDoc& program,
                     const CompletionOptions& options, std::ostream& out) {
  const std::string shell =
      options.shells.size() == 1 ? options.shells[0] : std::string();
  if (shell == "bash") {
    out << Filled(kBash, program, /*is_bash=*/true);
  } else if (shell == "zsh") {
    out << Filled(kZsh, program, /*is_bash=*/false);
  } else if (shell == "fish") {
    out << Fish(program);
  } else {
    return Unexpected(Error{ErrorCode::kInvalidArgument,
                            "completion: for which shell? bash, zsh or fish"});
  }
  return {};
}

}  // namespace nephila::cli
