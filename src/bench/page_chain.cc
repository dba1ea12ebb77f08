#include "bench/page_chain.h"

#include <utility>

#include "url/parser.h"

namespace nephila::bench {
namespace {

constexpr uint64_t kMaxContentBytes = uint64_t{32} << 20;
constexpr uint64_t kMaxRatio = 1000;

}  // namespace

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
      content_({.max_bytes = kMaxContentBytes, .max_ratio = kMaxRatio}),
      reader_(setup.settings.parse, /*text=*/false),
      canonicalizer_(setup.settings.url, setup.suffixes, 0) {}

Status PageChain::Take(const fetch::FetchResult& result) {
  NEPHILA_TRY(const store::Stored stored, store_->Write(fetch::AsPage(result)));
  static_cast<void>(stored);
  TakeLinks(result);
  return {};
}

std::span<const std::string_view> PageChain::Decode(
    const fetch::FetchResult& result) {
  std::span<const std::string_view> pieces = result.body.pieces();
  const std::string_view coding = head_.Get("Content-Encoding");
  const bool chunked = result.transfer_coding == item::TransferCoding::kChunked;
  if (!chunked && coding.empty()) return pieces;
  if (chunked) {
    payload_.clear();
    const auto sink = [this](std::string_view piece) {
      payload_.append(piece);
    };
    chunks_.Reset();
    for (const std::string_view piece : pieces) chunks_.Feed(piece, sink);
    static_cast<void>(chunks_.Finish(sink));
    decoded_view_ = payload_;
    pieces = {&decoded_view_, 1};
  }
  if (coding.empty()) return pieces;
  decoded_.clear();
  const auto sink = [this](std::string_view piece) { decoded_.append(piece); };
  content_.Begin(coding);
  for (const std::string_view piece : pieces) {
    if (!content_.Feed(piece, sink)) break;
  }
  static_cast<void>(content_.Finish(sink));
  decoded_view_ = decoded_;
  return {&decoded_view_, 1};
}

void PageChain::TakeLinks(const fetch::FetchResult& result) {
  head_.Clear();
  std::string_view head = result.head;
  head_.Add(&head);
  headers_.content_type.clear();
  headers_.link.clear();
  for (const fetch::HeadField& field : head_.fields()) {
    if (fetch::SameFieldName(field.name, "Content-Type")) {
      headers_.content_type.push_back(field.value);
    } else if (fetch::SameFieldName(field.name, "Link")) {
      headers_.link.push_back(field.value);
    }
  }
  reader_.Read(headers_, Decode(result), parse::ReadAs::kWhatItIs);
  if (!url::Parse(result.url, nullptr, &page_).has_value()) return;
  reader_.html().BaseUrl(page_, &base_);
  for (const parse::PageLink& link : reader_.links()) {
    const auto canonical = canonicalizer_.Canonicalize(
        link.value, &parse::PageReader::BaseOf(link, page_, base_, &scratch_));
    if (!canonical.has_value()) continue;
    ++links_;
    keys_ += canonical->keys.url.value;
  }
}

}  // namespace nephila::bench
