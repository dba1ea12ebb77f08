#include "cli/check_cmd.h"

#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "check/job_check.h"
#include "check/politeness_rules.h"
#include "cli/file_limit.h"
#include "cli/job_files.h"
#include "cli/job_setup.h"
#include "cli/temporary_folder.h"
#include "sim/politeness_check.h"

namespace nephila::cli {
namespace {

using check::CheckReport;
using nlohmann::ordered_json;

Unexpected<Error> Unsound(std::string message) {
  return Unexpected(Error{ErrorCode::kCorruption, std::move(message)});
}

std::string Dump(const ordered_json& json) {
  return json.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
}

std::string Shown(const Damage& damage) {
  std::string text = EscapeForTerminal(damage.file);
  if (damage.offset) text += fmt::format(": offset {}", *damage.offset);
  return text + ": " + EscapeForTerminal(damage.what);
}

void Print(const CheckReport& report, std::ostream& out) {
  for (const CheckReport::Part& part : report.parts) {
    const std::string verdict =
        part.damages == 0 ? "sound" : fmt::format("{} DAMAGED", part.damages);
    out << fmt::format("{}: {}: {}\n", part.name, EscapeForTerminal(part.text),
                       verdict);
  }
  for (const Damage& note : report.notes) {
    out << "note: " << Shown(note) << '\n';
  }
  if (report.note_count > report.notes.size()) {
    out << fmt::format("note: {} more\n",
                       report.note_count - report.notes.size());
  }
  for (const Damage& damage : report.damages) {
    out << "damage: " << Shown(damage) << '\n';
  }
  if (report.damage_count > report.damages.size()) {
    out << fmt::format("damage: {} more\n",
                       report.damage_count - report.damages.size());
  }
}

ordered_json JsonOf(const std::vector<Damage>& damages) {
  ordered_json list = ordered_json::array();
  for (const Damage& damage : damages) {
    ordered_json one;
    one["file"] = damage.file;
    if (damage.offset) one["offset"] = *damage.offset;
    one["what"] = damage.what;
    list.push_back(std::move(one));
  }
  return list;
}

void PrintJson(const CheckReport& report, std::ostream& out) {
  ordered_json line;
  line["sound"] = report.sound();
  line["damage_count"] = report.damage_count;
  line["note_count"] = report.note_count;
  line["parts"] = ordered_json::array();
  for (const CheckReport::Part& part : report.parts) {
    line["parts"].push_back(
        {{"name", part.name}, {"text", part.text}, {"damages", part.damages}});
  }
  line["damages"] = JsonOf(report.damages);
  line["notes"] = JsonOf(report.notes);
  out << Dump(line) << '\n';
}

Status CheckTheJob(const Setup& setup, const CheckCmdOptions& options,
                   std::ostream& out, bool* is_unsound) {
  const auto fs = OpenJobFiles(options.job, setup.settings);
  const RealClock clock;
  // Each run of a sort is a file.
  RaiseFileLimit();
  check::JobCheckOptions job;
  job.dir = options.job;
  job.settings = setup.settings;
  NEPHILA_TRY(job.memory_bytes, ParseSize(options.memory));
  NEPHILA_TRY(const auto folder, TemporaryFolder::Make(options.scratch));
  job.scratch = folder->path();
  NEPHILA_TRY(const CheckReport report, CheckJob(*fs, clock, job));
  options.json ? PrintJson(report, out) : Print(report, out);
  if (report.sound()) return {};
  *is_unsound = true;
  return Unsound(fmt::format("{}: {} damages", EscapeForTerminal(options.job),
                             report.damage_count));
}

void Print(const sim::PolitenessReport& report, std::ostream& out) {
  for (const sim::Violation& violation : report.first) {
    out << fmt::format("line {} (after line {}): {}\n", violation.line,
                       violation.earlier, EscapeForTerminal(violation.what));
  }
  out << fmt::format(
      "{} requests by {} connections to {} hosts on {} addresses, {} answers "
      "that asked for a wait: {} early\n",
      report.requests, report.connections, report.hosts, report.addresses,
      report.asked_for, report.violations);
}

void PrintJson(const sim::PolitenessReport& report, std::ostream& out) {
  ordered_json line;
  line["polite"] = report.violations == 0;
  line["requests"] = report.requests;
  line["connections"] = report.connections;
  line["hosts"] = report.hosts;
  line["addresses"] = report.addresses;
  line["asked_for"] = report.asked_for;
  line["early"] = report.violations;
  line["first"] = ordered_json::array();
  for (const sim::Violation& violation : report.first) {
    line["first"].push_back({{"line", violation.line},
                             {"after", violation.earlier},
                             {"what", violation.what}});
  }
  out << Dump(line) << '\n';
}

Status CheckTheLog(const Setup& setup, const CheckCmdOptions& options,
                   std::ostream& out, bool* is_unsound) {
  const auto fs = OpenJobFiles(options.job, setup.settings);
  sim::PolitenessRules rules;
  std::unique_ptr<check::JobAnswers> answers;
  if (!options.job.empty()) {
    NEPHILA_TRY(answers,
                check::JobAnswers::Read(*fs, options.job, setup.settings));
    rules = answers->Rules();
  } else if (!options.host_delay) {
    return Unexpected(
        Error{ErrorCode::kInvalidArgument,
              "check --politeness: what was to be kept? --job DIR, or "
              "--host-delay TIME and --server-delay TIME"});
  }
  if (options.host_delay) {
    NEPHILA_TRY(rules.host_delay, ParseDuration(*options.host_delay));
    rules.site_delay = nullptr;
  }
  if (options.server_delay) {
    NEPHILA_TRY(rules.server_delay, ParseDuration(*options.server_delay));
  }
  NEPHILA_TRY(rules.tolerance, ParseDuration(options.tolerance));
  NEPHILA_TRY(const sim::PolitenessReport report,
              sim::CheckPoliteness(*fs, options.politeness, rules));
  options.json ? PrintJson(report, out) : Print(report, out);
  if (report.violations == 0) return {};
  *is_unsound = true;
  return Unsound(fmt::format("{}: {} contacts came early",
                             EscapeForTerminal(options.politeness),
                             report.violations));
}

}  // namespace

Status PrepareCheck(const CheckCmdOptions& options, SetupOptions* setup) {
  return PrepareForJob(options.job, setup);
}

Status RunCheck(const Setup& setup, const CheckCmdOptions& options,
                std::ostream& out, bool* is_unsound) {
  if (!options.politeness.empty()) {
    return CheckTheLog(setup, options, out, is_unsound);
  }
  if (options.job.empty()) {
    return Unexpected(Error{ErrorCode::kInvalidArgument,
                            "check: --job DIR, or --politeness LOG"});
  }
  return CheckTheJob(setup, options, out, is_unsound);
}

}  // namespace nephila::cli
