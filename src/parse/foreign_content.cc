#include "parse/foreign_content.h"

#include "base/ascii.h"

namespace nephila::parse {
namespace {

// FNV-1a; equal hashes of different names would only close an element too soon.
uint64_t HashName(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : name) {
    hash = (hash ^ static_cast<uint8_t>(Lower(c))) * 0x100000001b3;
  }
  return hash;
}

bool IsMathText(Tag tag) {
  return tag == Tag::kMi || tag == Tag::kMo || tag == Tag::kMn ||
         tag == Tag::kMs || tag == Tag::kMtext;
}

}  // namespace

// Whether a start tag in the current element follows the rules of HTML.
bool ForeignContent::TakesHtml(Tag tag) const {
  if (open_.empty()) return true;
  const Element& current = open_.back();
  if (current.space == Namespace::kHtml || current.html_inside) return true;
  if (current.text_inside) {
    return tag != Tag::kMglyph && tag != Tag::kMalignmark;
  }
  return current.tag == Tag::kAnnotationXml && tag == Tag::kSvg;
}

void ForeignContent::Push(Namespace space, Tag tag, std::string_view name,
                          const ForeignHints& hints) {
  if (hints.self_closing && space != Namespace::kHtml) return;
  if (open_.size() >= kMaxDepth) return;
  bool html_inside =
      (space == Namespace::kSvg && (tag == Tag::kForeignObject ||
                                    tag == Tag::kDesc || tag == Tag::kTitle)) ||
      (space == Namespace::kMath && tag == Tag::kAnnotationXml &&
       hints.html_encoding);
  bool text_inside = space == Namespace::kMath && IsMathText(tag);
  open_.push_back({space, tag, html_inside, text_inside,
                   tag == Tag::kOther ? HashName(name) : 0});
}

void ForeignContent::BreakOut() {
  while (!open_.empty()) {
    const Element& current = open_.back();
    if (current.space == Namespace::kHtml || current.html_inside ||
        current.text_inside) {
      return;
    }
    open_.pop_back();
  }
}

Namespace ForeignContent::OnStartTag(Tag tag, std::string_view name,
                                     const ForeignHints& hints) {
  if (!TakesHtml(tag)) {
    bool breaks_out = (FlagsOf(tag) & kBreakout) != 0 ||
                      (tag == Tag::kFont && hints.font_style);
    if (!breaks_out) {
      Namespace space = open_.back().space;
      Push(space, tag, name, hints);
      return space;
    }
    BreakOut();
  }
  if (tag == Tag::kSvg || tag == Tag::kMath) {
    Namespace space = tag == Tag::kSvg ? Namespace::kSvg : Namespace::kMath;
    Push(space, tag, name, hints);
    return space;
  }
  if (!open_.empty() && (FlagsOf(tag) & kVoid) == 0) {
    Push(Namespace::kHtml, tag, name, hints);
  }
  return Namespace::kHtml;
}

void ForeignContent::OnEndTag(Tag tag, std::string_view name) {
  if (open_.empty()) return;
  if (InForeign() && (tag == Tag::kP || tag == Tag::kBr)) {
    BreakOut();
    return;
  }
  uint64_t hash = tag == Tag::kOther ? HashName(name) : 0;
  bool from_html = !InForeign();
  for (size_t i = open_.size(); i > 0; --i) {
    const Element& element = open_[i - 1];
    // HTML's rules do not look beyond the element that let it in.
    if (from_html && element.space != Namespace::kHtml) return;
    if (element.tag == tag && element.name == hash) {
      open_.resize(i - 1);
      return;
    }
    if (element.space == Namespace::kHtml) from_html = true;
  }
  open_.clear();
}

}  // namespace nephila::parse
