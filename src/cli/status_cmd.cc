#include "cli/status_cmd.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "base/text.h"
#include "cli/status_text.h"
#include "control/control_client.h"
#include "job/job_folder.h"
#include "job/kept_settings.h"
#include "job/manifest.h"

namespace nephila::cli {
namespace {

using control::Json;

// By the last checkpoint.
Result<Json> StoppedStatus(FileSystem& fs, const std::string& dir) {
  NEPHILA_TRY(const job::JobFile file, job::JobFolder::Read(fs, dir));
  NEPHILA_TRY(
      const job::StoredManifests stored,
      job::ReadManifests(fs, dir + "/" + std::string(job::kManifestsDir),
                         file.key_seed));
  if (!stored.newest) {
    return Unexpected(Error{ErrorCode::kNotFound,
                            EscapeForTerminal(dir) + ": no checkpoint yet"});
  }
  const auto status = stored.newest->parts.find("status");
  Json json;
  if (status != stored.newest->parts.end()) {
    json = Json::parse(status->second, nullptr, /*allow_exceptions=*/false);
  }
  if (!json.is_object()) {
    return Unexpected(
        Error{ErrorCode::kCorruption,
              EscapeForTerminal(dir) + ": the checkpoint has no counters"});
  }
  json["state"] = "stopped";
  json["checkpoint"] = {{"number", stored.newest->number}, {"age", nullptr}};
  NEPHILA_TRY(const job::KeptSettings kept, job::KeptSettings::Read(fs, dir));
  json["settings"] = Json::object();
  for (const auto& [name, value] : kept.values()) {
    json["settings"][name] = value;
  }
  return json;
}

Result<Json> StatusOf(FileSystem& fs, const std::string& dir) {
  const auto client = control::ControlClient::Connect(dir);
  if (client.has_value()) return (*client)->Ask({{"verb", "status"}});
  if (client.error().code != ErrorCode::kNotFound) {
    return Unexpected(client.error());
  }
  return StoppedStatus(fs, dir);
}

}  // namespace

Status RunStatus(FileSystem& fs, const StatusCmdOptions& options,
                 std::ostream& out) {
  NEPHILA_RETURN_IF_ERROR(job::JobFolder::Read(fs, options.job));
  NEPHILA_TRY(const Json status, StatusOf(fs, options.job));
  if (options.json) {
    out << status.dump() << '\n';
  } else {
    PrintStatus(status, out);
  }
  return {};
}

}  // namespace nephila::cli
