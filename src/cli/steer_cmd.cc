#include "cli/steer_cmd.h"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>

#include "base/text.h"
#include "cli/setup.h"
#include "config/load.h"
#include "config/profile.h"
#include "config/table.h"
#include "control/block_entry.h"
#include "control/control_client.h"
#include "crawl/retry_command.h"
#include "job/blocked.h"
#include "job/commands.h"
#include "job/job_folder.h"
#include "job/kept_settings.h"

namespace nephila::cli {
namespace {

using control::ControlClient;
using control::Json;

// A checkpoint waits for the disk.
constexpr std::chrono::minutes kCheckpointTime{10};

Unexpected<Error> Wrong(std::string message) {
  return Unexpected(Error{ErrorCode::kInvalidArgument, std::move(message)});
}

// The crawl's answer; nothing if none runs.
Result<std::optional<Json>> AskRunning(
    FileSystem& fs, const std::string& dir, const Json& request,
    std::chrono::nanoseconds longest = control::kAnswerTime) {
  NEPHILA_RETURN_IF_ERROR(job::JobFolder::Read(fs, dir));
  const auto client = ControlClient::Connect(dir);
  if (!client.has_value()) {
    if (client.error().code == ErrorCode::kNotFound) {
      return std::optional<Json>();
    }
    return Unexpected(client.error());
  }
  NEPHILA_TRY(Json answer, (*client)->Ask(request, longest));
  return std::optional<Json>(std::move(answer));
}

// Whoever changes a stopped job has its lock.
Result<std::unique_ptr<job::JobFolder>> OpenStopped(FileSystem& fs,
                                                    const std::string& dir) {
  NEPHILA_TRY(const job::JobFile file, job::JobFolder::Read(fs, dir));
  job::JobRequest request;
  request.settings = config::SettingsOf(file.profile);
  ApplyFixed(file, &request.settings);
  request.process_id = static_cast<uint64_t>(getpid());
  return job::JobFolder::Open(fs, dir, request);
}

Result<Json> AskOnlyRunning(
    FileSystem& fs, const SteerOptions& options, const std::string& verb,
    std::chrono::nanoseconds longest = control::kAnswerTime) {
  NEPHILA_TRY(auto answer,
              AskRunning(fs, options.job, {{"verb", verb}}, longest));
  if (!answer) {
    // Somebody who starts or checks it has the lock.
    NEPHILA_RETURN_IF_ERROR(OpenStopped(fs, options.job));
    return Unexpected(Error{
        ErrorCode::kNotFound,
        fmt::format("{}: no crawl runs here; nephila crawl --job {} goes on",
                    EscapeForTerminal(options.job),
                    EscapeForTerminal(options.job))});
  }
  return *std::move(answer);
}

void Say(const SteerOptions& options, const Json& answer,
         const std::string& words, std::ostream& out) {
  if (options.json) {
    out << answer.dump() << '\n';
  } else {
    out << EscapeForTerminal(words) << '\n';
  }
}

// Into the file that the next start reads.
Result<Json> SetStopped(FileSystem& fs, const SteerOptions& options) {
  NEPHILA_TRY(const auto folder, OpenStopped(fs, options.job));
  NEPHILA_TRY(job::KeptSettings kept, job::KeptSettings::Read(fs, options.job));
  // As the next start will read it.
  SetupOptions setup;
  setup.profile = folder->file().profile;
  setup.adjust = [&](config::Settings* settings) {
    ApplyFixed(folder->file(), settings);
    kept.Apply(settings);
  };
  setup.assignments = options.words;
  Json answer;
  answer["ok"] = true;
  answer["settings"] = Json::object();
  std::vector<const config::Row*> rows;
  for (const std::string& word : options.words) {
    NEPHILA_TRY(const config::Row* const row, config::RowOfSet(word));
    if (row->change == config::Change::kFixedPerJob) {
      return Wrong(fmt::format(
          "{} was fixed when the job was made; it cannot change", row->name));
    }
    rows.push_back(row);
  }
  NEPHILA_TRY(const Setup loaded, LoadSetup(setup));
  for (const config::Row* row : rows) {
    kept.Keep(row->name, loaded.settings);
    answer["settings"][std::string(row->name)] =
        config::FormatValue(*row, row->get(&loaded.settings));
  }
  NEPHILA_RETURN_IF_ERROR(kept.Write(fs, options.job));
  return answer;
}

Result<Json> BlockStopped(FileSystem& fs, const SteerOptions& options) {
  NEPHILA_TRY(const auto folder, OpenStopped(fs, options.job));
  NEPHILA_TRY(const url::PublicSuffixList suffixes,
              url::PublicSuffixList::Parse(folder->suffix_list()));
  config::Settings settings = config::SettingsOf(folder->file().profile);
  ApplyFixed(folder->file(), &settings);
  std::vector<std::string> lines;
  for (const std::string& word : options.words) {
    NEPHILA_TRY(std::string line,
                control::BlockEntry(word, settings.url, suffixes));
    lines.push_back(std::move(line));
  }
  NEPHILA_RETURN_IF_ERROR(job::AppendBlocked(fs, options.job, lines));
  Json answer;
  answer["ok"] = true;
  answer["blocked"] = lines;
  return answer;
}

}  // namespace

Status RunPause(FileSystem& fs, const SteerOptions& options,
                std::ostream& out) {
  NEPHILA_TRY(const Json answer, AskOnlyRunning(fs, options, "pause"));
  const bool was = answer.value("was", "") == "paused";
  Say(options, answer,
      was ? "paused already"
          : fmt::format("paused; {} requests in flight may end",
                        answer.value("in_flight", uint64_t{0})),
      out);
  return {};
}

Status RunResume(FileSystem& fs, const SteerOptions& options,
                 std::ostream& out) {
  NEPHILA_TRY(const Json answer, AskOnlyRunning(fs, options, "resume"));
  const bool was = answer.value("was", "") == "paused";
  Say(options, answer, was ? "going on" : "it was not paused", out);
  return {};
}

Status RunCheckpoint(FileSystem& fs, const SteerOptions& options,
                     std::ostream& out) {
  NEPHILA_TRY(const Json answer,
              AskOnlyRunning(fs, options, "checkpoint", kCheckpointTime));
  Say(options, answer,
      fmt::format("checkpoint {}", answer.value("checkpoint", uint64_t{0})),
      out);
  return {};
}

Status RunSet(FileSystem& fs, const SteerOptions& options, std::ostream& out) {
  if (options.words.empty()) return Wrong("set what? give KEY=VALUE");
  NEPHILA_TRY(auto answer,
              AskRunning(fs, options.job,
                         {{"verb", "set"}, {"settings", options.words}}));
  const bool runs = answer.has_value();
  if (!runs) {
    NEPHILA_TRY(answer, SetStopped(fs, options));
  }
  std::string words;
  for (const auto& [name, value] : (*answer)["settings"].items()) {
    words += fmt::format(
        "{}{} = {}", words.empty() ? "" : "; ", name,
        value.is_string() ? value.get<std::string>() : value.dump());
  }
  Say(options, *answer,
      words + (runs ? ", from now on" : ", from the next start on"), out);
  return {};
}

Status RunRetry(FileSystem& fs, const SteerOptions& options,
                std::ostream& out) {
  // Said here too: a stopped job is not asked.
  NEPHILA_TRY(const std::string command, crawl::RetryText(options.outcomes));
  NEPHILA_TRY(auto answer,
              AskRunning(fs, options.job,
                         {{"verb", "retry"}, {"outcomes", options.outcomes}}));
  if (answer) {
    Say(options, *answer,
        fmt::format("of {} URLs that failed, those that were meant are tried "
                    "again",
                    answer->value("failed", uint64_t{0})),
        out);
    return {};
  }
  NEPHILA_TRY(const auto folder, OpenStopped(fs, options.job));
  NEPHILA_RETURN_IF_ERROR(job::AppendCommand(fs, options.job, command));
  Say(options, {{"ok", true}},
      "URLs that failed are tried again by the next run: nephila crawl --job " +
          options.job,
      out);
  return {};
}

Status RunBlock(FileSystem& fs, const SteerOptions& options,
                std::ostream& out) {
  if (options.words.empty()) {
    return Wrong("block what? give a host, or 'domain NAME', 'url URL', ...");
  }
  NEPHILA_TRY(auto answer,
              AskRunning(fs, options.job,
                         {{"verb", "block"}, {"entries", options.words}}));
  const bool runs = answer.has_value();
  if (!runs) {
    NEPHILA_TRY(answer, BlockStopped(fs, options));
  }
  std::string words;
  for (const Json& line : (*answer)["blocked"]) {
    words += (words.empty() ? "" : "; ") +
             (line.is_string() ? line.get<std::string>() : line.dump());
  }
  Say(options, *answer,
      "blocked: " + words +
          (runs ? ", from now on" : ", from the next start on"),
      out);
  return {};
}

}  // namespace nephila::cli
