#include "fetch/transfer.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/hash.h"

namespace nephila::fetch {
namespace {

using std::chrono::nanoseconds;

// Our own timers end what takes too long; libcurl's bounds only have to be
// longer than any of them.
constexpr long kNeverMs = 48L * 3600 * 1000;
// The least that libcurl takes; no request is longer than a few KiB.
constexpr long kUploadBuffer = 16384;
// libcurl's own bound on a line of a head.
constexpr uint64_t kMostLineBytes = 102'400;
// Time stands still in a pause: this is when it is looked at again.
constexpr std::chrono::milliseconds kPausedLook(100);

std::string AddressInUrl(const net::IpAddress& address) {
  return address.is_v6() ? "[" + address.ToString() + "]" : address.ToString();
}

// What proxies say about a server that they cannot reach: 502 to 504, or a
// reply of RFC 1928 s6.
bool ProxyBlamesServer(CURL* easy) {
  long http = 0;
  long socks = CURLPX_OK;
  curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &http);
  curl_easy_getinfo(easy, CURLINFO_PROXY_ERROR, &socks);
  return (http >= 502 && http <= 504) ||
         socks == CURLPX_REPLY_HOST_UNREACHABLE ||
         socks == CURLPX_REPLY_NETWORK_UNREACHABLE ||
         socks == CURLPX_REPLY_CONNECTION_REFUSED ||
         socks == CURLPX_REPLY_TTL_EXPIRED;
}

bool IsConnected(int fd) {
  sockaddr_storage peer{};
  socklen_t size = sizeof(peer);
  return fd >= 0 &&
         getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) == 0;
}

}  // namespace

std::unique_ptr<Transfer> Transfer::Make(const Shared& shared) {
  CURL* const easy = curl_easy_init();
  if (easy == nullptr) return nullptr;
  std::unique_ptr<Transfer> transfer(new Transfer(shared, easy));
  transfer->SetOnce();
  return transfer;
}

Transfer::Transfer(const Shared& shared, CURL* easy)
    : shared_(shared), easy_(easy) {}

Transfer::~Transfer() {
  NEPHILA_CHECK(!multi_.has_value());
  curl_easy_cleanup(easy_);
}

Transfer* Transfer::Of(CURL* easy) {
  char* self = nullptr;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, &self);
  return reinterpret_cast<Transfer*>(self);
}

void Transfer::SetOnce() {
  const FetchOptions& options = shared_.options;
  curl_easy_setopt(easy_, CURLOPT_PRIVATE, this);
  curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, message_.data());
  curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy_, CURLOPT_FOLLOWLOCATION, 0L);
  // Set, if only to nothing, it keeps the environment's proxies out.
  curl_easy_setopt(easy_, CURLOPT_PROXY, options.proxy.c_str());
  curl_easy_setopt(easy_, CURLOPT_NOPROXY, "");
  curl_easy_setopt(easy_, CURLOPT_HTTPPROXYTUNNEL,
                   options.proxy.empty() ? 0L : 1L);
  curl_easy_setopt(easy_, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(easy_, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
  curl_easy_setopt(easy_, CURLOPT_CONNECTTIMEOUT_MS, kNeverMs);
  curl_easy_setopt(easy_, CURLOPT_MAXAGE_CONN,
                   static_cast<long>(std::chrono::ceil<std::chrono::seconds>(
                                         options.idle_timeout)
                                         .count()));
  // The archive keeps bytes as they came.
  curl_easy_setopt(easy_, CURLOPT_HTTP_TRANSFER_DECODING, 0L);
  curl_easy_setopt(easy_, CURLOPT_HTTP_CONTENT_DECODING, 0L);
  curl_easy_setopt(easy_, CURLOPT_HTTP09_ALLOWED, 0L);
  curl_easy_setopt(easy_, CURLOPT_BUFFERSIZE,
                   static_cast<long>(options.read_buffer_bytes));
  curl_easy_setopt(easy_, CURLOPT_UPLOAD_BUFFERSIZE, kUploadBuffer);

  curl_easy_setopt(easy_, CURLOPT_HEADERFUNCTION, &Transfer::OnHeader);
  curl_easy_setopt(easy_, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &Transfer::OnBody);
  curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy_, CURLOPT_PREREQFUNCTION, &Transfer::OnRequest);
  curl_easy_setopt(easy_, CURLOPT_PREREQDATA, this);
  curl_easy_setopt(easy_, CURLOPT_OPENSOCKETFUNCTION, &Transfer::OnOpenSocket);
  curl_easy_setopt(easy_, CURLOPT_OPENSOCKETDATA, this);
  // A connection may outlive the transfer that opened it, not the multis.
  curl_easy_setopt(easy_, CURLOPT_CLOSESOCKETFUNCTION,
                   &Transfer::OnCloseSocket);
  curl_easy_setopt(easy_, CURLOPT_CLOSESOCKETDATA, &shared_.multis);
  SetTlsOnce();
}

void Transfer::SetTlsOnce() {
  const FetchOptions& options = shared_.options;
  curl_easy_setopt(easy_, CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
  // The authorities come from our own store (OnTlsContext): libcurl would
  // read them again and again, and from Debian's folder for 43 ms each time.
  curl_easy_setopt(easy_, CURLOPT_CAINFO, nullptr);
  curl_easy_setopt(easy_, CURLOPT_CAPATH, nullptr);
  curl_easy_setopt(easy_, CURLOPT_SSL_CTX_FUNCTION, &Transfer::OnTlsContext);
  curl_easy_setopt(easy_, CURLOPT_SSL_CTX_DATA, this);
  // A session that is resumed tells a server who we were.
  curl_easy_setopt(easy_, CURLOPT_SSL_SESSIONID_CACHE, 0L);
  curl_easy_setopt(easy_, CURLOPT_SSL_VERIFYPEER,
                   options.accept_tls_errors ? 0L : 1L);
  curl_easy_setopt(easy_, CURLOPT_SSL_VERIFYHOST,
                   options.accept_tls_errors ? 0L : 2L);
}

Stop Transfer::Prepare(FetchRequest request, FetchHandler* handler,
                       std::unique_ptr<FetchResult> result) {
  request_ = std::move(request);
  handler_ = handler;
  result_ = std::move(result);
  limits_ = request_.limits.value_or(shared_.options.limits);
  stop_ = Stop::kNone;
  phase_ = Phase::kConnecting;
  asked_ = opened_ = connected_ = head_complete_ = in_head_ = http2_ =
      chunked_ = paused_ = keep_ = proxy_blames_server_ = body_ended_ =
          starved_ = claimed_ = starting_ = holds_ = false;
  fd_ = -1;
  chunks_.Reset();
  scanned_ = own_ = taken_ = 0;
  content_type_.clear();
  content_length_.reset();
  head_bytes_ = head_fields_ = window_bytes_ = 0;
  quiet_bytes_ = read_before_ = head_bytes_before_ = 0;
  looked_ = false;
  contact_ = {};
  paused_all_ = paused_window_ = {};
  message_[0] = '\0';
  armed = MonoTime::max();

  result_->Clear();
  result_->body.Begin(&shared_.bodies);
  result_->id = request_.id;
  result_->kind = request_.kind;
  result_->url = request_.url;
  result_->begin = shared_.loop.clock().WallNow();
  result_->begin_mono = shared_.loop.clock().Now();

  const std::optional<std::string_view> target = RequestTarget(request_.url);
  if (!target.has_value() || request_.host.empty() ||
      !IsFieldValue(request_.host)) {
    return Stop::kBadRequest;
  }
  target_ = *target;
  if (!shared_.options.ipv6 && request_.address.is_v6()) return Stop::kNoIpv6;
  // A proxy would meet the address in our place; else OpenSocket asks.
  if (!shared_.options.proxy.empty() &&
      shared_.guard.Check(request_.address).refused()) {
    return Stop::kGuard;
  }
  const std::string port = std::to_string(request_.port);
  base_url_.assign(request_.https ? "https://" : "http://")
      .append(request_.host)
      .append(":")
      .append(port)
      .append("/");
  connect_to_.assign("::")
      .append(AddressInUrl(request_.address))
      .append(":")
      .append(port);
  // Connections of equal parts are told apart by libcurl; this only routes.
  server_ = KeyedHash(base_url_ + connect_to_ + (request_.http2 ? "2" : "1"),
                      shared_.server_seed) |
            1;
  return Stop::kNone;
}

bool Transfer::Begin(std::string_view cookie) {
  const bool reuse = shared_.multis.HasOpen(server_);
  const bool holds = shared_.multis.HasIdle(server_);
  keep_ =
      request_.keep_connection &&
      (reuse || (shared_.multis.open_connections() + shared_.multis.claims() <
                     shared_.options.max_kept_connections &&
                 shared_.multis.MayKeep()));
  if (keep_ && !reuse) {
    claimed_ = true;
    shared_.multis.Claim();
  }
  text_.Build({.target = target_,
               .host = request_.host,
               .port = request_.port,
               .https = request_.https,
               .keep_connection = keep_,
               .agent_fields = shared_.options.agent_fields,
               .if_none_match = request_.if_none_match,
               .if_modified_since = request_.if_modified_since,
               .cookie = cookie});
  SetEach(reuse);
  result_->begin = shared_.loop.clock().WallNow();
  result_->begin_mono = shared_.loop.clock().Now();
  const std::optional<size_t> place = shared_.multis.Place(server_);
  if (!place.has_value()) return false;
  // Before Add, which may call back.
  multi_ = place;
  if (!shared_.multis.Add(*place, easy_)) {
    multi_.reset();
    return false;
  }
  starting_ = true;
  if (holds) {
    holds_ = true;
    shared_.multis.Hold(server_, *multi_);
  }
  return true;
}

void Transfer::NoteStarted() {
  if (std::exchange(starting_, false)) shared_.multis.NoteStarted(*multi_);
}

void Transfer::Unhold() {
  if (std::exchange(holds_, false)) shared_.multis.Unhold(server_, *multi_);
}

void Transfer::Unclaim() {
  if (std::exchange(claimed_, false)) shared_.multis.Unclaim();
}

void Transfer::set_stop(Stop stop) {
  stop_ = stop;
  curl_easy_setopt(easy_, CURLOPT_FORBID_REUSE, 1L);
}

void Transfer::SetEach(bool reuse) {
  curl_easy_setopt(easy_, CURLOPT_HTTP_VERSION,
                   shared_.options.http2 && request_.http2
                       ? long{CURL_HTTP_VERSION_2TLS}
                       : long{CURL_HTTP_VERSION_1_1});
  curl_easy_setopt(easy_, CURLOPT_URL, base_url_.c_str());
  curl_easy_setopt(easy_, CURLOPT_REQUEST_TARGET, target_.c_str());
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, text_.fields());
  connect_to_node_.data = connect_to_.data();
  connect_to_node_.next = nullptr;
  curl_easy_setopt(easy_, CURLOPT_CONNECT_TO, &connect_to_node_);
  curl_easy_setopt(easy_, CURLOPT_FRESH_CONNECT, reuse ? 0L : 1L);
  curl_easy_setopt(easy_, CURLOPT_FORBID_REUSE, keep_ ? 0L : 1L);
  // Of the family of whom we connect to.
  const std::optional<net::IpAddress>& source =
      shared_.options.proxy_address.value_or(request_.address).is_v4()
          ? shared_.options.source_v4
          : shared_.options.source_v6;
  if (shared_.options.source_v4.has_value() ||
      shared_.options.source_v6.has_value()) {
    curl_easy_setopt(
        easy_, CURLOPT_INTERFACE,
        source.has_value() ? ("host!" + source->ToString()).c_str() : nullptr);
  }
}

std::unique_ptr<FetchResult> Transfer::End(CURLcode code) {
  const MonoTime now = shared_.loop.clock().Now();
  result_->end_mono = now;
  if (multi_.has_value()) {
    FillTimings();
    NoteStarted();
    shared_.multis.Remove(*multi_, easy_);
    Unhold();
    multi_.reset();
  }
  Unclaim();
  shared_.multis.Settle();
  long os_error = 0;
  curl_easy_getinfo(easy_, CURLINFO_OS_ERRNO, &os_error);
  const std::string_view message(message_.data());
  const Ending ending = Judge({.code = code,
                               .stop = stop_,
                               .os_error = static_cast<int>(os_error),
                               .connected = connected_,
                               .by_proxy = !shared_.options.proxy.empty(),
                               .proxy_blames_server = proxy_blames_server_,
                               .head_complete = head_complete_,
                               .message = message});
  result_->outcome = ending.outcome;
  result_->truncation = ending.truncation;
  if (stop_ != Stop::kNone) {
    result_->error = StopName(stop_);
  } else if (code != CURLE_OK) {
    result_->error = message.empty() ? curl_easy_strerror(code) : message;
  }
  if (asked_) {
    result_->request = http2_ ? text_.TextForHttp2() : text_.text();
    result_->bytes_out = result_->request.size();
  }
  result_->transfer_coding = chunked_ && !http2_
                                 ? item::TransferCoding::kChunked
                                 : item::TransferCoding::kRemoved;
  result_->bytes_in = head_bytes_ + result_->body.size_bytes();
  result_->reused = asked_ && !opened_;
  result_->kept = keep_ && asked_ && shared_.multis.HasOpen(server_);
  handler_ = nullptr;
  return std::move(result_);
}

void Transfer::FillTimings() {
  FetchTimings& timings = result_->timings;
  timings.total = result_->end_mono - result_->begin_mono;
  if (asked_) timings.request = asked_at_ - result_->begin_mono;
  if (asked_ && request_.https) timings.tls = timings.request;
  if (connected_ && opened_) {
    timings.connect = connected_at_ - result_->begin_mono;
  }
  result_->contact = contact_;
  // The kernel repeats what is not answered: the server may have heard of us at
  // any time until now.
  if (contact_ == MonoTime{} && (opened_ || asked_)) {
    result_->contact = result_->end_mono;
  }
  if (!asked_ && !shared_.options.proxy.empty()) {
    // One that stands, and waits for a server that does not answer, is not at
    // fault. Where the time was over the socket is still open.
    proxy_blames_server_ = stop_ == Stop::kConnectTime
                               ? IsConnected(fd_)
                               : ProxyBlamesServer(easy_);
  }
  if (!asked_ && request_.https) {
    long verdict = 0;
    curl_easy_getinfo(easy_, CURLINFO_SSL_VERIFYRESULT, &verdict);
    result_->certificate_error = CertificateErrorText(verdict);
  }
}

MonoTime Transfer::Deadline() const {
  if (paused_) return shared_.loop.clock().Now() + kPausedLook;
  const MonoTime all = result_->begin_mono + limits_.timeout + paused_all_;
  switch (phase_) {
    case Phase::kConnecting:
      return std::min(all, result_->begin_mono + limits_.connect_timeout);
    case Phase::kWaiting:
      return std::min(all, asked_at_ + limits_.first_byte_timeout);
    case Phase::kBody:
      break;
  }
  if (limits_.min_speed_bytes == 0) return all;
  return std::min(all, window_start_ + limits_.speed_window + paused_window_);
}

Stop Transfer::Overdue(MonoTime now) {
  // What we did not want to read is not the server's fault.
  if (paused_ || now < Deadline()) return Stop::kNone;
  if (now >= result_->begin_mono + limits_.timeout + paused_all_) {
    return Stop::kTotalTime;
  }
  if (phase_ == Phase::kConnecting) return Stop::kConnectTime;
  if (phase_ == Phase::kWaiting) return Stop::kHeadTime;
  const auto window =
      std::chrono::duration<double>(now - window_start_ - paused_window_)
          .count();
  const auto came =
      static_cast<double>(result_->body.size_bytes() - window_bytes_);
  if (came < static_cast<double>(limits_.min_speed_bytes) * window) {
    return Stop::kTooSlow;
  }
  window_start_ = now;
  window_bytes_ = result_->body.size_bytes();
  paused_window_ = {};
  return Stop::kNone;
}

MonoTime Transfer::ReadTime(MonoTime now) const {
  return (paused_ ? paused_at_ : now) - paused_all_;
}

bool Transfer::ChargeHead() {
  const uint64_t bytes = HeadMemory();
  return bytes <= kFreeHeadBytes ||
         result_->body.Charge(bytes - kFreeHeadBytes);
}

bool Transfer::NoteRead(int fd) {
  if (!asked_ || head_complete_ || stop_ != Stop::kNone) return true;
  tcp_info info{};
  socklen_t size = sizeof(info);
  int unread = 0;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
      ioctl(fd, FIONREAD, &unread) != 0) {
    return true;
  }
  const uint64_t read =
      info.tcpi_bytes_received - static_cast<uint64_t>(unread);
  if (!looked_) {
    // What came over a connection before is not known: the worst is taken.
    looked_ = true;
    read_before_ = opened_ ? 0 : read - std::min(read, kMostLineBytes);
    head_bytes_before_ = opened_ ? 0 : head_bytes_;
  }
  const uint64_t came = read - read_before_;
  const uint64_t lines = head_bytes_ - head_bytes_before_;
  const uint64_t quiet = std::min(came - std::min(came, lines), kMostLineBytes);
  if (quiet <= quiet_bytes_) return true;
  quiet_bytes_ = quiet;
  if (!ChargeHead()) return Refuse(Stop::kPool);
  shared_.owner.OnBytes(0);  // the pool may be too full now
  return true;
}

bool Transfer::Renew() {
  NEPHILA_CHECK(!multi_.has_value());
  CURL* const fresh = curl_easy_init();
  if (fresh == nullptr) return false;
  curl_easy_cleanup(easy_);
  easy_ = fresh;
  SetOnce();
  return true;
}

bool Transfer::Resume() {
  if (!paused_ || !multi_.has_value()) return true;
  paused_ = false;
  const nanoseconds pause = shared_.loop.clock().Now() - paused_at_;
  paused_all_ += pause;
  paused_window_ += pause;
  if (Deadline() < armed) shared_.owner.OnDeadline(this);
  // Calls back with what it has kept.
  return curl_easy_pause(easy_, CURLPAUSE_CONT) == CURLE_OK &&
         stop_ == Stop::kNone;
}

BodyProgress Transfer::Progress(MonoTime now) const {
  BodyProgress progress;
  progress.held_bytes = result_->body.held_bytes();
  progress.received_bytes =
      head_bytes_ + quiet_bytes_ + result_->body.size_bytes();
  progress.age = now - result_->begin_mono - result_->timings.first_byte;
  if (!result_->body.empty()) {
    progress.recent_bytes_per_second = speed_.BytesPerSecond(ReadTime(now));
  }
  return progress;
}

}  // namespace nephila::fetch
