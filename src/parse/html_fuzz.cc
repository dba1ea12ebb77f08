// Whatever bytes come in, cut wherever: links, meta elements, title and text
// are those of the whole; and every token of the page is the same.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "parse/html_page.h"
#include "parse/page_links.h"
#include "parse/tokenizer.h"

namespace nephila::parse {
namespace {

// Everything that the tokenizer says, as text.
class TraceSink {
 public:
  static constexpr bool kWantsText = true;
  static constexpr bool kWantsComments = true;

  TagInterest OnTagName(std::string_view name) {
    Say('<', name);
    return name.size() % 3 == 0 ? TagInterest::kNone : TagInterest::kAttributes;
  }
  int OnAttributeName(std::string_view name) {
    return static_cast<int>(name.size() % 4) - 1;
  }
  ContentModel OnStartTag(const StartTag& tag) {
    Say('S', tag.name);
    for (const Attribute& attribute : tag.attributes) {
      Say('n', attribute.name);
      std::string value;
      AppendAttribute(attribute.value, &value);
      Say('v', value);
    }
    if (tag.self_closing) Say('/', "");
    switch (tag.name[0] | 0x20) {
      case 's':
        return ContentModel::kScript;
      case 't':
        return ContentModel::kRcdata;
      case 'x':
        return ContentModel::kRawtext;
      default:
        return ContentModel::kData;
    }
  }
  void OnEndTag(std::string_view name) {
    foreign_ = !foreign_;
    Say('E', name);
  }
  bool InForeignContent() const { return foreign_; }
  void OnText(std::string_view raw, TextKind kind) {
    decoder_.Append(raw, kind, &text_);
  }
  void OnTextEnd() { decoder_.Finish(&text_); }
  void OnComment(std::string_view raw) { Say('C', raw); }
  void OnDoctype(std::string_view raw, bool at_end) {
    Say(at_end ? 'd' : 'D', raw);
  }
  std::string Take() {
    Say('.', "");
    return std::move(trace_);
  }

 private:
  void Say(char what, std::string_view text) {
    decoder_.Finish(&text_);
    if (!text_.empty()) trace_.append("T ").append(text_).append("\n");
    text_.clear();
    trace_.push_back(what);
    trace_.append(text).append("\n");
  }

  bool foreign_ = false;
  TextDecoder decoder_;
  std::string text_;
  std::string trace_;
};

template <typename Parser>
void FeedIn(std::string_view page, size_t size, Parser* parser) {
  while (!page.empty()) {
    std::vector<char> piece(page.begin(),
                            page.begin() + static_cast<std::ptrdiff_t>(
                                               std::min(size, page.size())));
    parser->Feed(std::string_view(piece.data(), piece.size()));
    page.remove_prefix(piece.size());
  }
  parser->Finish();
}

std::string TokensOf(std::string_view page, size_t size, size_t bound) {
  TraceSink sink;
  Tokenizer<TraceSink> tokenizer(&sink, bound);
  tokenizer.Reset();
  FeedIn(page, size, &tokenizer);
  return sink.Take() + std::to_string(tokenizer.cut());
}

std::string PageOf(std::string_view page, size_t size, const Charset& charset,
                   const HtmlOptions& options) {
  PageLinks links;
  HtmlReader reader(options, &links);
  HtmlPage html(&reader);
  html.Begin(charset);
  FeedIn(page, size, &html);
  std::string seen;
  for (size_t i = 0; i < links.size(); ++i) {
    seen.append(TagText(links[i].tag)).append(".");
    seen.append(AttrText(links[i].attr)).append(links[i].value).append("\n");
  }
  for (size_t i = 0; i < links.metas(); ++i) {
    seen.append(links.meta(i).name).append(links.meta(i).content).append("\n");
  }
  NEPHILA_CHECK(links.size() == reader.counts().links);
  NEPHILA_CHECK(links.size() <= options.max_links);
  NEPHILA_CHECK(reader.title().size() <= options.max_title_bytes);
  NEPHILA_CHECK(reader.text().size() <= options.max_text_bytes);
  if (!options.text) NEPHILA_CHECK(reader.text().empty());
  return seen.append(reader.title()).append("\n").append(reader.text());
}

}  // namespace
}  // namespace nephila::parse

// The first byte is the size of the pieces, the second chooses bounds and
// encoding, the rest is the page.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nephila::parse;  // NOLINT(google-build-using-namespace)
  if (size < 2) return 0;
  std::string_view page(reinterpret_cast<const char*>(data) + 2, size - 2);
  size_t piece = 1 + data[0] % 64;
  size_t bound = (data[1] & 1) != 0 ? 64 : 1 << 20;
  NEPHILA_CHECK(TokensOf(page, piece, bound) ==
                TokensOf(page, page.size(), bound));

  HtmlOptions options;
  options.templates = (data[1] & 2) != 0;
  options.resources = (data[1] & 4) == 0;
  options.max_tag_bytes = bound;
  options.text = (data[1] & 8) == 0;
  if ((data[1] & 16) != 0) {
    options.max_links = 3;
    options.max_link_bytes = 10;
    options.max_title_bytes = 7;
    options.max_text_bytes = 20;
  }
  Charset charset;
  charset.encoding = static_cast<Encoding>(data[1] / 32 * 5);
  NEPHILA_CHECK(PageOf(page, piece, charset, options) ==
                PageOf(page, page.size(), charset, options));
  return 0;
}
