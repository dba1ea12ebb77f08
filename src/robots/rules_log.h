// RulesLog: compiled rules that are too long for a record, in files that are
// only appended to.
//
// The files hold a fixed number of bytes together: where a new one is begun and
// there are too many, the oldest is forgotten. Its rules are then not found,
// and the site is asked again, as it is where bytes were damaged; so the log
// needs no sweep that looks for what is still in use.
//   In: rules and the key of their origin   Out: the same, by place and key
//   Disk: rules-NNNNNNNN, frames of base/bytes.h salted with file, offset and
//       key: rules of another origin never pass for these
//   Threads: one; FinishCommit may run on another, beside all calls but
//       BeginCommit
//   Cost: a write for each rules, a read for each that is not in memory
//
// A commit says which files there are and where they end; Open cuts them
// there. A file that was forgotten is removed two commits later. kNoSpace from
// Append: nothing was appended. A failed sync is final.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/file.h"
#include "base/result.h"
#include "robots/robots_record.h"

namespace nephila::robots {

class RulesLog {
 public:
  // Fewer bytes than this make files too small for long rules.
  static constexpr uint64_t kLeastBytes = uint64_t{1} << 20;

  // `dir` is a directory without a log; `fs` outlives this.
  static std::unique_ptr<RulesLog> Create(FileSystem& fs,
                                          const std::string& dir,
                                          uint64_t max_bytes);
  // The log as of a commit, which is read from `state`.
  static Result<std::unique_ptr<RulesLog>> Open(FileSystem& fs,
                                                const std::string& dir,
                                                uint64_t max_bytes,
                                                ByteReader& state);
  RulesLog(const RulesLog&) = delete;
  RulesLog& operator=(const RulesLog&) = delete;

  Result<RulesPlace> Append(uint64_t key, std::string_view rules);
  // kNotFound if its file is forgotten, kCorruption if the bytes are damaged.
  Result<std::string> Read(uint64_t key, const RulesPlace& place);

  // Appends the state to a manifest's bytes; it is durable after Finish.
  Status BeginCommit(ByteWriter& writer);
  Status FinishCommit();

  uint64_t bytes() const;

  struct NamedFile {
    std::string path;
    uint64_t end = 0;  // 0: forgotten, and kept for an earlier commit
  };
  // All files that the state names.
  std::vector<NamedFile> files() const;

 private:
  struct LogFile {
    std::shared_ptr<File> file;  // null: could not be opened
    uint64_t end = 0;
    bool dirty = false;  // since the last commit began
  };
  struct Forgotten {
    uint64_t number = 0;
    uint64_t generation = 0;  // the last commit that names it
  };

  RulesLog(FileSystem& fs, std::string dir, uint64_t max_bytes);

  std::string PathOf(uint64_t number) const;
  bool ReadState(ByteReader& state);
  Status RemoveOthers();
  Status CutFiles();
  Status BeginFile();

  FileSystem& fs_;
  const std::string dir_;
  const uint64_t max_bytes_;
  uint64_t generation_ = 0;
  uint64_t next_file_ = 1;
  std::map<uint64_t, LogFile> files_;
  std::vector<Forgotten> forgotten_;

  // Of the commit that was begun: what Finish does.
  std::vector<std::shared_ptr<File>> to_sync_;
  bool names_changed_ = false;
  bool sync_dir_ = false;
};

}  // namespace nephila::robots
