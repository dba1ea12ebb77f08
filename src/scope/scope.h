// Scope: the stage `scope`, which says what URLs belong to a crawl, between
// `url` and `seen`, and again before each is asked for (docs/scope.md).
//
// The rules, in the order in which they are asked, the cheap ones first:
//   depth    how far from a seed (`scope.max_depth`)
//   bounds   the seeds' hosts, sites, domains or folders, and those that a seed
//            redirects to: who asks for example.com means www.example.net if
//            that is where it lives now; and `scope.surt_prefixes`
//   block    the black lists (block_list.h)
//   deny     patterns none of which is found in the URL
//   allow    patterns one of which is; seeds need none
// A seed that is blocked or denied is refused too, and widens nothing.
//
//   In: UrlRecords; seeds   Out: whether they belong, and if not why
//   Disk: what seeds have widened, in the job's manifest
//   Threads: one   Memory: a name for each host, site, domain or folder of the
//   seeds   Cost: where nothing is set nothing; a hash for bounds; no
//   allocation a URL
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/table_hash.h"
#include "config/settings.h"
#include "item/url_record.h"
#include "scope/block_list.h"
#include "scope/pattern_set.h"
#include "scope/prefix_set.h"
#include "url/public_suffix.h"

namespace nephila::scope {

enum class ScopeDrop : uint8_t {
  kOtherSite,
  kTooDeep,
  kNotAllowed,
  kDenied,
  kBlocked,
};
inline constexpr std::array<std::string_view, 5> kScopeDropNames = {
    "other-site", "too-deep", "not-allowed", "denied", "blocked"};
std::string_view ScopeDropName(ScopeDrop reason);

// What one rule says of a URL.
struct RuleVerdict {
  std::string_view rule;  // "bounds"
  bool passes = true;
  std::string why;  // for people; "" where there is nothing to say
};

class Scope {
 public:
  // `suffixes` outlives it. kInvalidArgument, in one line, for a pattern or a
  // prefix that is none.
  static Result<Scope> Make(const config::ScopeSettings& settings,
                            const url::PublicSuffixList& suffixes);

  // The black lists that hold from now on.
  void SetBlocks(std::shared_ptr<const BlockSet> blocks);
  const BlockSet& blocks() const { return *blocks_; }

  // What a seed asks for, or redirects to, belongs to the crawl with what lies
  // around it, unless it is refused.
  std::optional<ScopeDrop> TakeSeed(const item::UrlRecord& record);
  // Why it does not belong; nothing if it does.
  std::optional<ScopeDrop> Refuses(const item::UrlRecord& record) const;
  // The rules that hold for seeds too: block and deny.
  std::optional<ScopeDrop> RefusesAlways(const item::UrlRecord& record) const;
  // All rules, each by itself, in their order.
  std::vector<RuleVerdict> Explain(const item::UrlRecord& record) const;

  // Hosts, sites, domains or folders that seeds have brought.
  size_t names() const { return names_.size(); }
  void Write(ByteWriter& writer) const;
  // kCorruption for what was not written; kInvalidArgument if the bounds were
  // coarser then, so that those of now cannot be made of them. What was finer
  // is kept as it was, and can come back. REQUIRES: new.
  Status Read(ByteReader& reader);

 private:
  Scope(const config::ScopeSettings& settings,
        const url::PublicSuffixList& suffixes);

  using Names = std::unordered_set<std::string, TableHash, std::equal_to<>>;

  // The name that a URL has by these bounds; of a folder in `scratch_`.
  std::string_view NameOf(config::ScopeBounds bounds,
                          const item::UrlRecord& record) const;
  // Of a host whose record is gone.
  std::string_view NameOfHost(config::ScopeBounds bounds,
                              std::string_view host) const;
  void Keep(std::string_view name);
  // The names of now are made of what was kept.
  bool Converts() const;
  Status Convert(std::string_view name);
  bool IsWithinBounds(const item::UrlRecord& record) const;

  config::ScopeSettings settings_;
  const url::PublicSuffixList* suffixes_;
  PatternSet allow_;
  PatternSet deny_;
  PrefixSet prefixes_;  // of the settings
  std::shared_ptr<const BlockSet> blocks_;
  // What is kept, and of which kind: that of the settings, or a finer one that
  // the job had before. Of a finer one the names of now are made.
  config::ScopeBounds kind_;
  Names names_;
  Names converted_;
  PrefixSet folders_;  // names_ with kPrefix
  mutable std::string scratch_;
};

}  // namespace nephila::scope
