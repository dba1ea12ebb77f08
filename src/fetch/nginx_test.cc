// The engine against a real server: TLS 1.2 and 1.3, certificates that do not
// hold, HTTP/2, connections that are kept, gzip.

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <array>
#include <memory>
#include <string>

#include "coding/content_decoder.h"
#include "fetch/fetch_testing.h"
#include "fetch/nginx_testing.h"

namespace nephila::fetch {
namespace {

using item::FetchOutcome;
using item::Truncation;

int ChooseHttp2(SSL* /*ssl*/, const unsigned char** out, unsigned char* size,
                const unsigned char* /*in*/, unsigned int /*in_size*/,
                void* /*arg*/) {
  static constexpr unsigned char kName[] = {'h', '2'};
  *out = kName;
  *size = sizeof(kName);
  return SSL_TLSEXT_ERR_OK;
}

// Whether a client's bytes hold a frame of HEADERS (RFC 9113 s4.1).
bool HasHeaders(std::string_view bytes) {
  constexpr size_t kPreface = 24;
  constexpr size_t kFrameHead = 9;
  const auto byte = [&](size_t at) {
    return static_cast<size_t>(static_cast<unsigned char>(bytes[at]));
  };
  for (size_t at = kPreface; at + kFrameHead <= bytes.size();) {
    if (byte(at + 3) == 1) return true;
    at += kFrameHead + (byte(at) << 16) + (byte(at + 1) << 8) + byte(at + 2);
  }
  return false;
}

// Answers each request over HTTP/2 with RST_STREAM, HTTP_1_1_REQUIRED.
void WantHttp1(ServerConnection& c, const TestNginx& files) {
  SSL_CTX* const context = SSL_CTX_new(TLS_server_method());
  SSL_CTX_use_certificate_file(context, files.certificate_file().c_str(),
                               SSL_FILETYPE_PEM);
  SSL_CTX_use_PrivateKey_file(context, files.key_file().c_str(),
                              SSL_FILETYPE_PEM);
  SSL_CTX_set_alpn_select_cb(context, &ChooseHttp2, nullptr);
  SSL* const ssl = SSL_new(context);
  SSL_set_fd(ssl, c.fd());
  if (SSL_accept(ssl) == 1) {
    constexpr std::string_view kSettings("\0\0\0\4\0\0\0\0\0", 9);
    constexpr std::string_view kReset("\0\0\4\3\0\0\0\0\1\0\0\0\15", 13);
    SSL_write(ssl, kSettings.data(), static_cast<int>(kSettings.size()));
    std::string bytes;
    std::array<char, 4096> block{};
    while (!HasHeaders(bytes)) {
      const int size = SSL_read(ssl, block.data(), block.size());
      if (size <= 0) break;
      bytes.append(block.data(), static_cast<size_t>(size));
    }
    SSL_write(ssl, kReset.data(), static_cast<int>(kReset.size()));
    c.WaitForClient();
  }
  SSL_free(ssl);
  SSL_CTX_free(context);
}

class NginxTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    nginx_ = std::make_unique<TestNginx>();
    ASSERT_TRUE(nginx_->running()) << nginx_->log();
  }
  static void TearDownTestSuite() { nginx_.reset(); }

  void SetUp() override {
    ASSERT_NE(nginx_, nullptr);
    engine_.settings.ca_file = nginx_->ca_file();
    engine_.settings.accept_encoding = "";
  }

  FetchRequest Ask(uint16_t port, std::string_view path = "/page.html",
                   std::string_view host = "good.example") {
    FetchRequest request;
    request.id = ++engine_.last_id;
    request.host = host;
    request.port = port;
    request.https = port != TestNginx::kPlain;
    request.address = nginx_->address();
    request.url = (request.https ? "https://" : "http://") + std::string(host) +
                  ":" + std::to_string(port) + std::string(path);
    return request;
  }
  std::unique_ptr<FetchResult> Get(uint16_t port,
                                   std::string_view path = "/page.html",
                                   std::string_view host = "good.example") {
    if (engine_.fetcher == nullptr) engine_.Make();
    return engine_.Fetch(Ask(port, path, host));
  }

  static std::string_view Field(const FetchResult& result,
                                std::string_view name) {
    const std::string_view head = result.head;
    const size_t at = head.find("\r\n" + std::string(name) + ": ");
    if (at == std::string_view::npos) return "";
    const size_t begin = at + name.size() + 4;
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }

  static std::unique_ptr<TestNginx> nginx_;
  Engine engine_;
};

std::unique_ptr<TestNginx> NginxTest::nginx_;

TEST_F(NginxTest, PlainHttp) {
  const auto result = Get(TestNginx::kPlain);
  EXPECT_EQ(result->outcome, FetchOutcome::kResponse) << result->error;
  EXPECT_EQ(BodyOf(*result), nginx_->page());
  EXPECT_EQ(Field(*result, "Content-Length"),
            std::to_string(nginx_->page().size()));
  EXPECT_TRUE(result->head.starts_with("HTTP/1.1 200 OK\r\nServer: nginx"));
  EXPECT_EQ(result->address_text, nginx_->address().ToString());
}

TEST_F(NginxTest, Tls12AndTls13) {
  const auto old = Get(TestNginx::kTls12);
  EXPECT_EQ(old->outcome, FetchOutcome::kResponse) << old->error;
  EXPECT_EQ(BodyOf(*old), nginx_->page());
  ASSERT_EQ(old->protocol_count, 2U);
  EXPECT_EQ(old->protocols[0], "http/1.1");
  EXPECT_EQ(old->protocols[1], "tls/1.2");
  EXPECT_TRUE(old->cipher_suite.starts_with("TLS_ECDHE_ECDSA_"))
      << old->cipher_suite;
  EXPECT_EQ(old->certificate_error, "");
  EXPECT_GE(old->timings.tls, old->timings.connect);

  const auto now = Get(TestNginx::kTls13);
  EXPECT_EQ(now->outcome, FetchOutcome::kResponse) << now->error;
  EXPECT_EQ(now->protocols[1], "tls/1.3");
  EXPECT_TRUE(now->cipher_suite.starts_with("TLS_AES_")) << now->cipher_suite;
}

TEST_F(NginxTest, Tls10IsNoLanguageOfOurs) {
  const auto result = Get(TestNginx::kTls10);
  EXPECT_EQ(result->outcome, FetchOutcome::kTlsFailed) << result->error;
  EXPECT_EQ(result->certificate_error, "");
}

TEST_F(NginxTest, Http2ComesAsHttp1Text) {
  const auto result = Get(TestNginx::kHttp2);
  EXPECT_EQ(result->outcome, FetchOutcome::kResponse) << result->error;
  EXPECT_EQ(result->status, 200);
  ASSERT_EQ(result->protocol_count, 2U);
  EXPECT_EQ(result->protocols[0], "h2");
  EXPECT_EQ(result->protocols[1], "tls/1.3");
  EXPECT_TRUE(result->head.starts_with("HTTP/1.1 200 \r\nserver: nginx"))
      << result->head;
  EXPECT_TRUE(result->head.ends_with("\r\n\r\n"));
  EXPECT_EQ(Field(*result, "content-type"), "text/html");
  EXPECT_EQ(BodyOf(*result), nginx_->page());
  EXPECT_EQ(result->request.find("Connection"), std::string::npos);
  EXPECT_TRUE(
      result->request.starts_with("GET /page.html HTTP/1.1\r\nHost: good."));
}

TEST_F(NginxTest, Http2BodiesInFull) {
  const auto big = Get(TestNginx::kHttp2, "/big.bin");
  EXPECT_EQ(big->outcome, FetchOutcome::kResponse) << big->error;
  EXPECT_TRUE(BodyOf(*big) == nginx_->big());
  const auto empty = Get(TestNginx::kHttp2, "/empty");
  EXPECT_EQ(empty->outcome, FetchOutcome::kResponse) << empty->error;
  EXPECT_EQ(BodyOf(*empty), "");
  const auto none = Get(TestNginx::kHttp2, "/nothing/here");
  EXPECT_EQ(none->status, 404);
}

TEST_F(NginxTest, Http2IsASetting) {
  engine_.settings.http2 = false;
  const auto result = Get(TestNginx::kHttp2);
  EXPECT_EQ(result->outcome, FetchOutcome::kResponse) << result->error;
  EXPECT_EQ(result->protocols[0], "http/1.1");
  EXPECT_TRUE(result->head.starts_with("HTTP/1.1 200 OK\r\n"));
}

TEST_F(NginxTest, Http2BodiesAreCutAtTheLimit) {
  engine_.settings.max_body_bytes = 10'000;
  const auto result = Get(TestNginx::kHttp2, "/big.bin");
  EXPECT_EQ(result->outcome, FetchOutcome::kResponse);
  EXPECT_EQ(result->truncation, Truncation::kLength);
  EXPECT_EQ(BodyOf(*result), nginx_->big().substr(0, 10'000));
}

// The rest of its stream would still come.
TEST_F(NginxTest, Http2ConnectionsAreNotKeptBehindWhatWasCut) {
  engine_.settings.max_body_bytes = 100'000;
  engine_.Make();
  FetchRequest request = Ask(TestNginx::kHttp2, "/big.bin");
  request.keep_connection = true;
  const auto result = engine_.Fetch(std::move(request));
  EXPECT_EQ(result->truncation, Truncation::kLength);
  EXPECT_FALSE(result->kept);
  EXPECT_EQ(engine_.fetcher->kept_connections(), 0U);
  const uint64_t id = [&] {
    FetchRequest slow = Ask(TestNginx::kHttp2, "/slow");
    slow.keep_connection = true;
    return engine_.Start(std::move(slow));
  }();
  while (engine_.share->held_bytes() == 0) {
    engine_.loop->RunOnce(engine_.clock.Now() + std::chrono::seconds(1));
  }
  engine_.fetcher->Cancel(id);
  engine_.Run();
  EXPECT_EQ(engine_.fetcher->kept_connections(), 0U);
}

TEST_F(NginxTest, AServerThatWantsHttp1SaysSo) {
  ScriptedServer server([](ServerConnection& c) { WantHttp1(c, *nginx_); });
  engine_.Make();
  FetchRequest request = Ask(server.port());
  request.address = server.address();
  const auto result = engine_.Fetch(std::move(request));
  EXPECT_EQ(result->outcome, FetchOutcome::kConnectionLost);
  EXPECT_EQ(result->error, "http1-only");
  EXPECT_EQ(server.accepted(), 1U);
}

TEST_F(NginxTest, Http2BodiesPauseForTheRate) {
  engine_.rate = std::make_unique<RateLimit>(engine_.settings, engine_.clock);
  engine_.rate->SetBytesPerSecond(4 << 20);
  engine_.Make();
  for (int i = 0; i < 3; ++i) {
    engine_.Start(Ask(TestNginx::kHttp2, "/big.bin"));
  }
  engine_.Run();
  for (const auto& [id, result] : engine_.results) {
    EXPECT_EQ(result->truncation, Truncation::kNone) << result->error;
    EXPECT_TRUE(BodyOf(*result) == nginx_->big());
  }
  EXPECT_EQ(engine_.results.size(), 3U);
}

TEST_F(NginxTest, Http2BodiesPauseForThePool) {
  engine_.body_memory = 160 * BodyPool::kBlockBytes;
  engine_.Make();
  for (int i = 0; i < 3; ++i) {
    engine_.Start(Ask(TestNginx::kHttp2, "/big.bin"));
  }
  engine_.Run();
  for (const auto& [id, result] : engine_.results) {
    EXPECT_EQ(result->outcome, FetchOutcome::kResponse) << result->error;
    const std::string body = BodyOf(*result);
    EXPECT_EQ(result->truncation == Truncation::kNone,
              body.size() == nginx_->big().size());
    EXPECT_TRUE(nginx_->big().starts_with(body));
  }
  EXPECT_EQ(engine_.results.size(), 3U);
}

TEST_F(NginxTest, Http2CanBeLeftOutOfARequest) {
  engine_.Make();
  for (const bool http2 : {true, false, true}) {
    FetchRequest request = Ask(TestNginx::kHttp2);
    request.keep_connection = true;
    request.http2 = http2;
    const auto result = engine_.Fetch(std::move(request));
    EXPECT_EQ(result->outcome, FetchOutcome::kResponse) << result->error;
    EXPECT_EQ(result->protocols[0], http2 ? "h2" : "http/1.1");
  }
}

TEST_F(NginxTest, Http2HeadsCanBeUnwanted) {
  engine_.settings.accept_types = {"text/html"};
  EXPECT_EQ(Get(TestNginx::kHttp2, "/big.bin")->outcome,
            FetchOutcome::kUnwanted);
  EXPECT_EQ(Get(TestNginx::kHttp2)->outcome, FetchOutcome::kResponse);
}

TEST_F(NginxTest, ConnectionsAreKeptOverTlsAndHttp2) {
  engine_.Make();
  for (const uint16_t port : {TestNginx::kPlain, TestNginx::kTls12,
                              TestNginx::kTls13, TestNginx::kHttp2}) {
    for (int i = 0; i < 3; ++i) {
      FetchRequest request = Ask(port);
      request.keep_connection = i < 2;
      const auto result = engine_.Fetch(std::move(request));
      EXPECT_EQ(result->outcome, FetchOutcome::kResponse) << result->error;
      EXPECT_EQ(result->reused, i > 0) << port;
      EXPECT_EQ(result->kept, i < 2) << port;
      EXPECT_EQ(BodyOf(*result), nginx_->page());
      if (port != TestNginx::kPlain) {
        EXPECT_EQ(result->protocol_count, 2U);
        EXPECT_NE(result->cipher_suite, "");
      }
    }
  }
}

TEST_F(NginxTest, GzipStaysGzipInItsChunks) {
  engine_.settings.accept_encoding = "gzip";
  const auto result = Get(TestNginx::kPlain);
  EXPECT_EQ(Field(*result, "Content-Encoding"), "gzip");
  EXPECT_EQ(Field(*result, "Transfer-Encoding"), "chunked");
  EXPECT_EQ(result->transfer_coding, item::TransferCoding::kChunked);
  std::string payload;
  coding::ChunkedDecoder chunks;
  const auto take = [&](std::string_view piece) { payload.append(piece); };
  chunks.Feed(BodyOf(*result), take);
  EXPECT_EQ(chunks.Finish(take), coding::ChunkedDecoder::Outcome::kWhole);
  EXPECT_TRUE(payload.starts_with("\x1f\x8b"));

  const auto two = Get(TestNginx::kHttp2);
  EXPECT_EQ(Field(*two, "content-encoding"), "gzip");
  EXPECT_EQ(two->transfer_coding, item::TransferCoding::kRemoved);
  EXPECT_EQ(BodyOf(*two), payload);
}

TEST_F(NginxTest, NotModified) {
  engine_.Make();
  const auto first = engine_.Fetch(Ask(TestNginx::kPlain));
  FetchRequest request = Ask(TestNginx::kPlain);
  request.if_none_match = Field(*first, "ETag");
  request.if_modified_since = Field(*first, "Last-Modified");
  const auto second = engine_.Fetch(std::move(request));
  EXPECT_EQ(second->outcome, FetchOutcome::kResponse);
  EXPECT_EQ(second->status, 304);
  EXPECT_EQ(BodyOf(*second), "");
}

struct BadCertificate {
  uint16_t port;
  std::string_view host;
  std::string_view error;
};

constexpr BadCertificate kBadCertificates[] = {
    {TestNginx::kTls13, "wrong.example", "hostname mismatch"},
    {TestNginx::kExpired, "good.example", "certificate has expired"},
    {TestNginx::kSelfSigned, "good.example", "self-signed certificate"},
    {TestNginx::kTls12, "127.0.0.9", "IP address mismatch"},
};

TEST_F(NginxTest, CertificatesThatDoNotHoldAreRefusedAndCounted) {
  uint64_t errors = 0;
  for (const auto& [port, host, error] : kBadCertificates) {
    const auto result = Get(port, "/page.html", host);
    EXPECT_EQ(result->outcome, FetchOutcome::kTlsFailed) << result->error;
    EXPECT_EQ(result->certificate_error, error) << port;
    EXPECT_EQ(result->request, "");
    EXPECT_EQ(engine_.fetcher->counts().certificate_errors.value(), ++errors);
  }
}

TEST_F(NginxTest, OrAcceptedAndCounted) {
  engine_.settings.tls_errors = config::TlsErrors::kAccept;
  uint64_t errors = 0;
  for (const auto& [port, host, error] : kBadCertificates) {
    const auto result = Get(port, "/page.html", host);
    EXPECT_EQ(result->outcome, FetchOutcome::kResponse) << result->error;
    EXPECT_EQ(result->certificate_error, error) << port;
    EXPECT_EQ(BodyOf(*result), nginx_->page());
    EXPECT_EQ(engine_.fetcher->counts().certificate_errors.value(), ++errors);
  }
  // A good one is not counted, nor is one of a kept connection forgotten.
  EXPECT_EQ(Get(TestNginx::kTls12)->certificate_error, "");
  for (int i = 0; i < 2; ++i) {
    FetchRequest request = Ask(TestNginx::kExpired);
    request.keep_connection = true;
    const auto result = engine_.Fetch(std::move(request));
    EXPECT_EQ(result->reused, i > 0);
    EXPECT_EQ(result->certificate_error, "certificate has expired");
  }
}

TEST_F(NginxTest, CertificatesOfOtherAuthoritiesAreRefused) {
  // The system's bundle does not know the test's.
  engine_.settings.ca_file = config::FetchSettings().ca_file;
  const auto result = Get(TestNginx::kTls13);
  EXPECT_EQ(result->outcome, FetchOutcome::kTlsFailed);
  EXPECT_EQ(result->certificate_error,
            "unable to get local issuer certificate");
}

TEST_F(NginxTest, HostsThatTheCertificateNamesOtherwise) {
  for (const std::string& host :
       {std::string("a.wild.example"), nginx_->address().ToString(),
        std::string("good.example.")}) {
    const auto result = Get(TestNginx::kTls13, "/page.html", host);
    EXPECT_EQ(result->outcome, FetchOutcome::kResponse)
        << host << ": " << result->error;
  }
}

TEST_F(NginxTest, NoCertificatesNoStart) {
  const auto options = FetchOptions::Make(
      engine_.agent, config::FetchSettings{.ca_file = "/nonexistent.pem"});
  ASSERT_FALSE(options.has_value());
  EXPECT_TRUE(options.error().message.starts_with("fetch.ca_file: "))
      << options.error().message;
}

}  // namespace
}  // namespace nephila::fetch
