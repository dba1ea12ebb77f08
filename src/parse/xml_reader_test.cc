#include "parse/xml_reader.h"

#include <gtest/gtest.h>

#include <string>

namespace nephila::parse {
namespace {

// Writes what it hears: "(a [x=1] text )a".
class Recorder : public XmlSink {
 public:
  void OnStart(const XmlTag& tag) override {
    Flush();
    log += "(" + std::string(tag.name());
    std::string value;
    if (tag.Attribute("x", &value)) log += "[" + value + "]";
  }
  void OnEnd(std::string_view name) override {
    Flush();
    log += ")" + std::string(name);
  }
  void OnText(std::string_view text, bool cut) override {
    text_ += text;
    if (cut) text_ += "...";
  }
  void Flush() {
    if (!text_.empty()) log += "{" + text_ + "}";
    text_.clear();
  }

  std::string log;

 private:
  std::string text_;
};

std::string Read(std::string_view text, XmlLimits limits = {}) {
  Recorder whole;
  XmlReader reader(limits, &whole);
  reader.Feed(text);
  // In pieces it must be the same.
  for (size_t size : {1, 2, 3, 7}) {
    Recorder pieces;
    XmlReader again(limits, &pieces);
    for (size_t at = 0; at < text.size(); at += size) {
      again.Feed(text.substr(at, size));
    }
    EXPECT_EQ(pieces.log, whole.log) << text;
    EXPECT_EQ(again.complete(), reader.complete());
    EXPECT_EQ(again.too_deep(), reader.too_deep());
  }
  return whole.log;
}

TEST(XmlReader, ReadsElementsTextAndAttributes) {
  EXPECT_EQ(Read("<a>x<b x='1'/>y</a>"), "(a{x}(b[1])b{y})a");
  EXPECT_EQ(Read("<s:a x = \"&lt;1>\"></s:a>"), "(s:a[<1>])s:a");
  EXPECT_EQ(Read("<a y='x=2' x=3 />"), "(a[3])a");
  EXPECT_EQ(Read("<a\nx\t=\n'1'\n>\n</a\n>"), "(a[1]{\n})a");
  EXPECT_EQ(Read("<a x></a>"), "(a[])a");
}

TEST(XmlReader, ResolvesOnlyTheEntitiesOfXml) {
  EXPECT_EQ(Read("<a>&amp;&lt;&gt;&quot;&apos;&#65;&#x42;</a>"),
            "(a{&<>\"'AB})a");
  EXPECT_EQ(Read("<a>&nbsp;&;& &#0;&#xd800;&#x110000;&#zz;&amp</a>"),
            "(a{&nbsp;&;& &#0;&#xd800;&#x110000;&#zz;&amp})a");
  EXPECT_EQ(Read("<!DOCTYPE a [<!ENTITY e 'boom'>]><a>&e;</a>"), "(a{&e;})a");
  EXPECT_EQ(Read("<a>&amp;amp;</a>"), "(a{&amp;})a");
}

TEST(XmlReader, SkipsWhatIsNotContent) {
  EXPECT_EQ(
      Read("<?xml version='1.0'?><!-- <b> --><a><?p <c> ?>x<!-->-->y</a>"),
      "(a{xy})a");
  EXPECT_EQ(Read("<!DOCTYPE a [ <!ELEMENT b (c)> <!ATTLIST x y \">]\"> ]><a/>"),
            "(a)a");
  EXPECT_EQ(Read("<!><a/>"), "(a)a");
}

TEST(XmlReader, CdataIsTextWithoutEntities) {
  EXPECT_EQ(Read("<a>&lt;<![CDATA[<b>&amp;]]]]><![CDATA[>]]>&gt;</a>"),
            "(a{<<b>&amp;]]>>})a");
  EXPECT_EQ(Read("<a><![CDATA[]]]]]>x</a>"), "(a{]]]x})a");
  EXPECT_EQ(Read("<a><![CDATA[]>]]></a>"), "(a{]>})a");
}

TEST(XmlReader, ForgivesWhatIsNotWellFormed) {
  EXPECT_EQ(Read("<a><b>x</a>"), "(a(b{x})b)a");
  EXPECT_EQ(Read("<a>x</c></a>"), "(a{x})a");
  EXPECT_EQ(Read("<a>1 < 2 << 3<b/></a>"), "(a{1 < 2 << 3}(b)b)a");
  EXPECT_EQ(Read("<a x='1' don't>y</a>"), "(a[1]{y})a");
  EXPECT_EQ(Read("<a>&b</a>&c"), "(a{&b})a");
  EXPECT_EQ(Read("<a><b"), "(a");
  EXPECT_EQ(Read("</a><a/>"), "(a)a");
}

TEST(XmlReader, KnowsWhenTheRootIsClosed) {
  Recorder sink;
  XmlReader reader({}, &sink);
  EXPECT_FALSE(reader.complete());
  reader.Feed("<a><b/>");
  EXPECT_FALSE(reader.complete());
  reader.Feed("</a>");
  EXPECT_TRUE(reader.complete());
}

TEST(XmlReader, DepthTagsAndTextAreBounded) {
  XmlLimits limits;
  limits.max_depth = 3;
  EXPECT_EQ(Read("<a><b><c><d>x", limits), "(a(b(c");
  Recorder sink;
  XmlReader reader(limits, &sink);
  EXPECT_TRUE(reader.Feed("<a><b><c></c><c>"));
  EXPECT_FALSE(reader.Feed("<d>"));
  EXPECT_TRUE(reader.too_deep());

  limits = {};
  limits.max_tag_bytes = 16;
  EXPECT_EQ(Read("<a><b x='0123456789abcdef'>y</b></a>", limits), "(a{y})a");
  limits = {};
  limits.max_text_bytes = 4;
  EXPECT_EQ(Read("<a>12345</a>", limits), "(a{1234...})a");
  EXPECT_EQ(Read("<a><![CDATA[12345]]></a>", limits), "(a{1234...})a");
  EXPECT_EQ(Read("<a>1234</a>", limits), "(a{1234})a");
}

TEST(XmlReader, CountsTagsThatAreTooLong) {
  XmlLimits limits;
  limits.max_tag_bytes = 8;
  Recorder sink;
  XmlReader reader(limits, &sink);
  reader.Feed("<a><b y='0123456789'/></a>");
  EXPECT_EQ(reader.oversized_tags(), 1u);
}

}  // namespace
}  // namespace nephila::parse
