#include "job/manifest.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "base/commit_file.h"
#include "base/hash.h"
#include "base/random.h"
#include "config/load.h"

namespace nephila::job {
namespace {

constexpr std::string_view kPrefix = "manifest-";
constexpr std::string_view kDamagedSuffix = ".damaged";
constexpr std::string_view kAsideSuffix = ".tmp";
constexpr std::string_view kReserveName = "reserve";
constexpr std::string_view kMagic = "nephila manifest";
constexpr uint64_t kVersion = 2;
constexpr uint32_t kMostHeadBytes = 4096;
constexpr size_t kMostPartNameBytes = 255;

uint64_t HeadSalt(uint64_t number) { return KeyedHash(kMagic, number); }

// Of a part: it is good in one place of one manifest of one job.
uint64_t PartSalt(uint64_t salt, uint64_t number, uint64_t index) {
  return KeyedHash("part", salt + number * kSplitMixStep + index);
}

Unexpected<Error> Damaged(const std::string& what) {
  return Unexpected(Error{ErrorCode::kCorruption, what});
}

// The number of parts.
Result<uint64_t> ReadHead(ByteReader& bytes, uint64_t number) {
  const auto head = ReadFrame(bytes, HeadSalt(number), kMostHeadBytes);
  if (!head) return Damaged("the head of the manifest is damaged");
  ByteReader reader(*head);
  const auto magic = reader.Sized();
  if (!magic || *magic != kMagic) return Damaged("this is no manifest");
  const auto version = reader.Varint();
  if (version && *version > kVersion) {
    return Unexpected(Error{ErrorCode::kUnsupported,
                            "version " + std::to_string(*version) +
                                " of the manifest is that of a later nephila"});
  }
  if (version && *version < kVersion) {
    return Unexpected(Error{ErrorCode::kUnsupported,
                            "version " + std::to_string(*version) +
                                " of the manifest is that of an earlier "
                                "nephila, which has to end this job"});
  }
  const auto said = reader.Varint();
  const auto parts = reader.Varint();
  if (!version || *version != kVersion || !said || *said != number || !parts ||
      *parts > kMostManifestParts || !reader.AtEnd()) {
    return Damaged("the head of the manifest makes no sense");
  }
  return *parts;
}

// Whether the next older one is to be looked for.
bool IsDamage(const Error& error) {
  return error.code == ErrorCode::kCorruption || error.code == ErrorCode::kIo;
}

Result<Manifest> ReadFile(FileSystem& fs, const std::string& path,
                          uint64_t number, uint64_t salt) {
  NEPHILA_TRY(const std::string bytes,
              ReadWholeFile(fs, path, kMostManifestBytes));
  auto manifest = ReadManifest(bytes, number, salt);
  if (manifest) return manifest;
  return Unexpected(std::move(manifest).error().WithContext(path));
}

std::string PathOf(const std::string& dir, uint64_t number) {
  return dir + "/" + CommitFileName(kPrefix, number);
}

}  // namespace

void AppendManifest(const Manifest& manifest, uint64_t salt, std::string& out) {
  NEPHILA_CHECK(manifest.parts.size() <= kMostManifestParts);
  std::string head;
  ByteWriter writer(head);
  writer.Sized(kMagic);
  writer.Varint(kVersion);
  writer.Varint(manifest.number);
  writer.Varint(manifest.parts.size());
  AppendFrame(out, head, HeadSalt(manifest.number));
  uint64_t index = 0;
  for (const auto& [name, bytes] : manifest.parts) {
    NEPHILA_CHECK(name.size() <= kMostPartNameBytes);
    const size_t frame = out.size();
    out.append(kFrameHeaderBytes, '\0');
    ByteWriter part(out);
    part.Sized(name);
    part.Raw(bytes);
    const size_t payload = out.size() - frame - kFrameHeaderBytes;
    NEPHILA_CHECK(payload <= kMostPartBytes);
    SealFrame(out.data() + frame, payload,
              PartSalt(salt, manifest.number, index++));
  }
}

Result<Manifest> ReadManifest(std::string_view bytes, uint64_t number,
                              uint64_t salt) {
  ByteReader reader(bytes);
  NEPHILA_TRY(const uint64_t parts, ReadHead(reader, number));
  Manifest manifest;
  manifest.number = number;
  for (uint64_t i = 0; i < parts; ++i) {
    const auto frame =
        ReadFrame(reader, PartSalt(salt, number, i), kMostPartBytes);
    if (!frame) {
      return Damaged("part " + std::to_string(i + 1) + " of the manifest, at " +
                     std::to_string(reader.position()) + ", is damaged");
    }
    ByteReader part(*frame);
    const auto name = part.Sized();
    // In order, so a manifest has one spelling.
    if (!name || name->size() > kMostPartNameBytes ||
        (!manifest.parts.empty() &&
         *name <= std::string_view(manifest.parts.rbegin()->first))) {
      return Damaged("a part of the manifest has no good name");
    }
    manifest.parts.emplace_hint(manifest.parts.end(), *name,
                                frame->substr(part.position()));
  }
  if (!reader.AtEnd()) return Damaged("the manifest goes on behind its end");
  return manifest;
}

std::optional<config::Settings> SettingsOf(const Manifest& manifest) {
  const auto part = manifest.parts.find("settings");
  if (part == manifest.parts.end()) return std::nullopt;
  config::Settings settings;
  if (!config::ApplyToml(part->second, "settings", &settings)) {
    return std::nullopt;
  }
  return settings;
}

Result<StoredManifests> ReadManifests(FileSystem& fs, const std::string& dir,
                                      uint64_t salt) {
  NEPHILA_TRY(const std::vector<uint64_t> numbers,
              ListCommitFiles(fs, dir, kPrefix));
  StoredManifests stored;
  for (size_t i = numbers.size(); i-- > 0 && !stored.before;) {
    auto manifest = ReadFile(fs, PathOf(dir, numbers[i]), numbers[i], salt);
    if (!manifest) {
      if (!IsDamage(manifest.error())) {
        return Unexpected(std::move(manifest).error());
      }
      stored.damaged.push_back(std::move(manifest).error());
      continue;
    }
    (stored.newest ? stored.before : stored.newest) = *std::move(manifest);
  }
  if (!stored.newest && !stored.damaged.empty()) {
    return Damaged(stored.damaged.front().message +
                   ", and there is no other one");
  }
  return stored;
}

ManifestFolder::ManifestFolder(FileSystem& fs, std::string dir,
                               const ManifestOptions& options)
    : fs_(fs),
      dir_(std::move(dir)),
      options_(options),
      reserve_(fs, dir_ + "/" + std::string(kReserveName)) {}

Result<std::unique_ptr<ManifestFolder>> ManifestFolder::Open(
    FileSystem& fs, std::string dir, const ManifestOptions& options) {
  std::unique_ptr<ManifestFolder> folder(
      new ManifestFolder(fs, std::move(dir), options));
  NEPHILA_TRY(StoredManifests stored,
              ReadManifests(fs, folder->dir_, options.salt));
  folder->damaged_ = std::move(stored.damaged);
  if (!folder->damaged_.empty()) {
    NEPHILA_RETURN_IF_ERROR(
        folder->SetAside(stored.newest ? stored.newest->number : 0));
  }
  if (stored.newest) {
    folder->newest_ = stored.newest->number;
    // Who wrote it may have died before it was durable.
    NEPHILA_TRY(const auto file,
                fs.Open(folder->Path(folder->newest_), OpenMode::kReadWrite));
    NEPHILA_RETURN_IF_ERROR(file->Sync());
    NEPHILA_RETURN_IF_ERROR(fs.SyncDir(folder->dir_));
  }
  if (stored.before) folder->before_ = stored.before->number;
  NEPHILA_RETURN_IF_ERROR(folder->reserve_.Hold(options.reserve_bytes));
  return folder;
}

// Whoever opens the job by an older manifest frees what only a newer one
// names, so that one must not come back, as it might if a bad disk reads it
// well the next time.
Status ManifestFolder::SetAside(uint64_t newest) {
  NEPHILA_TRY(const std::vector<uint64_t> numbers,
              ListCommitFiles(fs_, dir_, kPrefix));
  for (const uint64_t number : numbers) {
    if (number <= newest) continue;
    NEPHILA_RETURN_IF_ERROR(
        fs_.Rename(Path(number), Path(number) + std::string(kDamagedSuffix)));
  }
  return fs_.SyncDir(dir_);
}

Status ManifestFolder::Write(const Manifest& manifest) {
  NEPHILA_CHECK(manifest.number > newest_);
  if (failure_) return Unexpected(*failure_);
  Status published = Publish(manifest);
  if (!published && published.error().code != ErrorCode::kNoSpace) {
    failure_ = published.error();
  }
  return published;
}

Result<std::unique_ptr<AsideFile>> ManifestFolder::WriteAside(
    const std::string& path, std::string_view bytes) {
  NEPHILA_TRY(auto aside, AsideFile::Create(fs_, path));
  NEPHILA_RETURN_IF_ERROR(aside->file().Write(
      0, std::as_bytes(std::span(bytes.data(), bytes.size()))));
  return aside;
}

Status ManifestFolder::Publish(const Manifest& manifest) {
  std::string bytes;
  AppendManifest(manifest, options_.salt, bytes);
  const std::string path = Path(manifest.number);
  auto aside = WriteAside(path, bytes);
  if (!aside && aside.error().code == ErrorCode::kNoSpace) {
    NEPHILA_TRY(const bool released, reserve_.Release());
    if (released) aside = WriteAside(path, bytes);
  }
  if (!aside) return Unexpected(std::move(aside).error());
  NEPHILA_RETURN_IF_ERROR(Finish(**aside, manifest.number));
  // Half as much again, as the next one may be larger.
  return reserve_.Hold(
      std::max<uint64_t>(options_.reserve_bytes, bytes.size() / 2 * 3));
}

Status ManifestFolder::Finish(AsideFile& aside, uint64_t number) {
  NEPHILA_RETURN_IF_ERROR(aside.Commit());
  before_ = std::exchange(newest_, number);
  return RemoveOthers();
}

Status ManifestFolder::RemoveOthers() {
  NEPHILA_TRY(const std::vector<DirEntry> entries, fs_.List(dir_));
  for (const DirEntry& entry : entries) {
    std::string_view name = entry.name;
    const bool aside = name.ends_with(kAsideSuffix);
    if (aside) name.remove_suffix(kAsideSuffix.size());
    const auto number = CommitFileGeneration(kPrefix, name);
    if (!number || (!aside && (*number == newest_ || *number == before_))) {
      continue;
    }
    NEPHILA_RETURN_IF_ERROR(fs_.Remove(dir_ + "/" + entry.name));
  }
  return {};
}

Result<Manifest> ManifestFolder::ReadNumber(uint64_t number) const {
  if (number == 0) {
    return Unexpected(
        Error{ErrorCode::kNotFound, dir_ + ": there is no such manifest"});
  }
  return ReadFile(fs_, Path(number), number, options_.salt);
}

Result<Manifest> ManifestFolder::Newest() const {
  auto newest = ReadNumber(newest_);
  if (newest || before_ == 0 || !IsDamage(newest.error())) return newest;
  return ReadNumber(before_);
}

Result<Manifest> ManifestFolder::Before() const { return ReadNumber(before_); }

std::string ManifestFolder::Path(uint64_t number) const {
  return PathOf(dir_, number);
}

}  // namespace nephila::job
