// How a WarcWriter goes on after a stop of any kind.
#include <fmt/core.h>

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

struct Found {
  std::vector<ArchiveName> files;      // by serial
  std::vector<std::string> leftovers;  // of an index that was being written
};

Result<Found> ListFiles(FileSystem& fs, const WarcWriterOptions& options) {
  NEPHILA_TRY(auto entries, fs.List(options.folder));
  for (DirEntry& entry : entries) {
    if (!entry.name.starts_with(options.prefix + "-")) continue;
    if (!entry.name.ends_with(kAgainSuffix)) continue;
    const std::string path = options.folder + "/" + entry.name;
    entry.name.resize(entry.name.size() - kAgainSuffix.size());
    NEPHILA_RETURN_IF_ERROR(fs.Rename(path, options.folder + "/" + entry.name));
  }
  const std::string aside = std::string(kIndexSuffix) + ".tmp";
  Found found;
  for (const DirEntry& entry : entries) {
    if (entry.is_directory) continue;
    if (auto name = ParseArchiveName(options.prefix, entry.name)) {
      found.files.push_back(*std::move(name));
    } else if (entry.name.starts_with(options.prefix + "-") &&
               entry.name.ends_with(aside)) {
      found.leftovers.push_back(entry.name);
    }
  }
  std::ranges::sort(found.files, {}, &ArchiveName::serial);
  for (size_t i = 1; i < found.files.size(); ++i) {
    if (found.files[i - 1].serial != found.files[i].serial) continue;
    return Lost(fmt::format("{}: two archives have serial {}: {} and {}",
                            options.folder, found.files[i].serial,
                            found.files[i - 1].Text(), found.files[i].Text()));
  }
  return found;
}

}  // namespace

Result<std::unique_ptr<WarcWriter>> WarcWriter::OpenAt(
    FileSystem& fs, const Clock& clock, WarcWriterOptions options,
    std::optional<Position> checkpoint, std::optional<Position> keep) {
  NEPHILA_RETURN_IF_ERROR(EnsureDir(fs, options.folder));
  std::unique_ptr<WarcWriter> writer(
      new WarcWriter(fs, clock, std::move(options)));
  NEPHILA_RETURN_IF_ERROR(writer->Recover(checkpoint, keep));
  return writer;
}

Status WarcWriter::Recover(std::optional<Position> checkpoint,
                           std::optional<Position> keep) {
  const Position mark = checkpoint.value_or(Position{});
  NEPHILA_TRY(const Found found, ListFiles(fs_, options_));
  for (const std::string& name : found.leftovers) {
    NEPHILA_RETURN_IF_ERROR(fs_.Remove(PathOf(name)));
  }
  bool has_marked = mark == Position{};
  for (const ArchiveName& name : found.files) {
    has_marked = has_marked || name.serial == mark.serial;
    if (name.serial >= mark.serial) {
      NEPHILA_RETURN_IF_ERROR(NameAgain(name.Text()));
    }
    if (name.open) {
      // Before the next file is begun this one is finished, so that the open
      // one is the last.
      if (&name != &found.files.back()) {
        return Lost(PathOf(name.Text()) +
                    ": still open, though a later archive is there");
      }
      NEPHILA_RETURN_IF_ERROR(Resume(name, checkpoint, keep));
      continue;
    }
    NEPHILA_RETURN_IF_ERROR(CheckFinished(name, mark));
  }
  if (!has_marked || position_ < mark) {
    return Lost(fmt::format(
        "{}: archive {} with {} bytes is missing, which a checkpoint names",
        options_.folder, mark.serial, mark.offset));
  }
  // A name that the last process gave may not be durable.
  return fs_.SyncDir(options_.folder);
}

Status WarcWriter::CheckFinished(const ArchiveName& name, Position mark) {
  const std::string path = PathOf(name.FinalText());
  NEPHILA_TRY(const auto file, fs_.Open(path, OpenMode::kRead));
  NEPHILA_TRY(const uint64_t size, file->Size());
  position_ = {name.serial, size};
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
  if (keep) limit = keep->serial == name.serial ? keep->offset : 0;
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
  // What was kept is durable before anyone builds on it.
  NEPHILA_RETURN_IF_ERROR(Sync());
  if (name.suffix == SuffixOf(options_.compressor)) return {};
  return Finish();  // the format has changed since
}

}  // namespace nephila::store
