#include "parse/sniff.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "parse/magic.h"

namespace nephila::parse {
namespace {

using std::string_literals::operator""s;

Sniffed SniffAs(std::string_view declared, std::string_view bytes,
                SniffHints hints = {}) {
  return Sniff(ParseMimeType(declared), bytes, hints);
}

std::string Summary(const Sniffed& sniffed) {
  return sniffed.essence + " " + std::string(ContentKindName(sniffed.kind)) +
         (sniffed.declared ? " declared" : "");
}

TEST(Magic, KnowsTheFilesOfTheStandard) {
  struct Case {
    std::string bytes;
    std::string_view type;
  };
  const std::string mp3_frame =
      "\xff\xfb\x90\x00"s + std::string(417 - 4, '\0');
  for (const Case& c : std::vector<Case>{
           {"\0\0\1\0"s, "image/x-icon"},
           {"\0\0\2\0"s, "image/x-icon"},
           {"BM123", "image/bmp"},
           {"GIF87a", "image/gif"},
           {"GIF89a", "image/gif"},
           {"RIFF1234WEBPVP8 ", "image/webp"},
           {"\x89PNG\r\n\x1a\n", "image/png"},
           {"\xff\xd8\xff\xe0", "image/jpeg"},
           {"FORM1234AIFF", "audio/aiff"},
           {"ID3\x04", "audio/mpeg"},
           {"OggS\0"s, "application/ogg"},
           {"MThd\0\0\0\6"s, "audio/midi"},
           {"RIFF1234AVI ", "video/avi"},
           {"RIFF1234WAVE", "audio/wave"},
           {"\0\0\0\x18"
            "ftypmp42\0\0\0\0isommp42"s,
            "video/mp4"},
           {"\0\0\0\x18"
            "ftypisom\0\0\0\0isommp42"s,
            "video/mp4"},
           {"\x1a\x45\xdf\xa3\x93\x42\x82\x88webm\0"s, "video/webm"},
           {mp3_frame + mp3_frame, "audio/mpeg"},
           {"\0\1\0\0"s, "font/ttf"},
           {"OTTO", "font/otf"},
           {"ttcf", "font/collection"},
           {"wOFF", "font/woff"},
           {"wOF2", "font/woff2"},
           {std::string(34, '\1') + "LP", "application/vnd.ms-fontobject"},
           {"\x1f\x8b\x08", "application/x-gzip"},
           {"PK\x03\x04", "application/zip"},
           {"Rar \x1a\x07\0"s, "application/x-rar-compressed"},
           {"%PDF-1.7", "application/pdf"},
           {"%!PS-Adobe-3.0", "application/postscript"},
       }) {
    EXPECT_EQ(IdentifyMagic(c.bytes), c.type) << c.type;
    // No prefix of it is read beyond its end.
    for (size_t i = 0; i < c.bytes.size(); ++i) {
      IdentifyMagic(std::string(c.bytes, 0, i));
    }
  }
  for (std::string_view none :
       {"", "<html>", "RIFF1234XXXX", "\xff\xfb\x90\x01 text", "GIF88a"}) {
    EXPECT_EQ(IdentifyMagic(none), "") << none;
  }
}

TEST(Magic, Mp4AndWebmEndWhereTheyEnd) {
  EXPECT_EQ(IdentifyMagic("\0\0\0\x18"
                          "ftypisom\0\0\0\0isomavc1"s),
            "");
  EXPECT_EQ(IdentifyMagic("\xff\xff\xff\xfc"
                          "ftypmp42"s),
            "");
  EXPECT_EQ(IdentifyMagic("\0\0\0\x17"
                          "ftypmp42\0\0\0\0isommp4"s),
            "");
  EXPECT_EQ(IdentifyMagic("\x1a\x45\xdf\xa3\x42\x82"), "");
  EXPECT_EQ(IdentifyMagic("\x1a\x45\xdf\xa3\x42\x82\x88mkv\0"s), "");
}

TEST(Sniff, ADeclaredTypeThatFitsStands) {
  EXPECT_EQ(Summary(SniffAs("text/html", "<p>")), "text/html html declared");
  EXPECT_EQ(Summary(SniffAs("text/html; charset=x", "words")),
            "text/html html declared");
  EXPECT_EQ(Summary(SniffAs("application/xhtml+xml", "<?xml?><html>")),
            "application/xhtml+xml html declared");
  EXPECT_EQ(Summary(SniffAs("text/plain", "words")),
            "text/plain text declared");
  EXPECT_EQ(Summary(SniffAs("text/css", "a{}")), "text/css css declared");
  EXPECT_EQ(Summary(SniffAs("application/json", "{}")),
            "application/json text declared");
  EXPECT_EQ(Summary(SniffAs("text/javascript", "1")),
            "text/javascript text declared");
  EXPECT_EQ(Summary(SniffAs("application/pdf", "%PDF-")),
            "application/pdf other declared");
  EXPECT_EQ(Summary(SniffAs("image/png", "?")), "image/png other declared");
  EXPECT_EQ(Summary(SniffAs("application/gzip", "?")),
            "application/gzip gzip declared");
  EXPECT_EQ(Summary(SniffAs("image/svg+xml", "<svg>")),
            "image/svg+xml other declared");
}

TEST(Sniff, WithoutATypeTheBytesDecide) {
  for (std::string_view page :
       {"<!DOCTYPE HTML>", " \n<html>", "<HEAD >", "<script>", "<iframe ",
        "<h1>", "<div ", "<font ", "<table>", "<a ", "<style>", "<title>",
        "<b>", "<body ", "<br>", "<p>", "<!--", "\xef\xbb\xbf<html>"}) {
    EXPECT_EQ(Summary(SniffAs("", page)), "text/html html") << page;
  }
  for (std::string_view text : {"", "words", "<article>", "<pre>", "<bx>",
                                "<html", "\xfe\xff", "\xef\xbb\xbfwords"}) {
    EXPECT_EQ(Summary(SniffAs("", text)), "text/plain text") << text;
  }
  EXPECT_EQ(Summary(SniffAs("", " <?xml version='1.0'?><a>")), "text/xml xml");
  EXPECT_EQ(Summary(SniffAs("", "%PDF-1")), "application/pdf other");
  EXPECT_EQ(Summary(SniffAs("", "%!PS-Adobe-")),
            "application/postscript other");
  EXPECT_EQ(Summary(SniffAs("", "GIF89a")), "image/gif other");
  EXPECT_EQ(Summary(SniffAs("", "\x1f\x8b\x08")), "application/x-gzip gzip");
  EXPECT_EQ(Summary(SniffAs("", "a\x01")), "application/octet-stream other");
  EXPECT_EQ(Summary(SniffAs("*/*", "<p>")), "text/html html");
  EXPECT_EQ(Summary(SniffAs("unknown/unknown", "<p>")), "text/html html");
  EXPECT_EQ(Summary(SniffAs("application/octet-stream", "<html>")),
            "text/html html");
}

TEST(Sniff, ATypeThatLiesIsFoundOut) {
  EXPECT_EQ(Summary(SniffAs("text/plain", "<!doctype html><p>")),
            "text/html html");
  EXPECT_EQ(Summary(SniffAs("text/plain", "<html\n>")), "text/html html");
  EXPECT_EQ(Summary(SniffAs("text/plain; charset=utf-8", "<html>")),
            "text/html html");
  // Source code and the like stays text.
  EXPECT_EQ(Summary(SniffAs("text/plain", "<p>x")), "text/plain text declared");
  EXPECT_EQ(Summary(SniffAs("text/html", "%PDF-1.4")), "application/pdf other");
  EXPECT_EQ(Summary(SniffAs("text/html", "\x89PNG\r\n\x1a\n")),
            "image/png other");
  EXPECT_EQ(Summary(SniffAs("text/html", "PK\x03\x04")),
            "application/zip other");
  EXPECT_EQ(Summary(SniffAs("text/xml", "\x1f\x8b\x08\0"s)),
            "application/x-gzip gzip");
  EXPECT_EQ(Summary(SniffAs("text/html", "BMW cars <p>")),
            "text/html html declared");
  EXPECT_EQ(Summary(SniffAs("text/html", "<\0h\0t\0m\0l\0>\0"s)),
            "text/html html declared");
  EXPECT_EQ(Summary(SniffAs("image/png", "\xff\xd8\xff")), "image/jpeg other");
  EXPECT_EQ(Summary(SniffAs("video/mp4", "ID3")), "audio/mpeg other");
}

TEST(Sniff, ApachesTextIsLookedAt) {
  EXPECT_EQ(Summary(SniffAs("text/plain", "a\x01")),
            "application/octet-stream other");
  EXPECT_EQ(Summary(SniffAs("text/plain; charset=UTF-8", "\x7f\x45LF\x02")),
            "application/octet-stream other");
  EXPECT_EQ(Summary(SniffAs("text/plain; charset=koi8-r", "a\x01")),
            "text/plain text declared");
  EXPECT_EQ(Summary(SniffAs("text/plain",
                            "\xff\xfe"
                            "a\0"s)),
            "text/plain text declared");
}

TEST(Sniff, SitemapsAndFeedsAreKnownByTheirRoot) {
  for (std::string_view type : {"text/xml", "application/xml", "text/html"}) {
    EXPECT_EQ(SniffAs(type, "<?xml?><!-- x --><urlset xmlns=''>").kind,
              ContentKind::kSitemap);
    EXPECT_EQ(SniffAs(type, "<sm:sitemapindex>").kind, ContentKind::kSitemap);
    EXPECT_EQ(SniffAs(type, "<!DOCTYPE x><rss version='2.0'>").kind,
              ContentKind::kFeed);
    EXPECT_EQ(SniffAs(type, "\xef\xbb\xbf\n<feed>").kind, ContentKind::kFeed);
    EXPECT_EQ(SniffAs(type, "<rdf:RDF xmlns='http://purl.org/rss/1.0/'>").kind,
              ContentKind::kFeed);
  }
  EXPECT_EQ(Summary(SniffAs("text/html", "<rss>")), "application/rss+xml feed");
  EXPECT_EQ(Summary(SniffAs("text/html", "<feed>")),
            "application/atom+xml feed");
  EXPECT_EQ(SniffAs("text/xml", "<rdf:RDF>").kind, ContentKind::kXml);
  EXPECT_EQ(SniffAs("text/xml", "<html>").kind, ContentKind::kHtml);
  EXPECT_EQ(SniffAs("", "<urlset>").kind, ContentKind::kSitemap);
  EXPECT_EQ(SniffAs("application/rss+xml", "<rss>").kind, ContentKind::kFeed);
}

TEST(Sniff, NosniffBelievesTheHeader) {
  SniffHints nosniff;
  nosniff.nosniff = true;
  EXPECT_EQ(Summary(SniffAs("text/plain", "<html>", nosniff)),
            "text/plain text declared");
  EXPECT_EQ(Summary(SniffAs("text/html", "%PDF-1.4", nosniff)),
            "text/html html declared");
  EXPECT_EQ(Summary(SniffAs("application/octet-stream", "<html>", nosniff)),
            "application/octet-stream other declared");
  EXPECT_EQ(Summary(SniffAs("", "<html>", nosniff)), "text/plain text");
  EXPECT_EQ(Summary(SniffAs("", "GIF89a", nosniff)), "image/gif other");
}

TEST(Sniff, WithoutLeniencyTheStandardDecides) {
  SniffHints strict;
  strict.lenient = false;
  EXPECT_EQ(Summary(SniffAs("text/plain", "<html>", strict)),
            "text/plain text declared");
  EXPECT_EQ(Summary(SniffAs("application/octet-stream", "<html>", strict)),
            "application/octet-stream other declared");
  EXPECT_EQ(Summary(SniffAs("text/html", "%PDF-", strict)),
            "text/html html declared");
  EXPECT_EQ(Summary(SniffAs("", "\xef\xbb\xbf<html>", strict)),
            "text/plain text");
  EXPECT_EQ(Summary(SniffAs("text/html", "<rss>", strict)),
            "application/rss+xml feed");
}

TEST(Sniff, ASettingSaysHowLenient) {
  config::ParseSettings settings;
  EXPECT_EQ(SniffAs("text/plain", "<html>", SniffHintsOf(settings, "")).kind,
            ContentKind::kHtml);
  EXPECT_EQ(
      SniffAs("text/plain", "<html>", SniffHintsOf(settings, "nosniff")).kind,
      ContentKind::kText);
  settings.lenient_types = false;
  EXPECT_EQ(SniffAs("text/plain", "<html>", SniffHintsOf(settings, "")).kind,
            ContentKind::kText);
}

TEST(Sniff, ReadsTheOptionsHeader) {
  EXPECT_TRUE(IsNosniff("nosniff"));
  EXPECT_TRUE(IsNosniff(" NoSniff , x"));
  EXPECT_FALSE(IsNosniff("x, nosniff"));
  EXPECT_FALSE(IsNosniff("nosniffer"));
  EXPECT_FALSE(IsNosniff(""));
}

TEST(Sniff, LooksAtTheBeginningOnly) {
  EXPECT_EQ(SniffAs("", std::string(kSniffBytes, ' ') + "\x01").essence,
            "text/plain");
  EXPECT_EQ(SniffAs("", std::string(kSniffBytes - 1, ' ') + "\x01").essence,
            "application/octet-stream");
}

TEST(Sniff, FindsTheRootElement) {
  EXPECT_EQ(RootElement("<a/>"), "a");
  EXPECT_EQ(RootElement("<?x?> <!-- < --> <!DOCTYPE y> <z:b c>"), "z:b");
  EXPECT_EQ(RootElement("text"), "");
  EXPECT_EQ(RootElement("<!-- "), "");
  EXPECT_EQ(RootElement("<"), "");
}

}  // namespace
}  // namespace nephila::parse
