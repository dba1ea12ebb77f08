// TestNginx: a real web server with certificates of all kinds, made on the spot
// in a temporary folder by the programs nginx and openssl, and gone with it.
//   Cost: about a quarter of a second to start.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "net/ip_address.h"

namespace nephila::fetch {

class TestNginx {
 public:
  // The same ports on an address of its own.
  static constexpr uint16_t kPlain = 8080;
  static constexpr uint16_t kHttp2 = 8443;  // TLS 1.2 and 1.3, HTTP/2 offered
  static constexpr uint16_t kTls12 = 8444;
  static constexpr uint16_t kTls13 = 8445;
  static constexpr uint16_t kExpired = 8446;
  static constexpr uint16_t kSelfSigned = 8447;
  static constexpr uint16_t kTls10 = 8448;

  // Serves /page.html (HTML of 21 KB; as /slow at 256 bytes a second), /big.bin
  // (1 MiB) and /empty, and /moved, which leads to /page.html. Certificates are
  // for good.example and for the address.
  TestNginx();
  ~TestNginx();
  TestNginx(const TestNginx&) = delete;
  TestNginx& operator=(const TestNginx&) = delete;

  // False if it did not start; log() may say why.
  bool running() const { return running_; }
  std::string log() const;
  const net::IpAddress& address() const { return address_; }
  // PEM of the authority that signed the good ones.
  std::string ca_file() const { return folder_ + "/ca.pem"; }
  std::string certificate_file() const { return folder_ + "/good.pem"; }
  std::string key_file() const { return folder_ + "/good.key"; }
  const std::string& page() const { return page_; }
  const std::string& big() const { return big_; }

 private:
  bool MakeCertificates();
  void WriteFiles();
  std::string Configuration() const;
  bool WaitUntilReady() const;

  net::IpAddress address_;
  std::string folder_;
  std::string page_;
  std::string big_;
  pid_t pid_ = -1;
  bool running_ = false;
};

}  // namespace nephila::fetch
