#include "job/blocked.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/ascii.h"
#include "base/text.h"
#include "job/job_folder.h"

namespace nephila::job {
namespace {

constexpr size_t kMostEntryBytes = 4096;
constexpr std::array<std::string_view, 5> kKinds = {"host", "domain", "url",
                                                    "surt", "address"};

Unexpected<Error> Wrong(std::string_view entry) {
  return Unexpected(
      Error{ErrorCode::kInvalidArgument,
            fmt::format("'{}': block takes a host, or one of host, domain, "
                        "url, surt and address with one word",
                        EscapeForTerminal(entry.substr(0, 200)))});
}

}  // namespace

Result<std::string> BlockedLine(std::string_view entry) {
  entry = TrimSpaces(entry);
  const bool is_printable = std::all_of(entry.begin(), entry.end(), [](char c) {
    return c >= ' ' && c != '\x7f';
  });
  if (entry.empty() || entry.size() > kMostEntryBytes || !is_printable ||
      entry.starts_with('#')) {
    return Wrong(entry);
  }
  const auto is_kind = [](std::string_view text) {
    return std::find(kKinds.begin(), kKinds.end(), text) != kKinds.end();
  };
  if (is_kind(entry)) return Wrong(entry);  // and no word
  std::string_view kind = "host";
  std::string_view word = entry;
  if (const size_t space = entry.find(' '); space != std::string_view::npos) {
    kind = entry.substr(0, space);
    word = TrimSpaces(entry.substr(space));
  }
  if (!is_kind(kind) || word.find(' ') != std::string_view::npos) {
    return Wrong(entry);
  }
  return fmt::format("{} {}", kind, word);
}

Status AppendBlocked(FileSystem& fs, const std::string& dir,
                     const std::vector<std::string>& lines) {
  if (lines.empty()) return {};
  const std::string path = fmt::format("{}/{}", dir, kBlockedFile);
  NEPHILA_TRY(const auto file, fs.Open(path, OpenMode::kCreate));
  NEPHILA_TRY(const uint64_t size, file->Size());
  std::string text;
  for (const std::string& line : lines) text.append(line).append("\n");
  if (size > 0) {
    // A line that somebody wrote by hand, or half of one.
    std::array<std::byte, 1> last{};
    NEPHILA_RETURN_IF_ERROR(file->ReadExact(size - 1, last));
    if (last[0] != std::byte{'\n'}) text.insert(0, "\n");
  }
  if (Status written = file->Write(size, std::as_bytes(std::span(text)));
      !written) {
    IgnoreError(file->Truncate(size), "half a line harms nobody but itself");
    return written;
  }
  NEPHILA_RETURN_IF_ERROR(file->Sync());
  return fs.SyncDir(dir);
}

}  // namespace nephila::job
