#include "cli/crawl_sandbox.h"

#include <filesystem>
#include <utility>

#include "crawl/archive_folders.h"
#include "job/manifest.h"
#include "sandbox/sandbox.h"

namespace nephila::cli {
namespace {

// The folder that a file is in; of a file in the root the file itself.
std::string FolderOf(const std::string& file) {
  const std::filesystem::path parent =
      std::filesystem::path(file).parent_path();
  if (parent.empty()) return ".";
  return parent == parent.root_path() ? file : parent.string();
}

// Returns the folders of the job's archive, made if they are to be made. A
// damaged manifest is left for the crawl to report, and nothing is made then.
Result<std::vector<std::string>> ArchiveOf(FileSystem& fs,
                                           const job::JobFolder& folder,
                                           const config::Settings& settings) {
  const auto stored = job::ReadManifests(fs, folder.Path(job::kManifestsDir),
                                         folder.key_seed());
  if (!stored) return std::vector<std::string>();
  std::vector<std::string> named;
  if (stored->newest) {
    const auto found = stored->newest->parts.find("archive");
    if (found != stored->newest->parts.end()) {
      auto part = crawl::ReadArchivePart(found->second);
      if (!part) return std::vector<std::string>();
      named = std::move(part->folders);
    }
  }
  NEPHILA_TRY(
      const auto folders,
      crawl::ArchiveFolders::Open(fs, folder, settings.store.folders, named));
  return folders.AllPaths();
}

void Say(const sandbox::Part& part, const std::string& line, Logger* log) {
  if (part.state == sandbox::State::kUnsupported) {
    log->Warn("sandbox: {}", line);
  } else {
    log->Info("sandbox: {}", line);
  }
}

}  // namespace

Status EnterSandbox(FileSystem& fs, const job::JobFolder& folder,
                    const config::Settings& settings,
                    const std::vector<std::string>& seed_files, Logger* log) {
  NEPHILA_TRY(const std::vector<std::string> archive,
              ArchiveOf(fs, folder, settings));
  sandbox::Paths paths = sandbox::SystemPaths();
  paths.write.push_back(folder.dir());
  paths.write.insert(paths.write.end(), archive.begin(), archive.end());
  for (const std::string& file : settings.scope.block_files) {
    paths.read.push_back(FolderOf(file));
  }
  for (const std::string& file : seed_files) {
    if (file != "-") paths.read.push_back(file);
  }
  paths.read.push_back(settings.fetch.ca_file);
  if (!settings.url.public_suffix_list.empty()) {
    paths.read.push_back(settings.url.public_suffix_list);
  }
  NEPHILA_TRY(const sandbox::Entered entered,
              sandbox::Enter(settings.sandbox, paths));
  Say(entered.landlock, LandlockLine(entered), log);
  Say(entered.seccomp, SeccompLine(entered), log);
  return {};
}

}  // namespace nephila::cli
