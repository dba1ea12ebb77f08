#include "bench/link_parsers.h"

#include "parse/html_page.h"
#include "parse/page_links.h"
#include "parse/query_encoder.h"
#include "url/canonicalizer.h"
#include "url/parser.h"

namespace nephila::bench {
namespace {

parse::HtmlOptions OptionsFor(const cli::Setup& setup, bool text) {
  parse::HtmlOptions options = parse::OptionsOf(setup.settings.parse);
  options.text = text;
  return options;
}

class CountingHandler final : public parse::HtmlHandler {
 public:
  void OnLink(const parse::HtmlLink& link) override {
    ++links;
    bytes += link.value.size();
  }
  void OnBase(std::string_view /*value*/) override {}
  void OnMeta(const parse::HtmlMeta& /*meta*/) override {}

  uint64_t links = 0;
  uint64_t bytes = 0;
};

// Finds links, and title and text if asked.
class OurParser final : public LinkParser {
 public:
  OurParser(const cli::Setup& setup, bool text)
      : text_(text), reader_(OptionsFor(setup, text), &handler_) {}

  std::string_view name() const override {
    return text_ ? "nephila+text" : "nephila";
  }

  uint64_t Parse(const HtmlFile& page) override {
    handler_.links = 0;
    page_.Begin(page.charset);
    page_.Feed(page.bytes);
    page_.Finish();
    return handler_.links;
  }

 private:
  bool text_;
  CountingHandler handler_;
  parse::HtmlReader reader_;
  parse::HtmlPage page_{&reader_};
};

// Finds links and makes of each what the crawl knows it by.
class OurUrlParser final : public LinkParser {
 public:
  explicit OurUrlParser(const cli::Setup& setup)
      : reader_(OptionsFor(setup, false), &links_),
        canonicalizer_(setup.settings.url, setup.suffixes, 0) {}

  std::string_view name() const override { return "nephila+urls"; }

  uint64_t Parse(const HtmlFile& page) override {
    links_.Clear();
    page_.Begin(page.charset);
    page_.Feed(page.bytes);
    page_.Finish();
    if (!url::Parse(page.url, nullptr, &document_)) return 0;
    links_.BaseUrl(document_, &base_);
    auto encoder = parse::MakeQueryEncoder(page.charset.encoding);
    for (size_t i = 0; i < links_.size(); ++i) {
      auto canonical =
          canonicalizer_.Canonicalize(links_[i].value, &base_, encoder.get());
      if (canonical) checksum_ += canonical->keys.url.value;
    }
    return links_.size();
  }

 private:
  parse::PageLinks links_;
  parse::HtmlReader reader_;
  parse::HtmlPage page_{&reader_};
  url::Canonicalizer canonicalizer_;
  url::Url document_;
  url::Url base_;
  uint64_t checksum_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<LinkParser>> MakeLinkParsers(
    const cli::Setup& setup) {
  std::vector<std::unique_ptr<LinkParser>> parsers;
  parsers.push_back(std::make_unique<OurParser>(setup, /*text=*/false));
  parsers.push_back(std::make_unique<OurUrlParser>(setup));
  parsers.push_back(std::make_unique<OurParser>(setup, /*text=*/true));
  parsers.push_back(MakeLibxml2Parser());
  parsers.push_back(MakeGumboParser());
  return parsers;
}

}  // namespace nephila::bench
