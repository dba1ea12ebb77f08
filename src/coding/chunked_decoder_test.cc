#include "coding/chunked_decoder.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>

namespace nephila::coding {
namespace {

using Outcome = ChunkedDecoder::Outcome;

struct Decoded {
  bool operator==(const Decoded&) const = default;
  std::string body;
  Outcome outcome;
};

std::ostream& operator<<(std::ostream& out, const Decoded& decoded) {
  return out << decoded.body << " (" << static_cast<int>(decoded.outcome)
             << ")";
}

// The same in one piece and in pieces of one, two and three bytes.
Decoded Dechunk(std::string_view text) {
  Decoded first;
  for (size_t step : {text.size() + 1, size_t{1}, size_t{2}, size_t{3}}) {
    ChunkedDecoder decoder;
    Decoded decoded;
    auto sink = [&](std::string_view piece) { decoded.body += piece; };
    for (size_t at = 0; at < text.size(); at += step) {
      decoder.Feed(text.substr(at, step), sink);
    }
    decoded.outcome = decoder.Finish(sink);
    if (step == text.size() + 1) {
      first = decoded;
    } else {
      EXPECT_EQ(decoded, first) << text << " by " << step;
    }
  }
  return first;
}

TEST(ChunkedDecoder, JoinsChunks) {
  EXPECT_EQ(Dechunk("4\r\nWiki\r\n6;x=y\r\npedia \r\n0\r\n\r\n"),
            (Decoded{"Wikipedia ", Outcome::kWhole}));
  EXPECT_EQ(Dechunk("000A \n0123456789\n0\nTrailer: x\n\n"),
            (Decoded{"0123456789", Outcome::kWhole}));
  EXPECT_EQ(Dechunk("0\r\n\r\n"), (Decoded{"", Outcome::kWhole}));
}

TEST(ChunkedDecoder, TakesAnEndWithoutATrailer) {
  EXPECT_EQ(Dechunk("1\r\na\r\n0\r\n"), (Decoded{"a", Outcome::kWhole}));
}

TEST(ChunkedDecoder, SaysWhereABodyWasCut) {
  EXPECT_EQ(Dechunk("4\r\nWi"), (Decoded{"Wi", Outcome::kCut}));
  EXPECT_EQ(Dechunk("4\r\nWiki"), (Decoded{"Wiki", Outcome::kCut}));
  EXPECT_EQ(Dechunk("4\r\nWiki\r\n"), (Decoded{"Wiki", Outcome::kCut}));
  EXPECT_EQ(Dechunk("4\r\nWiki\r\n0\r\nX"), (Decoded{"Wiki", Outcome::kCut}));
}

TEST(ChunkedDecoder, GivesOutABodyThatIsNotChunked) {
  for (std::string_view text : {"<html>\n<p>4\r\n", "<html>", "", "\r\nabc",
                                "fedcba98765432100\r\nx", "-1\r\nx"}) {
    EXPECT_EQ(Dechunk(text), (Decoded{std::string(text), Outcome::kNotChunked}))
        << text;
  }
  std::string line(10'000, 'a');
  EXPECT_EQ(Dechunk(line), (Decoded{line, Outcome::kNotChunked}));
}

TEST(ChunkedDecoder, GivesOutTheRestOfABodyThatBreaksOff) {
  EXPECT_EQ(Dechunk("1\r\na\r\nrest of it\n more"),
            (Decoded{"arest of it\n more", Outcome::kBroken}));
  EXPECT_EQ(Dechunk("1\r\nab\r\n0\r\n\r\n").outcome, Outcome::kBroken);
}

TEST(ChunkedDecoder, LeavesOutWhatComesBehindTheEnd) {
  ChunkedDecoder decoder;
  std::string body;
  auto sink = [&](std::string_view piece) { body += piece; };
  decoder.Feed("1\r\na\r\n0\r\n\r\nHTTP/1.1", sink);
  EXPECT_EQ(decoder.Finish(sink), Outcome::kWhole);
  EXPECT_EQ(body, "a");
  EXPECT_EQ(decoder.extra_bytes(), 8u);
}

TEST(ChunkedDecoder, KnowsWhenABodyHasEnded) {
  ChunkedDecoder decoder;
  auto sink = [](std::string_view) {};
  decoder.Feed("1\r\na\r\n0\r\n", sink);
  EXPECT_FALSE(decoder.done());
  decoder.Feed("\r\n", sink);
  EXPECT_TRUE(decoder.done());
}

TEST(ChunkedDecoder, BoundsExtensionsAndTrailers) {
  std::string extension(ChunkedDecoder::kLongestLine, 'x');
  EXPECT_EQ(Dechunk("1\r\na\r\n1;" + extension + "\r\nb\r\n0\r\n\r\n").outcome,
            Outcome::kBroken);
  // A trailer is no payload, however long.
  std::string trailer = "1\r\na\r\n0\r\n";
  for (int i = 0; i < 10'000; ++i) trailer += "Name: value\r\n";
  EXPECT_EQ(Dechunk(trailer), (Decoded{"a", Outcome::kBroken}));
  EXPECT_EQ(Dechunk("1\r\na\r\n0\r\n" + extension + "x"),
            (Decoded{"a", Outcome::kBroken}));
}

TEST(ChunkedDecoder, IsUsedAgain) {
  ChunkedDecoder decoder;
  std::string body;
  auto sink = [&](std::string_view piece) { body += piece; };
  for (std::string_view text : {"<html>", "2\r\nab", "1\r\na\r\n0\r\nX: "}) {
    decoder.Feed(text, sink);
    decoder.Finish(sink);
    decoder.Reset();
    body.clear();
    decoder.Feed("1\r\nb\r\n0\r\n\r\nmore", sink);
    EXPECT_EQ(decoder.Finish(sink), Outcome::kWhole);
    EXPECT_EQ(body, "b");
    EXPECT_EQ(decoder.extra_bytes(), 4u);
    decoder.Reset();
    EXPECT_EQ(decoder.extra_bytes(), 0u);
  }
}

}  // namespace
}  // namespace nephila::coding
