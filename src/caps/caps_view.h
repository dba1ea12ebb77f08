// CapsView: the stage `caps` as a commit has it, read and not changed: for
// looking at a job that another process may work on.
//   In: the stage's folder, the bytes of its commit
//   Out: what a pass would say of a URL now, the URLs that wait
//   Threads: one   Memory: a commit of each store, and a block
//   Cost: a URL is two lookups; ForEach reads the batches once
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "caps/cap_rules.h"
#include "caps/caps.h"
#include "item/url_record.h"

namespace nephila::caps {

class CapsView {
 public:
  struct HeldUrl {
    std::string_view record;
    bool is_through = false;  // and about to leave; else it waits for a pass
  };
  // False ends it.
  using Sink = std::function<Result<bool>(const HeldUrl& url)>;

  // `fs` outlives this. kCorruption if these bytes are no commit.
  static Result<CapsView> Open(FileSystem& fs, const std::string& dir,
                               const config::ScopeSettings& settings,
                               uint64_t seed, std::string_view commit);

  // What a link to a URL of this host would meet, if it is no seed.
  Result<Verdict> VerdictOn(const item::UrlRecord& record) const;

  // What ForEach reads from disk.
  Result<uint64_t> Bytes() const;
  // Those that are through, then those that wait for a pass.
  Status ForEach(const Sink& sink) const;

 private:
  CapsView() = default;
  Result<Verdict> Meet(const std::string& dir, uint64_t generation,
                       uint64_t key, const std::string& value,
                       const drum::MergeRule& rule) const;

  FileSystem* fs_ = nullptr;
  config::ScopeSettings settings_;
  SiteCaps sites_;
  uint64_t seed_ = 0;
  std::string hosts_dir_;
  std::string domains_dir_;
  uint64_t hosts_generation_ = 0;
  uint64_t domains_generation_ = 0;
  std::vector<std::string> to_domains_;
  std::vector<std::string> through_;
};

}  // namespace nephila::caps
