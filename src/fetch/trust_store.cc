#include "fetch/trust_store.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include "base/text.h"

namespace nephila::fetch {
namespace {

const char* VersionName(int version) {
  switch (version) {
    case TLS1_2_VERSION:
      return "tls/1.2";
    case TLS1_3_VERSION:
      return "tls/1.3";
    default:
      return "tls";
  }
}

}  // namespace

Result<std::shared_ptr<const TrustStore>> TrustStore::Load(
    const std::string& file) {
  X509_STORE* const store = X509_STORE_new();
  if (store == nullptr) {
    return Unexpected(Error{ErrorCode::kIo, "no memory for certificates"});
  }
  std::shared_ptr<const TrustStore> trust(new TrustStore(store));
  if (X509_STORE_load_file(store, file.c_str()) != 1) {
    const unsigned long error = ERR_peek_last_error();
    const char* const reason = ERR_reason_error_string(error);
    ERR_clear_error();
    return Unexpected(
        Error{ErrorCode::kInvalidArgument,
              "fetch.ca_file: no certificates in " + EscapeForTerminal(file) +
                  (reason == nullptr ? "" : std::string(": ") + reason) +
                  "; install ca-certificates or name a PEM file"});
  }
  return trust;
}

TrustStore::~TrustStore() { X509_STORE_free(store_); }

bool TrustStore::Apply(ssl_ctx_st* context, const std::string& host) const {
  SSL_CTX_set1_cert_store(context, store_);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  X509_VERIFY_PARAM* const param = SSL_CTX_get0_param(context);
  std::string name = host;
  if (name.size() > 2 && name.front() == '[') {
    name = name.substr(1, name.size() - 2);
  }
  if (X509_VERIFY_PARAM_set1_ip_asc(param, name.c_str()) == 1) return true;
  // The dot that ends a name is not part of what certificates say.
  if (!name.empty() && name.back() == '.') name.pop_back();
  return X509_VERIFY_PARAM_set1_host(param, name.data(), name.size()) == 1;
}

TlsFacts ReadTlsFacts(const ssl_st* connection) {
  TlsFacts facts;
  facts.version = VersionName(SSL_version(connection));
  const SSL_CIPHER* const cipher = SSL_get_current_cipher(connection);
  if (cipher != nullptr) facts.cipher = SSL_CIPHER_standard_name(cipher);
  if (facts.cipher == nullptr) facts.cipher = "";
  facts.certificate_error =
      CertificateErrorText(SSL_get_verify_result(connection));
  const unsigned char* protocol = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(connection, &protocol, &size);
  facts.http2 = size == 2 && protocol[0] == 'h' && protocol[1] == '2';
  return facts;
}

const char* CertificateErrorText(long error) {
  // "Unspecified" is what stands there before anyone has looked.
  return error == X509_V_OK || error == X509_V_ERR_UNSPECIFIED
             ? ""
             : X509_verify_cert_error_string(error);
}

}  // namespace nephila::fetch
