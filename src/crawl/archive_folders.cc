#include "crawl/archive_folders.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/text.h"

namespace nephila::crawl {
namespace {

constexpr size_t kMostOwnerBytes = 4096;

Unexpected<Error> Damaged() {
  return Unexpected(
      Error{ErrorCode::kCorruption, "the manifest's part archive is damaged"});
}

Unexpected<Error> Wrong(ErrorCode code, const std::string& path,
                        std::string_view why) {
  return Unexpected(Error{code, "archive folder " + EscapeForTerminal(path) +
                                    ": " + std::string(why)});
}

std::string PathOf(const std::string& dir, const std::string& name) {
  return name.starts_with('/') ? name : dir + "/" + name;
}

std::string PathOf(const job::JobFolder& folder, const std::string& name) {
  return PathOf(folder.dir(), name);
}

// Says whose it is and gives nothing away: keys must not be guessed.
std::string OwnerText(const job::JobFolder& folder) {
  return fmt::format("The archive of a nephila job: {:016x}\n",
                     KeyedHash("archive folder", folder.key_seed()));
}

Status CheckOwner(FileSystem& fs, const job::JobFolder& folder,
                  const std::string& path, bool was_named) {
  const std::string owner_path = path + "/" + std::string(kOwnerName);
  NEPHILA_TRY(const bool has_owner, fs.Exists(owner_path));
  const std::string own = OwnerText(folder);
  if (!has_owner) {
    if (was_named) {
      return Wrong(ErrorCode::kNotFound, path,
                   "there is no nephila-archive in it, though the job has "
                   "used it; is its disk mounted?");
    }
    return PublishFile(fs, owner_path, own);
  }
  NEPHILA_TRY(const std::string owner,
              ReadWholeFile(fs, owner_path, kMostOwnerBytes));
  if (owner == own) return {};
  return Wrong(ErrorCode::kInvalidArgument, path,
               "it belongs to another job; give each its own (store.folders)");
}

Status Prepare(FileSystem& fs, const job::JobFolder& folder,
               const std::string& name, bool was_named) {
  // The job's own has been made with it.
  if (name == job::kArchiveDir) return {};
  const std::string path = PathOf(folder, name);
  if (was_named) {
    NEPHILA_TRY(const bool is_there, fs.Exists(path));
    if (!is_there) {
      return Wrong(ErrorCode::kNotFound, path,
                   "it is missing, though the job has used it; is its disk "
                   "mounted?");
    }
  } else {
    NEPHILA_RETURN_IF_ERROR(EnsureDir(fs, path));
  }
  return CheckOwner(fs, folder, path, was_named);
}

bool Contains(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

std::vector<std::string> ArchivePaths(const std::string& dir,
                                      const std::vector<std::string>& wanted,
                                      const std::vector<std::string>& named) {
  std::vector<std::string> paths;
  for (const auto* names : {&wanted, &named}) {
    for (const std::string& name : *names) {
      const std::string path = PathOf(dir, name);
      if (!Contains(paths, path)) paths.push_back(path);
    }
  }
  return paths;
}

std::string WriteArchivePart(const ArchivePart& part) {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.Varint(part.folders.size());
  for (const std::string& name : part.folders) writer.Sized(name);
  writer.Varint(part.streams.size());
  for (const store::StorePosition& stream : part.streams) {
    writer.Varint(stream.archive.serial);
    writer.Varint(stream.archive.offset);
    writer.Varint(stream.log_bytes);
    const auto folder =
        std::find(part.folders.begin(), part.folders.end(), stream.folder);
    writer.Varint(static_cast<uint64_t>(folder - part.folders.begin()));
  }
  return bytes;
}

Result<ArchivePart> ReadArchivePart(std::string_view bytes) {
  ArchivePart part;
  ByteReader reader(bytes);
  const auto folders = reader.Varint();
  if (!folders.has_value() || *folders > 2 * ArchiveFolders::kMost) {
    return Damaged();
  }
  for (uint64_t i = 0; i < *folders; ++i) {
    const auto name = reader.Sized();
    if (!name.has_value()) return Damaged();
    part.folders.emplace_back(*name);
  }
  const auto streams = reader.Varint();
  if (!streams.has_value() || *streams > kMostStreams) return Damaged();
  for (uint64_t i = 0; i < *streams; ++i) {
    const auto serial = reader.Varint();
    const auto offset = reader.Varint();
    const auto log = reader.Varint();
    const auto folder = reader.Varint();
    if (!serial.has_value() || !offset.has_value() || !log.has_value() ||
        !folder.has_value() || *folder >= part.folders.size()) {
      return Damaged();
    }
    part.streams.push_back({{*serial, *offset}, *log, part.folders[*folder]});
  }
  if (!reader.AtEnd()) return Damaged();
  return part;
}

Result<ArchiveFolders> ArchiveFolders::Open(
    FileSystem& fs, const job::JobFolder& folder,
    const std::vector<std::string>& wanted,
    const std::vector<std::string>& named) {
  ArchiveFolders folders;
  if (wanted.empty() || wanted.size() > kMost) {
    return Unexpected(Error{
        ErrorCode::kInvalidArgument,
        "store.folders: between 1 and " + std::to_string(kMost) + " folders"});
  }
  for (const std::string& name : wanted) {
    if (name.empty() || Contains(folders.names_, name)) {
      return Unexpected(Error{ErrorCode::kInvalidArgument,
                              "store.folders: '" + EscapeForTerminal(name) +
                                  "' is named twice, or is no folder"});
    }
    folders.names_.push_back(name);
    folders.paths_.push_back(PathOf(folder, name));
    NEPHILA_RETURN_IF_ERROR(Prepare(fs, folder, name, Contains(named, name)));
  }
  for (const std::string& name : named) {
    if (Contains(wanted, name)) continue;
    folders.names_.push_back(name);
    folders.old_paths_.push_back(PathOf(folder, name));
    NEPHILA_RETURN_IF_ERROR(Prepare(fs, folder, name, /*was_named=*/true));
  }
  if (folders.names_.size() <= 2 * kMost) return folders;
  return Unexpected(Error{ErrorCode::kInvalidArgument,
                          "store.folders: the job has files in " +
                              std::to_string(folders.names_.size()) +
                              " folders, which are too many"});
}

std::vector<std::string> ArchiveFolders::AllPaths() const {
  std::vector<std::string> all = paths_;
  all.insert(all.end(), old_paths_.begin(), old_paths_.end());
  return all;
}

std::string ArchiveFolders::NameOf(std::string_view path) const {
  const std::vector<std::string> all = AllPaths();
  const auto found = std::find(all.begin(), all.end(), path);
  return found == all.end() ? std::string()
                            : names_[static_cast<size_t>(found - all.begin())];
}

}  // namespace nephila::crawl
