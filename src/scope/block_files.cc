#include "scope/block_files.h"

#include <utility>

#include "base/hash.h"
#include "base/text.h"

namespace nephila::scope {
namespace {

// Lines of one file that are said one by one; of a file that is something else
// all would be wrong.
constexpr size_t kMostSaid = 20;
// So many are remembered.
constexpr size_t kMostRemembered = 10'000;

}  // namespace

Result<std::shared_ptr<const BlockList>> ReadBlockSetting(
    const config::ScopeSettings& settings, url::Canonicalizer& canonicalizer,
    const url::PublicSuffixList& suffixes) {
  std::string text;
  for (const std::string& line : settings.block) {
    if (line.find('\n') != std::string::npos) {
      return Unexpected(
          Error{ErrorCode::kInvalidArgument,
                "scope.block: '" + EscapeForTerminal(line) + "' is no line"});
    }
    text.append(line).append("\n");
  }
  Status status;
  auto list = BlockList::Read("scope.block", text, canonicalizer, suffixes,
                              [&status](uint32_t /*line*/, const Error& why) {
                                if (status.has_value()) {
                                  status = Unexpected(why);
                                }
                              });
  if (!status.has_value()) {
    return Unexpected(std::move(status).error().WithContext("scope.block"));
  }
  return list;
}

BlockFiles::BlockFiles(const Parts& parts)
    : parts_(parts),
      canonicalizer_(parts.settings.url, parts.suffixes, /*seed=*/0) {}

Result<std::unique_ptr<BlockFiles>> BlockFiles::Open(const Parts& parts) {
  std::unique_ptr<BlockFiles> files(new BlockFiles(parts));
  NEPHILA_TRY(files->of_settings_,
              ReadBlockSetting(parts.settings.scope, files->canonicalizer_,
                               parts.suffixes));
  for (const std::string& path : parts.settings.scope.block_files) {
    files->files_.push_back({path, /*is_own=*/false, {}, nullptr, false});
  }
  if (!parts.own_file.empty()) {
    files->files_.push_back(
        {parts.own_file, /*is_own=*/true, {}, nullptr, false});
  }
  for (Watched& file : files->files_) {
    Status read = files->Read(&file);
    const bool may_miss = file.is_own && !read.has_value() &&
                          read.error().code == ErrorCode::kNotFound;
    if (!read.has_value() && !may_miss) {
      return Unexpected(std::move(read).error().WithContext(
          file.is_own ? "the job's black list" : "scope.block_files"));
    }
  }
  files->Publish();
  return files;
}

Status BlockFiles::Read(Watched* file) {
  // Before it is read: what is written meanwhile has another one.
  NEPHILA_TRY(const FileStamp stamp, parts_.fs.Stamp(file->path));
  NEPHILA_TRY(const std::string text,
              ReadWholeFile(parts_.fs, file->path, kMostListBytes));
  size_t wrong = 0;
  const auto say = [&](uint32_t line, const Error& why) {
    const std::string place =
        EscapeForTerminal(file->path) + ":" + std::to_string(line) + ": ";
    // Again, if it is written anew; not because another line is.
    const uint64_t hash = KeyedHash(place + why.message, 0);
    if (said_.contains(hash)) return;
    if (said_.size() < kMostRemembered) said_.insert(hash);
    if (++wrong <= kMostSaid) Warn(place + why.message + "; left out");
  };
  file->list =
      BlockList::Read(file->path, text, canonicalizer_, parts_.suffixes, say);
  if (wrong > kMostSaid) {
    Warn(EscapeForTerminal(file->path) + ": " +
         std::to_string(wrong - kMostSaid) + " lines more are left out");
  }
  file->stamp = stamp;
  file->failed = false;
  return {};
}

bool BlockFiles::Look() {
  bool changed = false;
  for (Watched& file : files_) {
    const auto stamp = parts_.fs.Stamp(file.path);
    if (stamp.has_value() && file.stamp == *stamp && !file.failed) continue;
    // One that never was there may come.
    if (!stamp.has_value() && stamp.error().code == ErrorCode::kNotFound &&
        !file.stamp) {
      continue;
    }
    Status read = stamp.has_value() ? Read(&file) : Unexpected(stamp.error());
    if (read.has_value()) {
      changed = true;
    } else if (!std::exchange(file.failed, true)) {
      Warn(read.error().message + "; the black list stays as it was");
    }
  }
  if (changed) Publish();
  return changed;
}

void BlockFiles::Publish() {
  std::vector<std::shared_ptr<const BlockList>> lists = {of_settings_};
  for (const Watched& file : files_) lists.push_back(file.list);
  lists_ = std::make_shared<const BlockSet>(std::move(lists));
}

void BlockFiles::Warn(std::string_view line) const {
  if (parts_.warn) parts_.warn(line);
}

}  // namespace nephila::scope
