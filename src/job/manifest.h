// Manifest: everything that a checkpoint names, part by part. ManifestFolder:
// the last two of them on disk.
//
// In: parts as bytes, each its owner's. Out: the same parts, whole, or
// kCorruption. A manifest is written aside, synced, renamed, and the folder
// synced; only then older ones than the last two are removed. So whenever a
// machine stops, the newest one is there, and the one before it.
//
// What a manifest names must be durable before it is written. Space that runs
// out leaves all as it was: a reserve is given back, and if that is not enough
// the same call works when there is room. Any other failed write, and any
// failed sync, is final.
//   Disk: docs/formats/manifest.md.   Threads: one.
//   Cost: a file of the parts' size, two syncs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/result.h"
#include "config/settings.h"
#include "job/reserve.h"

namespace nephila::job {

struct Manifest {
  bool operator==(const Manifest&) const = default;

  uint64_t number = 0;  // rises from one to the next
  std::map<std::string, std::string, std::less<>> parts;
};

// More of these is refused.
inline constexpr size_t kMostManifestParts = 4096;
inline constexpr uint32_t kMostPartBytes = uint32_t{1} << 30;
inline constexpr size_t kMostManifestBytes = size_t{4} << 30;

// The bytes of a manifest's file, and the inverse, or the reason why they are
// none. `number` is that of the file's name, `salt` the job's.
void AppendManifest(const Manifest& manifest, uint64_t salt, std::string& out);
Result<Manifest> ReadManifest(std::string_view bytes, uint64_t number,
                              uint64_t salt);

// Those of the run that wrote it, if its part `settings` says them.
std::optional<config::Settings> SettingsOf(const Manifest& manifest);

struct ManifestOptions {
  uint64_t salt = 0;  // the job's key seed
  // At least so much is held in reserve, and more if the last manifest was
  // larger.
  uint64_t reserve_bytes = uint64_t{4} << 20;
};

// What a folder holds; nothing on disk changes.
struct StoredManifests {
  std::optional<Manifest> newest;  // that is whole
  std::optional<Manifest> before;  // the whole one before that
  // Those that are not: newer than `newest`, or where `before` should be.
  std::vector<Error> damaged;
};
// kUnsupported if one is of a later version; kCorruption if there are some and
// none is whole.
Result<StoredManifests> ReadManifests(FileSystem& fs, const std::string& dir,
                                      uint64_t salt);

class ManifestFolder {
 public:
  // Looks what is in `dir`, a folder that is there, and makes that durable; as
  // ReadManifests. Damaged ones that are newer than the newest whole one get
  // another name (`.damaged`), for good. `fs` outlives this.
  static Result<std::unique_ptr<ManifestFolder>> Open(
      FileSystem& fs, std::string dir, const ManifestOptions& options);

  // kNoSpace: nothing has changed, call again.
  // REQUIRES: a number above newest_number().
  Status Write(const Manifest& manifest);

  // Read back from disk. Newest is the newest that is whole: if the last one
  // is damaged, the one before it; its number says which. kNotFound if there
  // is none.
  Result<Manifest> Newest() const;
  // The one before newest_number(); kNotFound if there is none, kCorruption if
  // it is damaged.
  Result<Manifest> Before() const;
  // Their numbers, as of Open or the last Write; 0 for none.
  uint64_t newest_number() const { return newest_; }
  uint64_t before_number() const { return before_; }
  // What was found damaged by Open, for a line in the log.
  const std::vector<Error>& damaged() const { return damaged_; }
  // Whether the reserve was needed and is not held again yet.
  bool on_reserve() const { return reserve_.is_missing(); }

 private:
  ManifestFolder(FileSystem& fs, std::string dir,
                 const ManifestOptions& options);

  Result<Manifest> ReadNumber(uint64_t number) const;
  Result<std::unique_ptr<AsideFile>> WriteAside(const std::string& path,
                                                std::string_view bytes);
  Status Publish(const Manifest& manifest);
  Status Finish(AsideFile& aside, uint64_t number);
  Status RemoveOthers();
  Status SetAside(uint64_t newest);
  std::string Path(uint64_t number) const;

  FileSystem& fs_;
  const std::string dir_;
  const ManifestOptions options_;
  Reserve reserve_;
  uint64_t newest_ = 0;
  uint64_t before_ = 0;
  std::vector<Error> damaged_;
  std::optional<Error> failure_;
};

}  // namespace nephila::job
