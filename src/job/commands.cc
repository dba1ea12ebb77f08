#include "job/commands.h"

#include <fmt/core.h>

#include <algorithm>

#include "job/job_folder.h"

namespace nephila::job {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;

std::string PathIn(const std::string& dir) {
  return fmt::format("{}/{}", dir, kCommandsName);
}

Result<std::string> ReadText(FileSystem& fs, const std::string& dir) {
  auto text = ReadWholeFile(fs, PathIn(dir), kMostBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return std::string();
  return text;
}

}  // namespace

Status AppendCommand(FileSystem& fs, const std::string& dir,
                     const std::string& command) {
  NEPHILA_TRY(std::string text, ReadText(fs, dir));
  if (text.size() + command.size() + 1 > kMostBytes) {
    return Unexpected(
        Error{ErrorCode::kBusy, PathIn(dir) + ": too many commands wait"});
  }
  return PublishFile(fs, PathIn(dir), text + command + "\n");
}

Result<std::vector<std::string>> ReadCommands(FileSystem& fs,
                                              const std::string& dir) {
  NEPHILA_TRY(const std::string text, ReadText(fs, dir));
  std::vector<std::string> commands;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) commands.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return commands;
}

Status RemoveCommands(FileSystem& fs, const std::string& dir) {
  NEPHILA_RETURN_IF_ERROR(fs.Remove(PathIn(dir)));
  return fs.SyncDir(dir);
}

}  // namespace nephila::job
