#include "store/digest.h"

#include <gtest/gtest.h>

namespace nephila::store {
namespace {

TEST(DigestTest, IsWrittenAsArchivesHaveIt) {
  // The digest of nothing, well known from every archive's redirects.
  EXPECT_EQ(DigestOf(DigestKind::kSha1, "").Text(),
            "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
  EXPECT_EQ(DigestOf(DigestKind::kSha1, "abc").Text(),
            "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5");
  EXPECT_EQ(DigestOf(DigestKind::kSha256, "").Text(),
            "sha256:"
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

// RFC 4648 s10.
TEST(DigestTest, Base32FollowsTheVectors) {
  EXPECT_EQ(Base32(""), "");
  EXPECT_EQ(Base32("f"), "MY======");
  EXPECT_EQ(Base32("fo"), "MZXQ====");
  EXPECT_EQ(Base32("foo"), "MZXW6===");
  EXPECT_EQ(Base32("foob"), "MZXW6YQ=");
  EXPECT_EQ(Base32("fooba"), "MZXW6YTB");
  EXPECT_EQ(Base32("foobar"), "MZXW6YTBOI======");
}

TEST(DigestTest, ABlockAndItsPayloadInOnePass) {
  const std::string head = "HTTP/1.1 200 OK\r\n\r\n";
  const std::string body(100000, 'x');
  for (const DigestKind kind : {DigestKind::kSha1, DigestKind::kSha256}) {
    BlockDigester digester(kind);
    for (int turn = 0; turn < 2; ++turn) {
      digester.Begin();
      digester.AddToBlock(head);
      digester.AddToBoth(body.substr(0, 5));
      digester.AddToBoth(body.substr(5));
      const auto digests = digester.End();
      EXPECT_EQ(digests.block, DigestOf(kind, head + body));
      EXPECT_EQ(digests.payload, DigestOf(kind, body));
    }
  }
}

TEST(DigestTest, ABlockWithoutAHeadIsItsPayload) {
  BlockDigester digester(DigestKind::kSha1);
  digester.Begin();
  digester.AddToBoth("text");
  auto digests = digester.End();
  EXPECT_EQ(digests.block, DigestOf(DigestKind::kSha1, "text"));
  EXPECT_EQ(digests.payload, digests.block);
}

TEST(DigestTest, AHeadWithoutABodyHasAnEmptyPayload) {
  BlockDigester digester(DigestKind::kSha1);
  digester.Begin();
  digester.AddToBlock("head");
  const auto digests = digester.End();
  EXPECT_EQ(digests.block, DigestOf(DigestKind::kSha1, "head"));
  EXPECT_EQ(digests.payload, DigestOf(DigestKind::kSha1, ""));
}

TEST(DigestTest, ChunksBelongToTheBlockAndWhatIsInThemToThePayload) {
  BlockDigester digester(DigestKind::kSha1);
  digester.Begin();
  digester.AddToBlock("5\r\nhello\r\n0\r\n\r\n");
  digester.AddToPayload("hello");
  const auto digests = digester.End();
  EXPECT_EQ(digests.block,
            DigestOf(DigestKind::kSha1, "5\r\nhello\r\n0\r\n\r\n"));
  EXPECT_EQ(digests.payload, DigestOf(DigestKind::kSha1, "hello"));
}

}  // namespace
}  // namespace nephila::store
