// LinkFinder: what the attributes of a start tag say, as links and meta
// elements. A part of HtmlReader (parse/html_links.h), which says how it is
// bounded and what is dropped.
//   In: an element, its namespace and its attributes in raw bytes
//   Out: calls of the HtmlHandler
//   Threads: one each   Cost: linear in the attributes
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "parse/html_links.h"
#include "parse/names.h"
#include "parse/tokenizer.h"

namespace nephila::parse {

// What is wanted of an element's start tag, wherever it stands.
struct TagUse {
  uint32_t wanted = 0;  // attributes, by AttrBit
  ContentModel model = ContentModel::kData;
  TagInterest interest = TagInterest::kNone;  // outside foreign content
};
extern const std::array<TagUse, static_cast<size_t>(Tag::kCount)> kTagUses;

inline const TagUse& UseOf(Tag tag) {
  return kTagUses[static_cast<size_t>(tag)];
}
constexpr uint32_t AttrBit(Attr attr) {
  return uint32_t{1} << static_cast<uint32_t>(attr);
}

class LinkFinder {
 public:
  LinkFinder(const HtmlOptions& options, HtmlHandler* handler)
      : options_(options), handler_(handler) {}

  void Begin(Transcoder* transcoder);

  void OnHtmlElement(Tag tag, std::span<const Attribute> attributes,
                     bool in_template);
  void OnSvgElement(Tag tag, std::span<const Attribute> attributes,
                    bool in_template);

  HtmlCounts& counts() { return counts_; }

 private:
  // Buffers of one value that is not as it stands in the page.
  struct Scratch {
    std::string utf8;
    std::string value;
  };

  void Take(Tag tag, std::span<const Attribute> attributes, bool in_template);
  bool Has(Attr attr) const { return (present_ & AttrBit(attr)) != 0; }
  std::string_view Raw(Attr attr) const {
    return Has(attr) ? values_[static_cast<size_t>(attr)] : std::string_view();
  }
  std::string_view Decode(std::string_view raw, Scratch* scratch);
  std::string_view Rel() { return Decode(Raw(Attr::kRel), &rel_); }
  bool IsWord(Attr attr, std::string_view word);

  void Base();
  void Form();
  void Meta();
  void Page(Attr attr);      // a link to another page
  void Resource(Attr attr);  // to something that the page is shown with
  void Srcset(Attr attr);
  void Report(std::string_view value, Attr attr);
  void Drop(LinkDrop reason) { ++counts_.dropped[static_cast<size_t>(reason)]; }

  const HtmlOptions options_;
  HtmlHandler* handler_;
  Transcoder* transcoder_ = nullptr;
  HtmlCounts counts_;
  bool base_known_ = false;
  bool base_lost_ = false;  // it was too long

  // The element at hand.
  Tag tag_ = Tag::kOther;
  bool in_template_ = false;
  bool in_svg_ = false;
  uint32_t present_ = 0;
  std::array<std::string_view, static_cast<size_t>(Attr::kCount)> values_;
  Scratch value_;
  Scratch rel_;
  Scratch name_;
  Scratch equiv_;
  Scratch charset_;
};

}  // namespace nephila::parse
