// BlockFiles: the black lists of a crawl, read again when they have changed.
//
// They are the lines of `scope.block`, the files of `scope.block_files`, and
// the job's own, a file that need not be there and to which `nephila block`
// appends. What is wrong at the start with a file that a user names is an
// error; later, while a crawl runs, nothing ends it: a line that is none is
// left out and said once, a file that cannot be read keeps the list that it
// was, which is said once too.
//   In: files, by way of FileSystem   Out: BlockSets
//   Threads: one; what it gives out is any's.   Memory: 32 bytes a line, and
//   twice a file while it is read.   Cost of Look: a stat a file; a file that
//   changed is read whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "config/settings.h"
#include "scope/block_list.h"
#include "url/canonicalizer.h"
#include "url/public_suffix.h"

namespace nephila::scope {

// Longer files are refused: a list of a million hosts is half of it.
inline constexpr size_t kMostListBytes = size_t{32} << 20;

class BlockFiles {
 public:
  // All of it outlives this.
  struct Parts {
    FileSystem& fs;
    const config::Settings& settings;
    const url::PublicSuffixList& suffixes;
    std::string own_file;  // of the job; "": none
    // One line for people, without its end; may be null.
    std::function<void(std::string_view line)> warn = nullptr;
  };

  // Reads all of them.
  static Result<std::unique_ptr<BlockFiles>> Open(const Parts& parts);
  BlockFiles(const BlockFiles&) = delete;
  BlockFiles& operator=(const BlockFiles&) = delete;

  // Reads again what has changed; whether anything has.
  bool Look();
  const std::shared_ptr<const BlockSet>& lists() const { return lists_; }

 private:
  struct Watched {
    std::string path;
    bool is_own = false;
    std::optional<FileStamp> stamp;  // of what was read last
    std::shared_ptr<const BlockList> list;
    bool failed = false;  // and said
  };

  explicit BlockFiles(const Parts& parts);
  Status Read(Watched* file);
  void Warn(std::string_view line) const;
  void Publish();

  const Parts parts_;
  url::Canonicalizer canonicalizer_;
  std::shared_ptr<const BlockList> of_settings_;
  std::vector<Watched> files_;
  std::set<uint64_t> said_;  // lines that are wrong, by hash
  std::shared_ptr<const BlockSet> lists_;
};

// An error for a line of `scope.block` that is none.
Result<std::shared_ptr<const BlockList>> ReadBlockSetting(
    const config::ScopeSettings& settings, url::Canonicalizer& canonicalizer,
    const url::PublicSuffixList& suffixes);

}  // namespace nephila::scope
