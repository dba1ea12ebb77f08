// How a WarcWriter goes on after a stop of any kind.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "store/archive_scan.h"
#include "store/warc_writer.h"
#include "store/write_again.h"

namespace nephila::store {
namespace {

Unexpected<Error> Lost(const std::string& what) {
  return Unexpected(Error{ErrorCode::kCorruption, what});
}

// Of a file that is being given its name again.
constexpr std::string_view kAgainSuffix = ".again";

// The archives of a folder; leftovers of an index that was being written go.
Result<std::vector<ArchiveName>> ListFiles(FileSystem& fs,
                                           const std::string& folder,
                                           const std::string& prefix) {
  NEPHILA_TRY(auto entries, fs.List(folder));
  for (DirEntry& entry : entries) {
    if (!entry.name.starts_with(prefix + "-")) continue;
    if (!entry.name.ends_with(kAgainSuffix)) continue;
    const std::string path = folder + "/" + entry.name;
    entry.name.resize(entry.name.size() - kAgainSuffix.size());
    NEPHILA_RETURN_IF_ERROR(fs.Rename(path, folder + "/" + entry.name));
  }
  const std::string aside = std::string(kIndexSuffix) + ".tmp";
  std::vector<ArchiveName> files;
  for (const DirEntry& entry : entries) {
    if (entry.is_directory) continue;
    if (auto name = ParseArchiveName(prefix, entry.name)) {
      files.push_back(*std::move(name));
    } else if (entry.name.starts_with(prefix + "-") &&
               entry.name.ends_with(aside)) {
      NEPHILA_RETURN_IF_ERROR(fs.Remove(folder + "/" + entry.name));
    }
  }
  return files;
}

}  // namespace

// By serial.
Result<std::vector<WarcWriter::Place>> WarcWriter::FindFiles() {
  std::vector<Place> found;
  for (const std::string& folder : Folders(/*old_too=*/true)) {
    NEPHILA_TRY(auto names, ListFiles(fs_, folder, options_.prefix));
    for (ArchiveName& name : names) {
      found.push_back({folder, std::move(name)});
    }
  }
  std::ranges::sort(found, {}, [](const Place& p) { return p.name.serial; });
  for (size_t i = 1; i < found.size(); ++i) {
    const Place& one = found[i - 1];
    const Place& other = found[i];
    if (one.name.serial != other.name.serial) continue;
    return Lost(fmt::format("{}: two archives have serial {}: {} and {}",
                            other.folder, other.name.serial, one.name.Text(),
                            other.name.Text()));
  }
  return found;
}

Result<std::vector<std::pair<uint64_t, std::string>>> WarcWriter::FilesFrom(
    uint64_t serial) {
  NEPHILA_TRY(const std::vector<Place> found, FindFiles());
  std::vector<std::pair<uint64_t, std::string>> files;
  for (const auto& [folder, name] : found) {
    if (name.serial >= serial) {
      files.emplace_back(name.serial, folder + "/" + name.Text());
    }
  }
  return files;
}

Result<std::unique_ptr<WarcWriter>> WarcWriter::OpenAt(
    FileSystem& fs, const Clock& clock, WarcWriterOptions options,
    std::optional<Position> checkpoint, std::optional<Position> keep) {
  std::unique_ptr<WarcWriter> writer(
      new WarcWriter(fs, clock, std::move(options)));
  for (const std::string& folder : writer->Folders(/*old_too=*/false)) {
    NEPHILA_RETURN_IF_ERROR(EnsureDir(fs, folder));
  }
  NEPHILA_RETURN_IF_ERROR(writer->Recover(checkpoint, keep));
  return writer;
}

Status WarcWriter::Recover(std::optional<Position> checkpoint,
                           std::optional<Position> keep) {
  const Position mark = checkpoint.value_or(Position{});
  NEPHILA_TRY(const std::vector<Place> found, FindFiles());
  bool has_marked = mark == Position{};
  for (size_t i = 0; i < found.size(); ++i) {
    has_marked = has_marked || found[i].name.serial == mark.serial;
    const auto next = found.begin() + static_cast<ptrdiff_t>(i) + 1;
    // It was left for want of room: then those after it are elsewhere.
    const bool is_last = std::none_of(
        next, found.end(),
        [&](const Place& later) { return later.folder == found[i].folder; });
    NEPHILA_RETURN_IF_ERROR(RecoverFile(found[i], is_last, checkpoint, keep));
  }
  const std::vector<std::string> folders = Folders(/*old_too=*/true);
  if (!has_marked || position_ < mark) {
    return Lost(fmt::format(
        "{}: archive {} with {} bytes is missing, which a checkpoint names",
        fmt::join(folders, ", "), mark.serial, mark.offset));
  }
  // A name that the last process gave may not be durable.
  for (const std::string& folder : folders) {
    NEPHILA_RETURN_IF_ERROR(fs_.SyncDir(folder));
  }
  return {};
}

// In the order of serials: what was open before this one is finished first.
Status WarcWriter::RecoverFile(const Place& place, bool is_last,
                               std::optional<Position> checkpoint,
                               std::optional<Position> keep) {
  const Position mark = checkpoint.value_or(Position{});
  NEPHILA_RETURN_IF_ERROR(Leave());
  folder_ = place.folder;
  const ArchiveName& name = place.name;
  if (name.serial >= mark.serial) {
    NEPHILA_RETURN_IF_ERROR(NameAgain(name.Text()));
  }
  if (!name.open) return CheckFinished(name, mark);
  // Before the next file is begun in its folder this one is finished, so that
  // the open one is the last there.
  if (!is_last) {
    return Lost(PathOf(name.Text()) +
                ": still open, though a later archive is there");
  }
  return Resume(name, checkpoint, keep);
}

Status WarcWriter::CheckFinished(const ArchiveName& name, Position mark) {
  const std::string path = PathOf(name.FinalText());
  NEPHILA_TRY(const auto file, fs_.Open(path, OpenMode::kRead));
  NEPHILA_TRY(const uint64_t size, file->Size());
  position_ = {name.serial, size};
  position_folder_ = folder_;
  if (name.serial < mark.serial) return {};
  if (name.serial == mark.serial && size < mark.offset) {
    return Lost(fmt::format("{}: {} bytes, but a checkpoint has seen {}", path,
                            size, mark.offset));
  }
  // No checkpoint vouches for all of it. It is whole and has its index unless
  // someone or the disk has changed it since; then this is the time to know.
  const std::string index = PathOf(name.IndexText());
  NEPHILA_TRY(const bool made, EnsureIndex(fs_, path, index));
  return made ? Status() : NameAgain(name.IndexText());
}

// If a sync of the folder failed in the last process, a name is seen that no
// later sync makes durable, just as with the contents of a file
// (write_again.h). A name that is given anew is a new one.
Status WarcWriter::NameAgain(const std::string& name) {
  const std::string path = PathOf(name);
  const std::string aside = path + std::string(kAgainSuffix);
  NEPHILA_RETURN_IF_ERROR(fs_.Rename(path, aside));
  return fs_.Rename(aside, path);
}

Status WarcWriter::Resume(const ArchiveName& name,
                          std::optional<Position> checkpoint,
                          std::optional<Position> keep) {
  const std::string path = PathOf(name.Text());
  // An index from a try to finish the file; it will be made again.
  NEPHILA_RETURN_IF_ERROR(RemoveAll(fs_, PathOf(name.IndexText())));
  const bool marked = checkpoint && checkpoint->serial == name.serial;
  const uint64_t durable = marked ? checkpoint->offset : 0;
  uint64_t limit = UINT64_MAX;
  // A file before that one is known as a whole.
  if (keep && keep->serial <= name.serial) {
    limit = keep->serial == name.serial ? keep->offset : 0;
  }
  NEPHILA_TRY(ArchiveScan scan, ScanArchive(fs_, path, name.FinalText(),
                                            std::max(limit, durable)));
  if (scan.end < durable) {
    return Lost(fmt::format("{} (before byte {}, which a checkpoint has seen)",
                            scan.damage, durable));
  }
  if (scan.end == 0) {
    // Not even a warcinfo: as if it had never been begun.
    return fs_.Remove(path);
  }
  NEPHILA_TRY(auto file, fs_.Open(path, OpenMode::kReadWrite));
  NEPHILA_TRY(const uint64_t size, file->Size());
  if (scan.end < size) NEPHILA_RETURN_IF_ERROR(file->Truncate(scan.end));
  NEPHILA_RETURN_IF_ERROR(WriteAgain(*file, durable, scan.end));
  name_ = name;
  file_ = std::make_unique<ArchiveFile>(std::move(file), scan.end);
  warcinfo_id_ = std::move(scan.warcinfo_id);
  index_ = std::move(scan.index);
  file_begin_ = clock_.Now();
  sync_folder_ = true;
  position_ = {name.serial, scan.end};
  position_folder_ = folder_;
  // What was kept is durable before anyone builds on it.
  NEPHILA_RETURN_IF_ERROR(Sync());
  if (name.suffix == SuffixOf(options_.compressor)) return {};
  return Finish();  // the format has changed since
}

}  // namespace nephila::store
