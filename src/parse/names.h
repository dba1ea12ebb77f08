// Names of elements and attributes that the parser knows, found by one hash of
// the whole name.
//
//   In: a name as written, of any case   Out: Tag or Attr, kOther if unknown
//   Threads: any   Cost: constant; about ten instructions and two loads
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "parse/name_table.h"

namespace nephila::parse {

// NEPHILA_TAG(name, flags): elements that mean something to links, to text or
// to how markup is read.
#define NEPHILA_TAGS(NEPHILA_TAG)                           \
  NEPHILA_TAG(A, "a", 0)                                    \
  NEPHILA_TAG(Address, "address", kBlock)                   \
  NEPHILA_TAG(AnnotationXml, "annotation-xml", 0)           \
  NEPHILA_TAG(Area, "area", kVoid)                          \
  NEPHILA_TAG(Article, "article", kBlock)                   \
  NEPHILA_TAG(Aside, "aside", kBlock)                       \
  NEPHILA_TAG(Audio, "audio", 0)                            \
  NEPHILA_TAG(B, "b", kBreakout)                            \
  NEPHILA_TAG(Base, "base", kVoid)                          \
  NEPHILA_TAG(Basefont, "basefont", kVoid)                  \
  NEPHILA_TAG(Bgsound, "bgsound", kVoid)                    \
  NEPHILA_TAG(Big, "big", kBreakout)                        \
  NEPHILA_TAG(Blockquote, "blockquote", kBlock | kBreakout) \
  NEPHILA_TAG(Body, "body", kBlock | kBreakout)             \
  NEPHILA_TAG(Br, "br", kBlock | kVoid | kBreakout)         \
  NEPHILA_TAG(Button, "button", kBlock)                     \
  NEPHILA_TAG(Caption, "caption", kBlock)                   \
  NEPHILA_TAG(Center, "center", kBlock | kBreakout)         \
  NEPHILA_TAG(Code, "code", kBreakout)                      \
  NEPHILA_TAG(Col, "col", kVoid)                            \
  NEPHILA_TAG(Dd, "dd", kBlock | kBreakout)                 \
  NEPHILA_TAG(Desc, "desc", 0)                              \
  NEPHILA_TAG(Details, "details", kBlock)                   \
  NEPHILA_TAG(Dialog, "dialog", kBlock)                     \
  NEPHILA_TAG(Dir, "dir", kBlock)                           \
  NEPHILA_TAG(Div, "div", kBlock | kBreakout)               \
  NEPHILA_TAG(Dl, "dl", kBlock | kBreakout)                 \
  NEPHILA_TAG(Dt, "dt", kBlock | kBreakout)                 \
  NEPHILA_TAG(Em, "em", kBreakout)                          \
  NEPHILA_TAG(Embed, "embed", kVoid | kBreakout)            \
  NEPHILA_TAG(FeImage, "feimage", 0)                        \
  NEPHILA_TAG(Fieldset, "fieldset", kBlock)                 \
  NEPHILA_TAG(Figcaption, "figcaption", kBlock)             \
  NEPHILA_TAG(Figure, "figure", kBlock)                     \
  NEPHILA_TAG(Font, "font", 0)                              \
  NEPHILA_TAG(Footer, "footer", kBlock)                     \
  NEPHILA_TAG(ForeignObject, "foreignobject", 0)            \
  NEPHILA_TAG(Form, "form", kBlock)                         \
  NEPHILA_TAG(Frame, "frame", kVoid)                        \
  NEPHILA_TAG(H1, "h1", kBlock | kBreakout)                 \
  NEPHILA_TAG(H2, "h2", kBlock | kBreakout)                 \
  NEPHILA_TAG(H3, "h3", kBlock | kBreakout)                 \
  NEPHILA_TAG(H4, "h4", kBlock | kBreakout)                 \
  NEPHILA_TAG(H5, "h5", kBlock | kBreakout)                 \
  NEPHILA_TAG(H6, "h6", kBlock | kBreakout)                 \
  NEPHILA_TAG(Head, "head", kBlock | kBreakout)             \
  NEPHILA_TAG(Header, "header", kBlock)                     \
  NEPHILA_TAG(Hgroup, "hgroup", kBlock)                     \
  NEPHILA_TAG(Hr, "hr", kBlock | kVoid | kBreakout)         \
  NEPHILA_TAG(Html, "html", kBlock)                         \
  NEPHILA_TAG(I, "i", kBreakout)                            \
  NEPHILA_TAG(Iframe, "iframe", kHidden)                    \
  NEPHILA_TAG(Image, "image", kVoid)                        \
  NEPHILA_TAG(Img, "img", kVoid | kBreakout)                \
  NEPHILA_TAG(Input, "input", kVoid)                        \
  NEPHILA_TAG(Keygen, "keygen", kVoid)                      \
  NEPHILA_TAG(Legend, "legend", kBlock)                     \
  NEPHILA_TAG(Li, "li", kBlock | kBreakout)                 \
  NEPHILA_TAG(Link, "link", kVoid)                          \
  NEPHILA_TAG(Listing, "listing", kBlock | kBreakout)       \
  NEPHILA_TAG(Main, "main", kBlock)                         \
  NEPHILA_TAG(Malignmark, "malignmark", 0)                  \
  NEPHILA_TAG(Math, "math", 0)                              \
  NEPHILA_TAG(Menu, "menu", kBlock | kBreakout)             \
  NEPHILA_TAG(Meta, "meta", kVoid | kBreakout)              \
  NEPHILA_TAG(Metadata, "metadata", kHidden)                \
  NEPHILA_TAG(Mglyph, "mglyph", 0)                          \
  NEPHILA_TAG(Mi, "mi", 0)                                  \
  NEPHILA_TAG(Mn, "mn", 0)                                  \
  NEPHILA_TAG(Mo, "mo", 0)                                  \
  NEPHILA_TAG(Ms, "ms", 0)                                  \
  NEPHILA_TAG(Mtext, "mtext", 0)                            \
  NEPHILA_TAG(Nav, "nav", kBlock)                           \
  NEPHILA_TAG(Nobr, "nobr", kBreakout)                      \
  NEPHILA_TAG(Noembed, "noembed", kHidden)                  \
  NEPHILA_TAG(Noframes, "noframes", kHidden)                \
  NEPHILA_TAG(Object, "object", 0)                          \
  NEPHILA_TAG(Ol, "ol", kBlock | kBreakout)                 \
  NEPHILA_TAG(Optgroup, "optgroup", kBlock)                 \
  NEPHILA_TAG(Option, "option", kBlock)                     \
  NEPHILA_TAG(P, "p", kBlock | kBreakout)                   \
  NEPHILA_TAG(Param, "param", kVoid)                        \
  NEPHILA_TAG(Plaintext, "plaintext", kBlock)               \
  NEPHILA_TAG(Pre, "pre", kBlock | kBreakout)               \
  NEPHILA_TAG(Ruby, "ruby", kBreakout)                      \
  NEPHILA_TAG(S, "s", kBreakout)                            \
  NEPHILA_TAG(Script, "script", kHidden)                    \
  NEPHILA_TAG(Search, "search", kBlock)                     \
  NEPHILA_TAG(Section, "section", kBlock)                   \
  NEPHILA_TAG(Select, "select", kBlock)                     \
  NEPHILA_TAG(Small, "small", kBreakout)                    \
  NEPHILA_TAG(Source, "source", kVoid)                      \
  NEPHILA_TAG(Span, "span", kBreakout)                      \
  NEPHILA_TAG(Strike, "strike", kBreakout)                  \
  NEPHILA_TAG(Strong, "strong", kBreakout)                  \
  NEPHILA_TAG(Style, "style", kHidden)                      \
  NEPHILA_TAG(Sub, "sub", kBreakout)                        \
  NEPHILA_TAG(Summary, "summary", kBlock)                   \
  NEPHILA_TAG(Sup, "sup", kBreakout)                        \
  NEPHILA_TAG(Svg, "svg", 0)                                \
  NEPHILA_TAG(Table, "table", kBlock | kBreakout)           \
  NEPHILA_TAG(Tbody, "tbody", kBlock)                       \
  NEPHILA_TAG(Td, "td", kBlock)                             \
  NEPHILA_TAG(Template, "template", kBlock)                 \
  NEPHILA_TAG(Textarea, "textarea", kBlock | kHidden)       \
  NEPHILA_TAG(Tfoot, "tfoot", kBlock)                       \
  NEPHILA_TAG(Th, "th", kBlock)                             \
  NEPHILA_TAG(Thead, "thead", kBlock)                       \
  NEPHILA_TAG(Title, "title", kBlock | kHidden)             \
  NEPHILA_TAG(Tr, "tr", kBlock)                             \
  NEPHILA_TAG(Track, "track", kVoid)                        \
  NEPHILA_TAG(Tt, "tt", kBreakout)                          \
  NEPHILA_TAG(U, "u", kBreakout)                            \
  NEPHILA_TAG(Ul, "ul", kBlock | kBreakout)                 \
  NEPHILA_TAG(Use, "use", 0)                                \
  NEPHILA_TAG(Var, "var", kBreakout)                        \
  NEPHILA_TAG(Video, "video", 0)                            \
  NEPHILA_TAG(Wbr, "wbr", kVoid)                            \
  NEPHILA_TAG(Xmp, "xmp", kBlock)

#define NEPHILA_ATTRS(NEPHILA_ATTR)        \
  NEPHILA_ATTR(Action, "action")           \
  NEPHILA_ATTR(Background, "background")   \
  NEPHILA_ATTR(Charset, "charset")         \
  NEPHILA_ATTR(Color, "color")             \
  NEPHILA_ATTR(Content, "content")         \
  NEPHILA_ATTR(Data, "data")               \
  NEPHILA_ATTR(Encoding, "encoding")       \
  NEPHILA_ATTR(Face, "face")               \
  NEPHILA_ATTR(Href, "href")               \
  NEPHILA_ATTR(HttpEquiv, "http-equiv")    \
  NEPHILA_ATTR(ImageSrcset, "imagesrcset") \
  NEPHILA_ATTR(Method, "method")           \
  NEPHILA_ATTR(Name, "name")               \
  NEPHILA_ATTR(Poster, "poster")           \
  NEPHILA_ATTR(Rel, "rel")                 \
  NEPHILA_ATTR(Size, "size")               \
  NEPHILA_ATTR(Src, "src")                 \
  NEPHILA_ATTR(Srcset, "srcset")           \
  NEPHILA_ATTR(Type, "type")               \
  NEPHILA_ATTR(XlinkHref, "xlink:href")

enum class Tag : uint8_t {
  kOther,
#define NEPHILA_TAG(name, text, flags) k##name,
  NEPHILA_TAGS(NEPHILA_TAG)
#undef NEPHILA_TAG
      kCount,
};

enum class Attr : uint8_t {
  kOther,
#define NEPHILA_ATTR(name, text) k##name,
  NEPHILA_ATTRS(NEPHILA_ATTR)
#undef NEPHILA_ATTR
      kCount,
};

enum TagFlags : uint8_t {
  kBlock = 1,     // stands on lines of its own in text
  kVoid = 2,      // has no end tag
  kBreakout = 4,  // ends foreign content (s13.2.6.5)
  kHidden = 8,    // what is in it is not text of the page
};

inline constexpr std::array kTagNames = {
#define NEPHILA_TAG(name, text, flags) std::string_view(text),
    NEPHILA_TAGS(NEPHILA_TAG)
#undef NEPHILA_TAG
};
inline constexpr std::array kAttrNames = {
#define NEPHILA_ATTR(name, text) std::string_view(text),
    NEPHILA_ATTRS(NEPHILA_ATTR)
#undef NEPHILA_ATTR
};
inline constexpr std::array<uint8_t, kTagNames.size() + 1> kTagFlags = {
    0,
#define NEPHILA_TAG(name, text, flags) flags,
    NEPHILA_TAGS(NEPHILA_TAG)
#undef NEPHILA_TAG
};
inline constexpr NameTable<kTagNames.size()> kTagTable(kTagNames);
inline constexpr NameTable<kAttrNames.size()> kAttrTable(kAttrNames);

inline Tag FindTag(std::string_view name) {
  return static_cast<Tag>(kTagTable.Find(name));
}
inline Attr FindAttr(std::string_view name) {
  return static_cast<Attr>(kAttrTable.Find(name));
}
inline uint8_t FlagsOf(Tag tag) { return kTagFlags[static_cast<size_t>(tag)]; }
// In lower case; empty for kOther.
constexpr std::string_view TagText(Tag tag) {
  return tag == Tag::kOther ? std::string_view()
                            : kTagNames[static_cast<size_t>(tag) - 1];
}
constexpr std::string_view AttrText(Attr attr) {
  return attr == Attr::kOther ? std::string_view()
                              : kAttrNames[static_cast<size_t>(attr) - 1];
}

}  // namespace nephila::parse
