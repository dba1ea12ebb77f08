// ForeignContent: whether a tag stands in SVG or MathML, without a tree.
//
// Inside them the same bytes are read otherwise: CDATA sections exist,
// <script>, <style> and <title> hold markup, elements mean other things. The
// elements that are open are kept only from the first <svg> or <math> on; what
// is open outside is not known, so an end tag that matches nothing inside is
// taken to close something outside, and the foreign content with it (HTML
// s13.2.6 "tree construction dispatcher", s13.2.6.5).
//   In: every start and end tag   Out: the namespace of each
//   Bound: kMaxDepth elements; those nested deeper are not kept
//   Threads: one each   Cost: constant outside; inside at most kMaxDepth a tag
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "parse/names.h"

namespace nephila::parse {

enum class Namespace : uint8_t { kHtml, kSvg, kMath };

// What of a start tag's attributes decides.
struct ForeignHints {
  bool html_encoding = false;  // <annotation-xml encoding=text/html>
  bool font_style = false;     // <font> with color, face or size
  bool self_closing = false;
};

class ForeignContent {
 public:
  static constexpr size_t kMaxDepth = 256;

  // Whether anything has to be told at all: else a tag that is neither <svg>
  // nor <math> is HTML, and end tags do not matter.
  bool active() const { return !open_.empty(); }

  // Whether the element that text goes into is not HTML's: CDATA.
  bool InForeign() const {
    return !open_.empty() && open_.back().space != Namespace::kHtml;
  }
  // The innermost element that is open, kOther outside.
  Tag current() const { return open_.empty() ? Tag::kOther : open_.back().tag; }

  // Returns the namespace in which the element is made.
  Namespace OnStartTag(Tag tag, std::string_view name,
                       const ForeignHints& hints);
  void OnEndTag(Tag tag, std::string_view name);
  void Clear() { open_.clear(); }

 private:
  struct Element {
    Namespace space;
    Tag tag;
    bool html_inside;  // HTML integration point
    bool text_inside;  // MathML text integration point
    uint64_t name;     // a hash, for names that are no Tag
  };

  bool TakesHtml(Tag tag) const;
  void Push(Namespace space, Tag tag, std::string_view name,
            const ForeignHints& hints);
  void BreakOut();

  std::vector<Element> open_;
};

}  // namespace nephila::parse
