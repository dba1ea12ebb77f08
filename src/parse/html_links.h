// HtmlReader: the links of a page, its meta elements, and on request its title
// and text, found on the tokens without a tree.
//
//   In: bytes of HTML in pieces of any size, of an encoding as the tokenizer
//       takes it; a Transcoder if it is not UTF-8
//   Out: calls of an HtmlHandler, in the order of the page
//   Drop: see LinkDrop; counted
//   Disk: none   Threads: one reader each; it is reused page after page
//   Cost: linear in the page; allocates only until its buffers have grown
//       (nephila bench links)
//
// As a browser with scripting off reads the page: <noscript> holds markup,
// <iframe>, <noembed> and <noframes> hold text. Links inside <template> are
// inert in browsers until a script takes them, and often hold placeholders:
// they are dropped unless asked for, then marked. Differences to a tree, all
// seen in html5lib's suite, are listed in testdata/html5lib/exceptions.tsv:
// tags that a tree builder ignores where they stand are reported here.
//
// XHTML, which servers name application/xhtml+xml, is read by the same states
// with what XML has otherwise: a tag that closes itself is closed whatever it
// is, CDATA sections stand everywhere, and only scripts, styles, titles and
// text areas hold text alone. What is not well-formed is read on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "parse/names.h"

namespace nephila::parse {

enum class LinkDrop : uint8_t {
  kTooMany,   // over max_links of a page
  kTooLong,   // over max_link_bytes
  kEmpty,     // a resource without an address
  kData,      // the resource stands in the address itself, data:
  kPost,      // the form is sent by another method than GET
  kTemplate,  // inside <template>
};
inline constexpr std::array<std::string_view, 6> kLinkDropNames = {
    "too-many", "too-long", "empty", "data", "form-method", "template"};

// Views are valid during the call.
struct HtmlLink {
  // UTF-8, references resolved, spaces around it stripped; not resolved.
  std::string_view value;
  Tag tag;               // kImg for <image>
  Attr attr;             // kContent for a meta refresh
  std::string_view rel;  // as written, references resolved
  bool in_template = false;
  bool in_svg = false;
};

struct HtmlMeta {
  std::string_view name;
  std::string_view http_equiv;
  std::string_view content;
  std::string_view charset;
};

class HtmlHandler {
 public:
  HtmlHandler() = default;
  HtmlHandler(const HtmlHandler&) = delete;
  HtmlHandler& operator=(const HtmlHandler&) = delete;
  virtual ~HtmlHandler() = default;

  virtual void OnLink(const HtmlLink& link) = 0;
  // The first <base href>; links before it are resolved on it too.
  virtual void OnBase(std::string_view value) = 0;
  // Each meta element with a content or charset attribute, outside templates:
  // robots, content-type and the like. A refresh comes as a link besides.
  virtual void OnMeta(const HtmlMeta& meta) = 0;
};

// To UTF-8, from whatever the page is in.
class Transcoder {
 public:
  Transcoder() = default;
  Transcoder(const Transcoder&) = delete;
  Transcoder& operator=(const Transcoder&) = delete;
  virtual ~Transcoder() = default;

  // Appends `raw`, which is whole characters, and is not pure ASCII.
  virtual void AppendUtf8(std::string_view raw, std::string* out) = 0;
};

// Whether a rel attribute names what a page is shown with, as "stylesheet".
bool IsResourceRel(std::string_view rel);

enum class Syntax : uint8_t { kHtml, kXhtml };

struct HtmlOptions {
  bool resources = true;   // img, script, style sheets, media and the like
  bool all_forms = false;  // also those that are not sent by GET
  bool templates = false;
  bool text = false;  // title and text
  uint64_t max_links = 10000;
  uint64_t max_link_bytes = 8192;
  uint64_t max_title_bytes = 1024;
  uint64_t max_text_bytes = uint64_t{1} << 20;
  uint64_t max_tag_bytes = uint64_t{1} << 20;
};

struct HtmlCounts {
  uint64_t links = 0;
  std::array<uint64_t, kLinkDropNames.size()> dropped{};
  uint64_t cut_tags = 0;    // attributes beyond max_tag_bytes
  uint64_t long_words = 0;  // kept out of the text
  bool text_cut = false;    // at max_text_bytes
};

class HtmlReader {
 public:
  // Keeps a pointer to the handler.
  HtmlReader(const HtmlOptions& options, HtmlHandler* handler);
  ~HtmlReader();

  // Begins a page. `transcoder`: null for UTF-8; kept until the next page.
  void Begin(Transcoder* transcoder = nullptr, Syntax syntax = Syntax::kHtml);
  void Feed(std::string_view bytes);
  void Finish();

  // Of the page, after Finish; empty unless options.text.
  std::string_view title() const;
  std::string_view text() const;
  const HtmlCounts& counts() const;

 private:
  class Impl;
  template <bool kText>
  class ImplOf;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nephila::parse
