#include "parse/link_finder.h"

#include "base/ascii.h"
#include "parse/meta_refresh.h"
#include "parse/references.h"
#include "parse/srcset.h"

namespace nephila::parse {
namespace {

constexpr size_t kLongestRel = 256;

// Whether a link stands on no base (URL s4.4, "scheme state").
bool HasScheme(std::string_view value) {
  size_t colon = value.find_first_of(":/?#");
  return colon != std::string_view::npos && colon > 0 && value[colon] == ':';
}

static_assert(static_cast<size_t>(Attr::kCount) <= 32);

constexpr uint32_t WantedOf(Tag tag) {
  switch (tag) {
    case Tag::kA:
      return AttrBit(Attr::kHref) | AttrBit(Attr::kRel) |
             AttrBit(Attr::kXlinkHref);
    case Tag::kArea:
    case Tag::kBase:
      return AttrBit(Attr::kHref) | AttrBit(Attr::kRel);
    case Tag::kLink:
      return AttrBit(Attr::kHref) | AttrBit(Attr::kRel) |
             AttrBit(Attr::kImageSrcset);
    case Tag::kFrame:
    case Tag::kIframe:
    case Tag::kAudio:
    case Tag::kTrack:
    case Tag::kEmbed:
      return AttrBit(Attr::kSrc);
    case Tag::kForm:
      return AttrBit(Attr::kAction) | AttrBit(Attr::kMethod) |
             AttrBit(Attr::kRel);
    case Tag::kImg:
    case Tag::kSource:
      return AttrBit(Attr::kSrc) | AttrBit(Attr::kSrcset);
    case Tag::kImage:
      return AttrBit(Attr::kSrc) | AttrBit(Attr::kSrcset) |
             AttrBit(Attr::kHref) | AttrBit(Attr::kXlinkHref);
    case Tag::kScript:
      return AttrBit(Attr::kSrc) | AttrBit(Attr::kHref) |
             AttrBit(Attr::kXlinkHref);
    case Tag::kVideo:
      return AttrBit(Attr::kSrc) | AttrBit(Attr::kPoster);
    case Tag::kObject:
      return AttrBit(Attr::kData);
    case Tag::kInput:
      return AttrBit(Attr::kSrc) | AttrBit(Attr::kType);
    case Tag::kBody:
    case Tag::kTable:
    case Tag::kTd:
    case Tag::kTh:
    case Tag::kTr:
      return AttrBit(Attr::kBackground);
    case Tag::kFeImage:
    case Tag::kUse:
      return AttrBit(Attr::kHref) | AttrBit(Attr::kXlinkHref);
    case Tag::kMeta:
      return AttrBit(Attr::kName) | AttrBit(Attr::kHttpEquiv) |
             AttrBit(Attr::kContent) | AttrBit(Attr::kCharset);
    // These decide where foreign content begins and ends.
    case Tag::kAnnotationXml:
      return AttrBit(Attr::kEncoding);
    case Tag::kFont:
      return AttrBit(Attr::kColor) | AttrBit(Attr::kFace) |
             AttrBit(Attr::kSize);
    default:
      return 0;
  }
}

constexpr ContentModel ModelOf(Tag tag) {
  switch (tag) {
    case Tag::kTitle:
    case Tag::kTextarea:
      return ContentModel::kRcdata;
    case Tag::kStyle:
    case Tag::kXmp:
    case Tag::kIframe:
    case Tag::kNoembed:
    case Tag::kNoframes:
      return ContentModel::kRawtext;
    case Tag::kScript:
      return ContentModel::kScript;
    case Tag::kPlaintext:
      return ContentModel::kPlaintext;
    default:
      return ContentModel::kData;
  }
}

constexpr TagInterest InterestIn(Tag tag) {
  if (tag == Tag::kFont || tag == Tag::kAnnotationXml) {
    return TagInterest::kNone;
  }
  if (WantedOf(tag) != 0) return TagInterest::kAttributes;
  bool matters = tag == Tag::kSvg || tag == Tag::kMath ||
                 tag == Tag::kTemplate || ModelOf(tag) != ContentModel::kData;
  return matters ? TagInterest::kTag : TagInterest::kNone;
}

constexpr auto MakeUses() {
  std::array<TagUse, static_cast<size_t>(Tag::kCount)> uses{};
  for (size_t i = 0; i < uses.size(); ++i) {
    Tag tag = static_cast<Tag>(i);
    uses[i] = {WantedOf(tag), ModelOf(tag), InterestIn(tag)};
  }
  return uses;
}

bool IsAscii(std::string_view text) {
  uint8_t all = 0;
  for (char c : text) all |= static_cast<uint8_t>(c);
  return all < 0x80;
}

// Relations to what a page is shown with, or that no page stands behind.
constexpr std::string_view kResourceRels[] = {
    "stylesheet",
    "icon",
    "apple-touch-icon",
    "preload",
    "modulepreload",
    "prefetch",
    "dns-prefetch",
    "preconnect",
    "manifest",
    "mask-icon",
    "apple-touch-icon-precomposed",
};

}  // namespace

bool IsResourceRel(std::string_view rel) {
  while (!rel.empty()) {
    rel.remove_prefix(SkipSpaces(rel, 0));
    size_t end = 0;
    while (end < rel.size() && !IsSpace(rel[end])) ++end;
    for (std::string_view word : kResourceRels) {
      if (EqualsIgnoreCase(rel.substr(0, end), word)) return true;
    }
    rel.remove_prefix(end);
  }
  return false;
}

const std::array<TagUse, static_cast<size_t>(Tag::kCount)> kTagUses =
    MakeUses();

void LinkFinder::Begin(Transcoder* transcoder) {
  transcoder_ = transcoder;
  counts_ = {};
  base_known_ = false;
  base_lost_ = false;
}

void LinkFinder::Take(Tag tag, std::span<const Attribute> attributes,
                      bool in_template) {
  tag_ = tag;
  in_template_ = in_template;
  present_ = 0;
  for (const Attribute& attribute : attributes) {
    present_ |= uint32_t{1} << attribute.id;
    values_[static_cast<size_t>(attribute.id)] = attribute.value;
  }
}

std::string_view LinkFinder::Decode(std::string_view raw, Scratch* scratch) {
  if (transcoder_ != nullptr && !IsAscii(raw)) {
    scratch->utf8.clear();
    transcoder_->AppendUtf8(raw, &scratch->utf8);
    raw = scratch->utf8;
  }
  if (IsPlainAttribute(raw)) return raw;
  scratch->value.clear();
  AppendAttribute(raw, &scratch->value);
  return scratch->value;
}

bool LinkFinder::IsWord(Attr attr, std::string_view word) {
  return EqualsIgnoreCase(Decode(Raw(attr), &name_), word);
}

void LinkFinder::OnHtmlElement(Tag tag, std::span<const Attribute> attributes,
                               bool in_template) {
  Take(tag, attributes, in_template);
  in_svg_ = false;
  switch (tag) {
    case Tag::kA:
    case Tag::kArea:
      return Page(Attr::kHref);
    case Tag::kFrame:
    case Tag::kIframe:
      return Page(Attr::kSrc);
    case Tag::kLink:
      if (IsResourceRel(Rel())) {
        Resource(Attr::kHref);
        return Srcset(Attr::kImageSrcset);
      }
      return Page(Attr::kHref);
    case Tag::kBase:
      return Base();
    case Tag::kForm:
      return Form();
    case Tag::kMeta:
      return Meta();
    case Tag::kImage:  // an old name that the parser still takes (s13.2.6.4.7)
      tag_ = Tag::kImg;
      [[fallthrough]];
    case Tag::kImg:
    case Tag::kSource:
      Resource(Attr::kSrc);
      return Srcset(Attr::kSrcset);
    case Tag::kVideo:
      Resource(Attr::kSrc);
      return Resource(Attr::kPoster);
    case Tag::kInput:
      if (Has(Attr::kSrc) && IsWord(Attr::kType, "image")) {
        Resource(Attr::kSrc);
      }
      return;
    case Tag::kObject:
      return Resource(Attr::kData);
    case Tag::kBody:
    case Tag::kTable:
    case Tag::kTd:
    case Tag::kTh:
    case Tag::kTr:
      return Resource(Attr::kBackground);
    case Tag::kScript:
    case Tag::kAudio:
    case Tag::kTrack:
    case Tag::kEmbed:
      return Resource(Attr::kSrc);
    default:
      return;
  }
}

void LinkFinder::OnSvgElement(Tag tag, std::span<const Attribute> attributes,
                              bool in_template) {
  Take(tag, attributes, in_template);
  in_svg_ = true;
  // Of the two the one without a prefix counts (SVG 2 s16.1.6).
  Attr attr = Has(Attr::kHref) ? Attr::kHref : Attr::kXlinkHref;
  if (tag == Tag::kA) Page(attr);
  if (tag == Tag::kImage || tag == Tag::kScript || tag == Tag::kFeImage) {
    Resource(attr);
  }
  // What is used stands in this page, or behind the mark in another.
  bool elsewhere = Has(attr) && !TrimSpaces(Raw(attr)).starts_with('#');
  if (tag == Tag::kUse && elsewhere) Resource(attr);
}

void LinkFinder::Base() {
  if (base_known_ || in_template_ || !Has(Attr::kHref)) return;
  base_known_ = true;
  if (Raw(Attr::kHref).size() > options_.max_link_bytes) {
    base_lost_ = true;
    return Drop(LinkDrop::kTooLong);
  }
  handler_->OnBase(TrimSpaces(Decode(Raw(Attr::kHref), &value_)));
}

void LinkFinder::Form() {
  if (!Has(Attr::kAction)) return;
  bool post = IsWord(Attr::kMethod, "post") || IsWord(Attr::kMethod, "dialog");
  if (post && !options_.all_forms) return Drop(LinkDrop::kPost);
  Page(Attr::kAction);
}

void LinkFinder::Meta() {
  HtmlMeta meta;
  meta.name = Decode(Raw(Attr::kName), &name_);
  meta.http_equiv = Decode(Raw(Attr::kHttpEquiv), &equiv_);
  meta.content = Decode(Raw(Attr::kContent), &value_);
  meta.charset = Decode(Raw(Attr::kCharset), &charset_);
  if (!in_template_ && (Has(Attr::kContent) || Has(Attr::kCharset))) {
    handler_->OnMeta(meta);
  }
  if (EqualsIgnoreCase(meta.http_equiv, "refresh")) {
    std::optional<Refresh> refresh = ParseRefresh(meta.content);
    if (refresh && refresh->url) Report(*refresh->url, Attr::kContent);
  }
}

void LinkFinder::Page(Attr attr) {
  if (!Has(attr)) return;
  std::string_view raw = Raw(attr);
  if (raw.size() > options_.max_link_bytes) return Drop(LinkDrop::kTooLong);
  Report(Decode(raw, &value_), attr);
}

void LinkFinder::Resource(Attr attr) {
  if (!options_.resources || !Has(attr)) return;
  std::string_view raw = TrimSpaces(Raw(attr));
  if (raw.empty()) return Drop(LinkDrop::kEmpty);
  // Not decoded first: they are long.
  if (StartsWithIgnoreCase(raw, "data:")) return Drop(LinkDrop::kData);
  if (raw.size() > options_.max_link_bytes) return Drop(LinkDrop::kTooLong);
  std::string_view value = TrimSpaces(Decode(raw, &value_));
  if (StartsWithIgnoreCase(value, "data:")) return Drop(LinkDrop::kData);
  Report(value, attr);
}

void LinkFinder::Srcset(Attr attr) {
  if (!options_.resources || !Has(attr)) return;
  SrcsetReader reader(Decode(Raw(attr), &value_));
  SrcsetCandidate candidate;
  while (reader.Next(&candidate)) {
    if (StartsWithIgnoreCase(candidate.url, "data:")) {
      Drop(LinkDrop::kData);
    } else {
      Report(candidate.url, attr);
    }
  }
}

void LinkFinder::Report(std::string_view value, Attr attr) {
  if (in_template_ && !options_.templates) return Drop(LinkDrop::kTemplate);
  // On a base that is too long it would be too long itself, and on another one
  // it would be another link.
  if (value.size() > options_.max_link_bytes ||
      (base_lost_ && !HasScheme(TrimSpaces(value)))) {
    return Drop(LinkDrop::kTooLong);
  }
  if (counts_.links >= options_.max_links) return Drop(LinkDrop::kTooMany);
  // A srcset has many links, and a hostile rel is long.
  std::string_view rel = Has(Attr::kRel) ? Rel() : std::string_view();
  if (rel.size() > kLongestRel) {
    rel = rel.substr(0, kLongestRel);
    rel = rel.substr(0, rel.find_last_of(" \t\n\f\r"));
  }
  ++counts_.links;
  handler_->OnLink({TrimSpaces(value), tag_, attr, rel, in_template_, in_svg_});
}

}  // namespace nephila::parse
