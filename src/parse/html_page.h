// HtmlPage: a page in whatever encoding, to an HtmlReader.
//
// Encodings in which markup is ASCII go through as they are, and only links and
// text are converted; UTF-16 and ISO-2022-JP are converted before.
//   In: the charset that parse/charset.h decided, and all bytes of the page
//   Threads: one each   Cost: none beside the reader's for ASCII-like encodings
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/settings.h"
#include "parse/charset.h"
#include "parse/decoder.h"
#include "parse/html_links.h"

namespace nephila::parse {

HtmlOptions OptionsOf(const config::ParseSettings& settings);

class HtmlPage final : private Transcoder {
 public:
  // Keeps a pointer to the reader.
  explicit HtmlPage(HtmlReader* reader) : reader_(reader) {}

  void Begin(const Charset& charset, Syntax syntax = Syntax::kHtml);
  void Feed(std::string_view bytes);
  void Finish();

 private:
  void AppendUtf8(std::string_view raw, std::string* out) override;

  HtmlReader* reader_;
  Encoding encoding_ = Encoding::kUtf8;
  size_t skip_ = 0;  // bytes of the mark that are still to come
  std::optional<Decoder> decoder_;
  std::string utf8_;
};

}  // namespace nephila::parse
