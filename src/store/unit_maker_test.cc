#include "store/unit_maker.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "store/store_testing.h"

namespace nephila::store {
namespace {

class UnitMakerTest : public testing::Test {
 protected:
  UnitMakerTest() {
    WarcWriterOptions options;
    options.folder = "archive";
    writer_ = Must(WarcWriter::OpenAt(fs_, clock_, options, std::nullopt));
  }

  // The records of one page as they are read again.
  std::vector<ReadRecord> Write(
      const TestPage& page,
      const std::optional<Original>& original = std::nullopt) {
    payload_ = maker_.Begin(page.page);
    Must(writer_->Append(maker_.Records(*writer_, original)));
    auto records = ReadArchive(fs_, ArchivePaths(fs_, "archive").at(0));
    std::vector<ReadRecord> fresh(
        records.begin() + static_cast<std::ptrdiff_t>(seen_), records.end());
    seen_ = records.size();
    return fresh;
  }

  MemoryFileSystem fs_;
  ManualClock clock_;
  std::unique_ptr<WarcWriter> writer_;
  UnitMaker maker_{DigestKind::kSha1};
  UnitMaker::Payload payload_;
  size_t seen_ = 1;  // the warcinfo
};

std::string Sha1(std::string_view bytes) {
  return DigestOf(DigestKind::kSha1, bytes).Text();
}

TEST_F(UnitMakerTest, AFetchIsRequestResponseAndMetadata) {
  TestPage page("http://example.com/a?b=c", "<p>hello</p>");
  page.page.via = "http://example.com/";
  page.page.hop_path = "LL";
  page.page.source_tag = "news";
  page.page.attempt = 2;
  page.page.link_count = 17;
  page.page.identified_type = "text/html";
  const std::string_view protocols[] = {"h2", "tls/1.3"};
  page.page.protocols = protocols;
  page.page.cipher_suite = "TLS_AES_128_GCM_SHA256";
  const auto records = Write(page);
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].header.type(), RecordType::kRequest);
  EXPECT_EQ(records[1].header.type(), RecordType::kResponse);
  EXPECT_EQ(records[2].header.type(), RecordType::kMetadata);
  for (const ReadRecord& record : records) {
    EXPECT_EQ(record.header.target_uri(), "http://example.com/a?b=c");
    EXPECT_EQ(record.header.date(), "2026-01-02T03:04:05.678901Z");
  }
  const WarcHeader& response = records[1].header;
  EXPECT_EQ(response.record_id(), maker_.record_id());
  for (const size_t other : {0, 2}) {
    EXPECT_EQ(records[other].header.GetUri("WARC-Concurrent-To"),
              response.record_id());
  }
  EXPECT_EQ(response.Get("WARC-IP-Address"), "192.0.2.7");
  EXPECT_EQ(response.Get("WARC-Protocol"), "h2");
  EXPECT_EQ(response.Count("WARC-Protocol"), 2U);
  EXPECT_EQ(response.Get("WARC-Cipher-Suite"), "TLS_AES_128_GCM_SHA256");
  EXPECT_EQ(response.Get("WARC-Identified-Payload-Type"), "text/html");
  EXPECT_EQ(response.Get("Content-Type"), "application/http; msgtype=response");
  EXPECT_EQ(response.payload_digest(), Sha1("<p>hello</p>"));
  EXPECT_EQ(records[1].block,
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>hello</p>");
  EXPECT_EQ(response.Find("WARC-Truncated"), nullptr);
  EXPECT_EQ(records[0].block, page.page.request);
  EXPECT_EQ(records[0].header.Get("Content-Type"),
            "application/http; msgtype=request");
  EXPECT_EQ(records[2].block,
            "fetchTimeMs: 123\r\nvia: http://example.com/\r\n"
            "hopsFromSeed: LL\r\nsourceTag: news\r\nattempt: 2\r\n"
            "linkCount: 17\r\n");
  EXPECT_EQ(payload_.bytes, 12U);
  EXPECT_FALSE(maker_.revisit());
}

TEST_F(UnitMakerTest, ThePayloadIsWhatTheChunksHold) {
  TestPage page("http://example.com/");
  page.SetHead("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n");
  page.SetBody({"5\r\nhel", "lo\r\n6\r\n world\r\n", "0\r\n\r\n"});
  page.page.transfer_coding = item::TransferCoding::kChunked;
  const auto records = Write(page);
  EXPECT_EQ(records[1].header.payload_digest(), Sha1("hello world"));
  EXPECT_EQ(payload_.bytes, 11U);
  EXPECT_TRUE(
      records[1].block.ends_with("Transfer-Encoding: chunked\r\n\r\n"
                                 "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"));
}

TEST_F(UnitMakerTest, AHeadDoesNotClaimChunksThatWereUndone) {
  TestPage page("http://example.com/", "hello");
  page.SetHead("HTTP/1.1 200 OK\nX: 1\ntransfer-encoding: chunked\nY: 2\n");
  const auto records = Write(page);
  EXPECT_EQ(records[1].block,
            "HTTP/1.1 200 OK\r\nX: 1\r\n"
            "X-Crawl-transfer-encoding: chunked\r\nY: 2\r\n\r\nhello");
  EXPECT_EQ(records[1].header.payload_digest(), Sha1("hello"));
}

TEST_F(UnitMakerTest, ContentCodingsAreKept) {
  TestPage page("http://example.com/", Noise(5000, 1));
  page.SetHead("HTTP/1.1 200 OK\nContent-Encoding: gzip\n");
  const auto records = Write(page);
  EXPECT_EQ(records[1].header.payload_digest(), Sha1(Noise(5000, 1)));
  EXPECT_TRUE(records[1].block.ends_with(Noise(5000, 1)));
}

TEST_F(UnitMakerTest, BodiesThatDoNotCompressAreStored) {
  TestPage image("http://example.com/a.png", Noise(50000, 1));
  image.SetHead("HTTP/1.1 200 OK\nContent-Type: image/png\n");
  maker_.Begin(image.page);
  const auto records = maker_.Records(*writer_, std::nullopt);
  EXPECT_EQ(records[1].store_from, 1U);
  TestPage text("http://example.com/", std::string(50000, 'x'));
  maker_.Begin(text.page);
  EXPECT_GT(maker_.Records(*writer_, std::nullopt)[1].store_from, 100U);
}

TEST_F(UnitMakerTest, Http2IsWrittenAsHttp1) {
  TestPage page("http://example.com/");
  page.page.request = "GET /HTTP/2 HTTP/2\r\nHost: example.com\r\n\r\n";
  page.SetHead("HTTP/2 200 \nvia: HTTP/2\n");
  const auto records = Write(page);
  EXPECT_TRUE(
      records[1].block.starts_with("HTTP/1.1 200 \r\nvia: HTTP/2\r\n\r\n"));
  EXPECT_EQ(records[0].block,
            "GET /HTTP/2 HTTP/1.1\r\nHost: example.com\r\n\r\n");
}

TEST_F(UnitMakerTest, AHeadThatWasCutOffGetsItsEmptyLine) {
  TestPage page("http://example.com/", "");
  page.page.response_head = "HTTP/1.1 200 OK\r\nServer: x";
  page.page.truncation = item::Truncation::kDisconnect;
  const auto records = Write(page);
  EXPECT_EQ(records[1].block, "HTTP/1.1 200 OK\r\nServer: x\r\n\r\n");
  EXPECT_EQ(records[1].header.Get("WARC-Truncated"), "disconnect");
}

TEST_F(UnitMakerTest, TruncationSaysWhy) {
  const std::pair<item::Truncation, std::string_view> kReasons[] = {
      {item::Truncation::kLength, "length"},
      {item::Truncation::kTime, "time"},
      {item::Truncation::kDisconnect, "disconnect"},
      {item::Truncation::kUnspecified, "unspecified"}};
  for (const auto& [truncation, name] : kReasons) {
    TestPage page("http://example.com/");
    page.page.truncation = truncation;
    EXPECT_EQ(Write(page)[1].header.Get("WARC-Truncated"), name);
  }
}

TEST_F(UnitMakerTest, TheSamePayloadAgainIsARevisit) {
  const Original original{"urn:uuid:00000000-0000-4000-8000-000000000001",
                          "http://example.com/first",
                          WallTime(std::chrono::seconds(1'700'000'000))};
  const TestPage page("http://example.com/second", "the same");
  const auto records = Write(page, original);
  ASSERT_EQ(records.size(), 3U);
  const WarcHeader& revisit = records[1].header;
  EXPECT_EQ(revisit.type(), RecordType::kRevisit);
  EXPECT_EQ(revisit.Get("WARC-Profile"),
            "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest");
  EXPECT_EQ(revisit.GetUri("WARC-Refers-To"), original.record_id);
  EXPECT_EQ(revisit.Get("WARC-Refers-To-Target-URI"), original.url);
  EXPECT_EQ(revisit.Get("WARC-Refers-To-Date"), "2023-11-14T22:13:20.000000Z");
  EXPECT_EQ(revisit.payload_digest(), Sha1("the same"));
  EXPECT_EQ(records[1].block, page.page.response_head);
  EXPECT_TRUE(maker_.revisit());
}

TEST_F(UnitMakerTest, NotModifiedIsARevisitOfWhatWasAskedAbout) {
  TestPage page("http://example.com/", "");
  page.SetHead("HTTP/1.1 304 Not Modified\nETag: \"x\"\n");
  // A 304 that nobody asked for is a response like any other.
  EXPECT_EQ(Write(page)[1].header.type(), RecordType::kResponse);
  page.page.earlier = item::EarlierCapture{
      "urn:uuid:00000000-0000-4000-8000-000000000001", "http://example.com/",
      WallTime(std::chrono::seconds(1'700'000'000))};
  const auto records = Write(page);
  const WarcHeader& revisit = records[1].header;
  EXPECT_EQ(revisit.type(), RecordType::kRevisit);
  EXPECT_EQ(revisit.Get("WARC-Profile"),
            "http://netpreserve.org/warc/1.1/revisit/server-not-modified");
  EXPECT_EQ(revisit.Get("WARC-Refers-To-Target-URI"), "http://example.com/");
  EXPECT_EQ(revisit.Get("WARC-Refers-To-Date"), "2023-11-14T22:13:20.000000Z");
  EXPECT_EQ(revisit.Find("WARC-Payload-Digest"), nullptr);
  EXPECT_TRUE(maker_.revisit());
}

TEST_F(UnitMakerTest, AnAnswerOfTheDnsIsAResource) {
  TestPage page("dns:example.com",
                "20260102030405\nexample.com.\t300\tIN\tA\t192.0.2.1\n");
  page.page.kind = item::FetchKind::kDns;
  page.page.outcome = item::FetchOutcome::kDnsAnswer;
  page.page.ip_address = "192.0.2.53";
  const auto records = Write(page);
  ASSERT_EQ(records.size(), 1U);
  const WarcHeader& resource = records[0].header;
  EXPECT_EQ(resource.type(), RecordType::kResource);
  EXPECT_EQ(resource.target_uri(), "dns:example.com");
  EXPECT_EQ(resource.Get("Content-Type"), "text/dns");
  EXPECT_EQ(resource.Get("WARC-IP-Address"), "192.0.2.53");
  EXPECT_EQ(resource.block_digest(), resource.payload_digest());
  EXPECT_EQ(records[0].block, page.page.body[0]);
}

TEST_F(UnitMakerTest, TheWebMakesNoFieldsOfItsOwn) {
  TestPage page("http://example.com/\r\nWARC-Type: evil <x>\xFF");
  page.page.via = "http://x/\r\nevil: 1";
  page.page.cipher_suite = "a\r\nWARC-Evil: 1";
  const auto records = Write(page);
  EXPECT_EQ(records[1].header.target_uri(),
            "http://example.com/%0D%0AWARC-Type:%20evil%20%3Cx%3E%FF");
  EXPECT_EQ(records[1].header.Find("WARC-Evil"), nullptr);
  EXPECT_EQ(records[1].header.Count("WARC-Type"), 1U);
  EXPECT_NE(records[2].block.find("via: http://x/  evil: 1\r\n"),
            std::string::npos);
}

TEST_F(UnitMakerTest, RedactsCredentialsInRequestsOnly) {
  TestPage page("http://example.com/", "body");
  page.page.request =
      "GET / HTTP/2\r\nHost: example.com\r\ncookie: sid=1\r\n"
      "COOKIE: b=2; c=3\r\n folded=4\r\nAuthorization: Basic eDp5\r\n"
      "Proxy-Authorization: Basic eg==\r\nAccept: */*\r\n"
      "X-Cookie: kept\r\n\r\nCookie: of the body\r\n";
  page.page.response_head = "HTTP/1.1 200 OK\r\nSet-Cookie: sid=1\r\n\r\n";
  const std::string sent(page.page.request.substr(12));
  auto records = Write(page);
  EXPECT_EQ(records[0].block, "GET / HTTP/1.1" + sent);
  UnitMaker redacting(DigestKind::kSha1, /*redact_cookies=*/true);
  redacting.Begin(page.page);
  Must(writer_->Append(redacting.Records(*writer_, std::nullopt)));
  records = ReadArchive(fs_, ArchivePaths(fs_, "archive").at(0));
  ASSERT_EQ(records.size(), 7U);
  const ReadRecord& request = records[4];
  EXPECT_EQ(request.block,
            "GET / HTTP/1.1\r\nHost: example.com\r\ncookie: [redacted]\r\n"
            "COOKIE: [redacted]\r\nAuthorization: [redacted]\r\n"
            "Proxy-Authorization: [redacted]\r\nAccept: */*\r\n"
            "X-Cookie: kept\r\n\r\nCookie: of the body\r\n");
  // The digest is that of what is written.
  EXPECT_EQ(request.header.Get("WARC-Block-Digest"), Sha1(request.block));
  EXPECT_EQ(records[5].block,
            "HTTP/1.1 200 OK\r\nSet-Cookie: sid=1\r\n\r\nbody");
}

TEST_F(UnitMakerTest, WithoutARequestThereIsNoRecordOfIt) {
  TestPage page("http://example.com/");
  page.page.request = {};
  EXPECT_EQ(Write(page).size(), 2U);
}

TEST_F(UnitMakerTest, WhatIsNoHttpIsKeptAsItCame) {
  TestPage page("http://example.com/", "body");
  page.page.response_head = "ICY 200 OK\r\n\r\n";
  const auto records = Write(page);
  EXPECT_EQ(records[1].block, "ICY 200 OK\r\n\r\nbody");
  EXPECT_EQ(records[1].header.payload_digest(), Sha1("ICY 200 OK\r\n\r\nbody"));
}

TEST_F(UnitMakerTest, ALineOfBlanksDoesNotEndAHead) {
  TestPage page("http://example.com/", "body");
  page.page.response_head =
      "HTTP/1.1 200 OK\r\nA: b\r\n \r\nContent-Type: text/html\r\n\r\n";
  const auto records = Write(page);
  EXPECT_EQ(records[1].block, std::string(page.page.response_head) + "body");
  EXPECT_EQ(records[1].header.payload_digest(), Sha1("body"));
}

}  // namespace
}  // namespace nephila::store
