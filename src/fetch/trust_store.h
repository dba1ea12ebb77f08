// TrustStore: the authorities that certificates are checked against, read once
// and shared by all connections of all threads.
//
// libcurl would read the file again for every handle of many transfers, which
// takes tens of milliseconds and a megabyte each time.
//   Threads: any; it never changes.   Memory: about 1 MB for Debian's bundle.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

// OpenSSL's, whose headers only the .cc files need.
struct ssl_ctx_st;
struct ssl_st;
struct x509_store_st;

namespace nephila::fetch {

class TrustStore {
 public:
  // Of a PEM file.
  static Result<std::shared_ptr<const TrustStore>> Load(
      const std::string& file);
  ~TrustStore();
  TrustStore(const TrustStore&) = delete;
  TrustStore& operator=(const TrustStore&) = delete;

  // Makes a context of libcurl's check against these, for the host, which is
  // a name or an address; and lets idle connections give up their buffers,
  // 32 KiB each (SSL_MODE_RELEASE_BUFFERS). Where libcurl does not ask for a
  // verdict the check is made all the same, so that its error is known.
  bool Apply(ssl_ctx_st* context, const std::string& host) const;

 private:
  explicit TrustStore(x509_store_st* store) : store_(store) {}
  x509_store_st* const store_;
};

// What TLS agreed upon.
struct TlsFacts {
  const char* version = "";  // as WARC-Protocol names it: "tls/1.3"
  const char* cipher = "";
  // "certificate has expired"; "" if it holds.
  const char* certificate_error = "";
  bool http2 = false;  // by ALPN (RFC 7301)
};
TlsFacts ReadTlsFacts(const ssl_st* connection);

// The words for an X509_V_ERR number; "" for none.
const char* CertificateErrorText(long error);

}  // namespace nephila::fetch
