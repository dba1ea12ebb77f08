// The callbacks of Transfer: what runs inside libcurl.

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/ascii.h"
#include "base/check.h"
#include "fetch/transfer.h"
#include "fetch/trust_store.h"

namespace nephila::fetch {
namespace {

constexpr int kSwitchingProtocols = 101;

// Room comes as finished pages are parsed. Who finds none for this long gives
// back what it holds.
constexpr std::chrono::seconds kLongestStarving(1);

bool IsBlank(std::string_view line) {
  return line == "\r\n" || line == "\n" || line.empty();
}

// The value of "Name: value" if that is the name.
std::optional<std::string_view> ValueOf(std::string_view line,
                                        std::string_view name) {
  if (line.size() <= name.size() || line[name.size()] != ':' ||
      !StartsWithIgnoreCase(line, name)) {
    return std::nullopt;
  }
  return TrimSpaces(line.substr(name.size() + 1));
}

// Whether libcurl reads the body in chunks. It does so if any coding is
// chunked, where RFC 9112 s6.1 wants the last one; what it takes for the end of
// the body must be the end for us.
bool NamesChunked(std::string_view codings) {
  while (!codings.empty()) {
    const size_t comma = std::min(codings.find(','), codings.size());
    if (EqualsIgnoreCase(TrimSpaces(codings.substr(0, comma)), "chunked")) {
      return true;
    }
    codings.remove_prefix(std::min(comma + 1, codings.size()));
  }
  return false;
}

}  // namespace

size_t Transfer::OnHeader(char* data, size_t size, size_t count, void* self) {
  const std::string_view line(data, size * count);
  // Any other number than that of the bytes ends the transfer.
  return static_cast<Transfer*>(self)->HeaderLine(line) ? line.size() : 0;
}

bool Transfer::Refuse(Stop stop) {
  set_stop(stop);
  return false;
}

bool Transfer::HeaderLine(std::string_view line) {
  head_bytes_ += line.size();
  shared_.owner.OnBytes(line.size());
  if (head_bytes_ > limits_.max_head_bytes) return Refuse(Stop::kHeadSize);
  if (!ChargeHead()) return Refuse(Stop::kPool);
  if (!in_head_ && !head_complete_) return FirstLine(line);
  if (in_head_ && IsBlank(line)) {
    result_->head.append(line);
    in_head_ = false;
    return HeadDone();
  }
  if (++head_fields_ > limits_.max_head_fields) {
    return Refuse(Stop::kHeadSize);
  }
  // Else a trailer, which belongs to no head: HTTP/1.1's stand among the
  // chunks of the body, HTTP/2's have no place in HTTP/1.1's form.
  if (in_head_) FieldLine(line);
  return true;
}

bool Transfer::FirstLine(std::string_view line) {
  in_head_ = true;
  chunked_ = false;
  content_type_.clear();
  content_length_.reset();
  // Of several heads the final one is kept (RFC 9110 s15.2).
  result_->head.clear();
  if (result_->timings.first_byte.count() == 0) {
    result_->timings.first_byte =
        shared_.loop.clock().Now() - result_->begin_mono;
    NoteContact();
    FillProtocols();
  }
  // What an HTTP/1 server calls its version does not change the protocol.
  constexpr std::string_view kHttp2 = "HTTP/2 ";
  if (http2_ ? !line.starts_with(kHttp2)
             : !StartsWithIgnoreCase(line, "HTTP/1")) {
    return Refuse(Stop::kNotHttp);
  }
  if (http2_) {
    result_->head.append("HTTP/1.1 ");
    line.remove_prefix(kHttp2.size());
  }
  result_->head.append(line);
  return true;
}

void Transfer::FillProtocols() {
  long version = 0;
  curl_easy_getinfo(easy_, CURLINFO_HTTP_VERSION, &version);
  result_->protocol_count = 1;
  result_->protocols[0] =
      version == CURL_HTTP_VERSION_1_0 ? "http/1.0" : "http/1.1";
  if (!request_.https) return;
  curl_tlssessioninfo* session = nullptr;
  curl_easy_getinfo(easy_, CURLINFO_TLS_SSL_PTR, &session);
  if (session == nullptr || session->internals == nullptr) return;
  const TlsFacts facts =
      ReadTlsFacts(static_cast<const ssl_st*>(session->internals));
  http2_ = facts.http2;
  if (http2_) result_->protocols[0] = "h2";
  result_->protocols[1] = facts.version;
  result_->protocol_count = 2;
  result_->cipher_suite = facts.cipher;
  result_->certificate_error = facts.certificate_error;
}

void Transfer::FieldLine(std::string_view line) {
  result_->head.append(line);
  if (const auto codings = ValueOf(line, "transfer-encoding")) {
    chunked_ = chunked_ || NamesChunked(*codings);
  } else if (const auto type = ValueOf(line, "content-type")) {
    content_type_ = *type;
  } else if (const auto length = ValueOf(line, "content-length")) {
    uint64_t bytes = 0;
    const auto [end, error] =
        std::from_chars(length->data(), length->data() + length->size(), bytes);
    if (error == std::errc() && end == length->data() + length->size()) {
      content_length_ = bytes;
    }
  }
}

bool Transfer::HeadDone() {
  long status = 0;
  curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
  // Nobody asked for another protocol.
  if (status == kSwitchingProtocols) return Refuse(Stop::kNotHttp);
  if (status < 200) return true;  // the next head begins
  head_complete_ = true;
  result_->status = static_cast<int>(status);
  NotePhase(Phase::kBody);
  if (request_.kind == item::FetchKind::kPage && status < 300 &&
      shared_.options.wanted.Check(content_type_, content_length_) !=
          WantedVerdict::kTake) {
    return Refuse(Stop::kUnwanted);
  }
  return true;
}

void Transfer::NotePhase(Phase phase) {
  phase_ = phase;
  if (phase == Phase::kBody) {
    window_start_ = shared_.loop.clock().Now();
    speed_.Begin(ReadTime(window_start_));
  }
  if (Deadline() < armed) shared_.owner.OnDeadline(this);
}

size_t Transfer::OnBody(char* data, size_t size, size_t count, void* self) {
  return static_cast<Transfer*>(self)->BodyBytes({data, size * count});
}

// The part of a delivery that belongs to the body and is not in it yet.
std::string_view Transfer::OwnBytes(std::string_view bytes) {
  if (!chunked_ || http2_) return bytes.substr(taken_);
  const std::string_view unseen = bytes.substr(scanned_);
  if (!body_ended_) {
    const uint64_t extra = chunks_.extra_bytes();
    chunks_.Feed(unseen, [](std::string_view) {});
    body_ended_ = chunks_.done();
    own_ = bytes.size() - static_cast<size_t>(chunks_.extra_bytes() - extra);
  }
  scanned_ = bytes.size();
  return bytes.substr(0, own_).substr(taken_);
}

size_t Transfer::BodyBytes(std::string_view bytes) {
  if (bytes.empty() || stop_ != Stop::kNone) return 0;
  if (!shared_.owner.MayRead(this)) {
    return Pause();
  }
  const std::string_view own = OwnBytes(bytes);
  const uint64_t room = limits_.max_body_bytes - result_->body.size_bytes();
  const std::string_view wanted =
      own.substr(0, std::min<uint64_t>(room, own.size()));
  const size_t taken = result_->body.Append(wanted);
  speed_.Count(taken, ReadTime(shared_.loop.clock().Now()));
  shared_.owner.OnBytes(taken);
  if (taken == own.size()) {
    scanned_ = own_ = taken_ = 0;
    starved_ = false;
    return bytes.size();
  }
  if (taken == wanted.size()) {
    set_stop(Stop::kLength);
    return 0;
  }
  const MonoTime now = shared_.loop.clock().Now();
  if (!starved_) starved_since_ = now;
  if (now - starved_since_ > kLongestStarving) {
    set_stop(Stop::kPool);
    return 0;
  }
  taken_ += taken;
  starved_ = true;
  shared_.owner.OnStarved(this);
  return Pause();
}

size_t Transfer::Pause() {
  paused_ = true;
  paused_at_ = shared_.loop.clock().Now();
  return CURL_WRITEFUNC_PAUSE;
}

void Transfer::NoteConnected() {
  if (connected_) return;
  connected_ = true;
  connected_at_ = shared_.loop.clock().Now();
  if (opened_) NoteContact();
}

// A new connection has come to the server; a request over a kept one may take
// its time, and is there when it is answered.
void Transfer::NoteContact() {
  if (contact_ != MonoTime{}) return;
  contact_ = shared_.loop.clock().Now();
  shared_.owner.OnContact(this);
}

// Of the server; behind a proxy the one that it was asked for.
void Transfer::NoteAddress(const net::IpAddress& address, uint16_t port) {
  const bool proxied = shared_.options.proxy_address.has_value();
  result_->address = proxied ? request_.address : address;
  result_->address_text = result_->address.ToString();
  result_->port = proxied ? request_.port : port;
}

int Transfer::OnRequest(void* self, char* server_ip, char* /*local_ip*/,
                        int server_port, int /*local_port*/) {
  auto* const transfer = static_cast<Transfer*>(self);
  // Another kept connection took the place of one that broke.
  if (transfer->asked_) {
    transfer->set_stop(Stop::kSecondContact);
    return CURL_PREREQFUNC_ABORT;
  }
  transfer->NoteStarted();
  transfer->NoteConnected();
  transfer->Unclaim();
  if (transfer->keep_ && transfer->opened_) {
    MultiPool& multis = transfer->shared_.multis;
    multis.NoteOpened(transfer->fd_, transfer->server_, *transfer->multi_);
    multis.Hold(transfer->server_, *transfer->multi_);
    transfer->holds_ = true;
  }
  transfer->asked_ = true;
  transfer->asked_at_ = transfer->shared_.loop.clock().Now();
  const std::optional<net::IpAddress> address =
      net::IpAddress::Parse(server_ip);
  if (address.has_value()) {
    transfer->NoteAddress(*address, static_cast<uint16_t>(server_port));
  }
  transfer->NotePhase(Phase::kWaiting);
  return CURL_PREREQFUNC_OK;
}

curl_socket_t Transfer::OnOpenSocket(void* self, curlsocktype /*purpose*/,
                                     curl_sockaddr* address) {
  return static_cast<Transfer*>(self)->OpenSocket(*address);
}

curl_socket_t Transfer::OpenSocket(const curl_sockaddr& address) {
  NoteStarted();
  // The connection that it was begun with is gone.
  Unhold();
  // A kept connection broke under the request, and libcurl would ask again
  // over a new one at once: a contact that politeness knows nothing of.
  if (asked_ || opened_) {
    // It does so behind a new connection only if that speaks HTTP/2 and the
    // server refused the stream or said HTTP_1_1_REQUIRED (RFC 9113 s7).
    set_stop(asked_ && opened_ ? Stop::kHttp1Only : Stop::kSecondContact);
    return CURL_SOCKET_BAD;
  }
  const std::optional<net::IpAddress> ip = net::IpAddress::FromSockaddr(
      address.addr, static_cast<socklen_t>(address.addrlen));
  // The proxy is the operator's; what it is asked for was checked before.
  if (shared_.options.proxy.empty() &&
      (!ip.has_value() || shared_.guard.Check(*ip).refused())) {
    set_stop(Stop::kGuard);
    return CURL_SOCKET_BAD;
  }
  const int fd =
      socket(address.family, address.socktype | SOCK_CLOEXEC, address.protocol);
  if (fd < 0) {
    if (IsOurShortage(errno)) set_stop(Stop::kNoSockets);
    return CURL_SOCKET_BAD;
  }
  // The numbers above are for files.
  if (fd >= shared_.multis.max_descriptor()) {
    close(fd);
    set_stop(Stop::kNoSockets);
    return CURL_SOCKET_BAD;
  }
  opened_ = true;
  fd_ = fd;
  if (ip.has_value()) NoteAddress(*ip, request_.port);
  return fd;
}

int Transfer::OnCloseSocket(void* pool, curl_socket_t fd) {
  static_cast<MultiPool*>(pool)->NoteClosed(fd);
  return close(fd);
}

CURLcode Transfer::OnTlsContext(CURL* /*easy*/, void* context, void* self) {
  auto* const transfer = static_cast<Transfer*>(self);
  // TCP stands, or this would not be asked for.
  transfer->NoteConnected();
  return transfer->shared_.options.trust->Apply(
             static_cast<ssl_ctx_st*>(context), transfer->request_.host)
             ? CURLE_OK
             : CURLE_SSL_CONNECT_ERROR;
}

}  // namespace nephila::fetch
