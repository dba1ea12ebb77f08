#include "bench/page_chain.h"

#include <utility>

namespace nephila::bench {
Result<std::unique_ptr<PageChain>> PageChain::Make(const cli::Setup& setup,
                                                   FileSystem& fs,
                                                   const Clock& clock,
                                                   const std::string& folder) {
  store::StoreOptions options;
  options.settings = setup.settings.store;
  options.folder = folder;
  options.log_path = folder + "/crawl.log";
  NEPHILA_TRY(auto store, store::Store::OpenAt(fs, clock, std::move(options),
                                               std::nullopt));
  return std::unique_ptr<PageChain>(new PageChain(setup, std::move(store)));
}

PageChain::PageChain(const cli::Setup& setup,
                     std::unique_ptr<store::Store> store)
    : store_(std::move(store)),
      processor_(setup.settings, setup.suffixes, 0, /*text=*/false) {}

Status PageChain::Take(const fetch::FetchResult& result) {
  const item::FetchedPage page = fetch::AsPage(result);
  NEPHILA_TRY(const store::Stored stored, store_->Write(page));
  static_cast<void>(stored);
  if (page.outcome == item::FetchOutcome::kResponse) {
    processor_.Process(page, this);
  }
  return {};
}

void PageChain::OnLink(const crawl::FoundLink& link) {
  ++links_;
  keys_ += link.url.keys.url.value;
}

}  // namespace nephila::bench
