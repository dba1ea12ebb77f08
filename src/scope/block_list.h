// BlockList: a black list, as one file has it. BlockSet: all that hold.
//
// Both never change: who reads a list anew makes another one, and hands it to
// other threads as a whole. Names and URLs are kept as keyed hashes, 32 bytes a
// line whatever its length; two names with one hash are as likely as two URLs
// that are taken for one (url/keys.h).
//   In: lines (block_line.h), URLs, addresses   Out: which line blocks them
//   Threads: immutable, any.   Cost: a hash for each label of a host, one for
//   the URL; no allocation but what `scratch` keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "item/url_record.h"
#include "net/ip_address.h"
#include "scope/block_line.h"
#include "scope/prefix_set.h"
#include "url/canonicalizer.h"
#include "url/public_suffix.h"

namespace nephila::scope {

// The line that blocks something.
struct BlockHit {
  std::string_view list;  // its name; lives as long as the list
  uint32_t line = 0;
  BlockKind kind = BlockKind::kUrl;

  // "bad.txt:12 (host)".
  std::string ToString() const;
};

class BlockList {
 public:
  // The lines of a text; what is none goes to `wrong`, with its number and
  // why, and is left out.
  static std::shared_ptr<const BlockList> Read(
      std::string name, std::string_view text,
      url::Canonicalizer& canonicalizer, const url::PublicSuffixList& suffixes,
      const std::function<void(uint32_t line, const Error& why)>& wrong);

  // Of the URL as it is: a record's target is another one. `scratch`: for the
  // SURT, reused.
  std::optional<BlockHit> Find(const item::UrlRecord& record,
                               std::string& scratch) const;
  std::optional<BlockHit> Find(const net::IpAddress& address) const;

  bool empty() const { return lines_ == 0; }
  bool has_addresses() const { return !ranges_.empty(); }
  size_t lines() const { return lines_; }
  const std::string& name() const { return name_; }

 private:
  // Hashes of texts and the lines that they are from, by open addressing.
  class Table {
   public:
    void Add(std::string_view text, uint32_t line);
    std::optional<uint32_t> Find(std::string_view text) const;
    bool empty() const { return count_ == 0; }

   private:
    struct Slot {
      uint64_t hash = 0;  // 0: free
      uint32_t line = 0;
    };
    void Insert(Slot slot);
    std::vector<Slot> slots_;
    size_t count_ = 0;
  };
  struct Range {
    net::IpAddress first;
    net::IpAddress last;
    uint32_t line = 0;
  };

  explicit BlockList(std::string name) : name_(std::move(name)) {}
  void Add(const BlockLine& line, uint32_t number);
  void JoinRanges();
  std::optional<BlockHit> FindHost(std::string_view host) const;
  std::optional<uint32_t> FindRange(const net::IpAddress& address) const;
  BlockHit Hit(uint32_t line, BlockKind kind) const {
    return {name_, line, kind};
  }

  const std::string name_;
  size_t lines_ = 0;
  Table urls_;
  Table hosts_;
  Table domains_;
  PrefixSet surts_;
  std::vector<Range> ranges_;  // apart from each other, in order
};

class BlockSet {
 public:
  BlockSet() = default;
  explicit BlockSet(std::vector<std::shared_ptr<const BlockList>> lists);

  // What would be asked for: the URL, and where a redirect of it led.
  std::optional<BlockHit> Find(const item::UrlRecord& record,
                               std::string& scratch) const;
  std::optional<BlockHit> Find(const net::IpAddress& address) const;

  bool empty() const { return lists_.empty(); }
  bool has_addresses() const { return has_addresses_; }
  size_t lines() const;

 private:
  std::vector<std::shared_ptr<const BlockList>> lists_;  // none is empty
  bool has_addresses_ = false;
};

}  // namespace nephila::scope
