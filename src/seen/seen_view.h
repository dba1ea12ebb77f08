// SeenView: the stage `seen` as a commit has it, read and not changed: for
// looking at a job that another process may work on.
//   In: the stage's folder, the bytes of its commit
//   Out: whether a URL is known, the links that wait
//   Threads: one   Memory: a commit, and a block
//   Cost: a URL is one lookup; ForEach reads the batches once
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "url/keys.h"

namespace nephila::seen {

class SeenView {
 public:
  struct HeldUrl {
    std::string_view record;
    // A pass has found it new, and it is about to leave. Else it is a link
    // that waits for a pass, and may turn out to be known.
    bool is_new = false;
  };
  // False ends it.
  using Sink = std::function<Result<bool>(const HeldUrl& url)>;

  // `fs` outlives this. kCorruption if these bytes are no commit.
  static Result<SeenView> Open(FileSystem& fs, std::string dir,
                               std::string_view commit);

  // By the passes that were delivered as a whole.
  Result<bool> IsKnown(url::UrlKey key) const;
  // Links to it that wait for a pass, or that one decides on now.
  Result<uint64_t> LinksInPass(url::UrlKey key) const;
  // Different URLs that were let through.
  uint64_t let_through() const { return let_through_; }

  // What ForEach reads from disk.
  Result<uint64_t> Bytes() const;
  // Those that are new, then those that wait.
  Status ForEach(const Sink& sink) const;
  // Only those that are new, which are in memory.
  Status ForEachNew(const Sink& sink) const;

 private:
  SeenView() = default;

  FileSystem* fs_ = nullptr;
  std::string dir_;
  uint64_t generation_ = 0;
  uint64_t let_through_ = 0;
  std::vector<std::string> new_;
};

}  // namespace nephila::seen
