// The scope of a running crawl: black lists that change, seeds that it refuses.
#include <string>

#include "base/text.h"
#include "crawl/crawl.h"
#include "item/url_record.h"
#include "url/record_keys.h"

namespace nephila::crawl {

std::optional<std::string> Crawl::RefusesSeed(std::string_view url) {
  const auto canonical = canonicalizer_.Canonicalize(url, nullptr);
  if (!canonical.has_value()) return std::nullopt;
  item::UrlRecord record = url::MakeUrlRecord(*canonical);
  record.flags = item::kFromSeed;
  const auto reason = frontier_->scope().RefusesAlways(record);
  if (!reason) return std::nullopt;
  std::string text = "seed " + EscapeForTerminal(url) + ": " +
                     std::string(scope::ScopeDropName(*reason));
  for (const scope::RuleVerdict& one : frontier_->scope().Explain(record)) {
    const bool is_it = one.rule == "block" || one.rule == "deny";
    if (!is_it || one.passes) continue;
    text.append(" by ").append(EscapeForTerminal(one.why));
    break;
  }
  return text;
}

void Crawl::ReadBlockLists() {
  next_block_look_ = parts_.clock.Now() + settings_.scope.block_interval;
  if (!blocks_->Look()) return;
  frontier_->SetBlocks(blocks_->lists());
  dispatcher_thread_->loop().Post(
      [this, lists = blocks_->lists()] { dispatcher_->SetBlocks(lists); });
}

}  // namespace nephila::crawl
