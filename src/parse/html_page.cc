#include "parse/html_page.h"

#include <algorithm>

namespace nephila::parse {

HtmlOptions OptionsOf(const config::ParseSettings& settings) {
  HtmlOptions options;
  options.resources = settings.resources;
  options.all_forms = settings.post_forms;
  options.templates = settings.template_links;
  options.max_links = static_cast<uint64_t>(settings.max_links);
  options.max_link_bytes = settings.max_link_size;
  options.max_tag_bytes = settings.max_tag_size;
  options.max_title_bytes = settings.max_title_size;
  options.max_text_bytes = settings.max_text_size;
  return options;
}

void HtmlPage::Begin(const Charset& charset, Syntax syntax) {
  encoding_ = charset.encoding;
  skip_ = charset.mark_bytes;
  decoder_.reset();
  if (!IsAsciiCompatible(encoding_)) {
    decoder_.emplace(encoding_);
    reader_->Begin(nullptr, syntax);
  } else {
    reader_->Begin(encoding_ == Encoding::kUtf8 ? nullptr : this, syntax);
  }
}

void HtmlPage::Feed(std::string_view bytes) {
  size_t skipped = std::min(skip_, bytes.size());
  skip_ -= skipped;
  bytes.remove_prefix(skipped);
  if (!decoder_) {
    reader_->Feed(bytes);
    return;
  }
  // In steps, so that a large piece does not become a larger one.
  constexpr size_t kStep = size_t{64} << 10;
  while (!bytes.empty()) {
    utf8_.clear();
    decoder_->Decode(bytes.substr(0, kStep), &utf8_);
    reader_->Feed(utf8_);
    bytes.remove_prefix(std::min(kStep, bytes.size()));
  }
}

void HtmlPage::Finish() {
  if (decoder_) {
    utf8_.clear();
    decoder_->Finish(&utf8_);
    reader_->Feed(utf8_);
  }
  reader_->Finish();
}

void HtmlPage::AppendUtf8(std::string_view raw, std::string* out) {
  DecodeToUtf8(encoding_, raw, out);
}

}  // namespace nephila::parse
