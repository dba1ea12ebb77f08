// The peers of `bench links`: libxml2's HTML parser by events, and gumbo.

#include <gumbo.h>
#include <libxml/HTMLparser.h>

#include <array>
#include <string>
#include <vector>

#include "bench/link_parsers.h"

namespace nephila::bench {
namespace {

struct LinkAttribute {
  std::string_view element;
  std::string_view attribute;
};
constexpr std::array<LinkAttribute, 8> kLinkAttributes = {{{"a", "href"},
                                                           {"area", "href"},
                                                           {"link", "href"},
                                                           {"img", "src"},
                                                           {"script", "src"},
                                                           {"iframe", "src"},
                                                           {"frame", "src"},
                                                           {"form", "action"}}};

// Broken encodings are not worth a line on the terminal each.
void SayNothing(void* /*context*/, const char* /*format*/, ...) {
}  // NOLINT(cert-dcl50-cpp): libxml2's type

class Libxml2Parser final : public LinkParser {
 public:
  Libxml2Parser() {
    xmlSetGenericErrorFunc(nullptr, &SayNothing);
    handler_.startElement = [](void* context, const xmlChar* name,
                               const xmlChar** attributes) {
      static_cast<Libxml2Parser*>(context)->OnElement(name, attributes);
    };
  }

  std::string_view name() const override { return "libxml2"; }

  uint64_t Parse(const HtmlFile& page) override {
    links_ = 0;
    std::string encoding(parse::EncodingName(page.charset.encoding));
    htmlParserCtxtPtr context =
        htmlCreatePushParserCtxt(&handler_, this, nullptr, 0, nullptr,
                                 xmlParseCharEncoding(encoding.c_str()));
    htmlCtxtUseOptions(context, HTML_PARSE_RECOVER | HTML_PARSE_NOERROR |
                                    HTML_PARSE_NOWARNING | HTML_PARSE_NONET);
    htmlParseChunk(context, page.bytes.data(),
                   static_cast<int>(page.bytes.size()), 1);
    htmlFreeParserCtxt(context);
    return links_;
  }

 private:
  static std::string_view View(const xmlChar* text) {
    return reinterpret_cast<const char*>(text);
  }

  void OnElement(const xmlChar* name, const xmlChar** attributes) {
    if (attributes == nullptr) return;
    for (const LinkAttribute& link : kLinkAttributes) {
      if (View(name) != link.element) continue;
      for (; *attributes != nullptr; attributes += 2) {
        if (View(attributes[0]) == link.attribute) ++links_;
      }
      return;
    }
  }

  htmlSAXHandler handler_{};
  uint64_t links_ = 0;
};

class GumboParser final : public LinkParser {
 public:
  std::string_view name() const override { return "gumbo"; }

  uint64_t Parse(const HtmlFile& page) override {
    GumboOutput* output = gumbo_parse_with_options(
        &kGumboDefaultOptions, page.bytes.data(), page.bytes.size());
    uint64_t links = CountLinks(output->root);
    gumbo_destroy_output(&kGumboDefaultOptions, output);
    return links;
  }

 private:
  static bool IsLink(const GumboElement& element) {
    switch (element.tag) {
      case GUMBO_TAG_A:
      case GUMBO_TAG_AREA:
      case GUMBO_TAG_LINK:
        return gumbo_get_attribute(&element.attributes, "href") != nullptr;
      case GUMBO_TAG_IMG:
      case GUMBO_TAG_SCRIPT:
      case GUMBO_TAG_IFRAME:
      case GUMBO_TAG_FRAME:
        return gumbo_get_attribute(&element.attributes, "src") != nullptr;
      case GUMBO_TAG_FORM:
        return gumbo_get_attribute(&element.attributes, "action") != nullptr;
      default:
        return false;
    }
  }

  // Trees may be deep: no recursion.
  uint64_t CountLinks(const GumboNode* root) {
    uint64_t links = 0;
    stack_.assign(1, root);
    while (!stack_.empty()) {
      const GumboNode* node = stack_.back();
      stack_.pop_back();
      if (node->type != GUMBO_NODE_ELEMENT &&
          node->type != GUMBO_NODE_TEMPLATE) {
        continue;
      }
      if (IsLink(node->v.element)) ++links;
      const GumboVector& children = node->v.element.children;
      for (unsigned i = 0; i < children.length; ++i) {
        stack_.push_back(static_cast<const GumboNode*>(children.data[i]));
      }
    }
    return links;
  }

  std::vector<const GumboNode*> stack_;
};

}  // namespace

std::unique_ptr<LinkParser> MakeLibxml2Parser() {
  return std::make_unique<Libxml2Parser>();
}
std::unique_ptr<LinkParser> MakeGumboParser() {
  return std::make_unique<GumboParser>();
}

}  // namespace nephila::bench
