// Transfer: one easy handle of libcurl with the request that it carries, its
// callbacks and its bounds. Used again for request after request.
//
// Callbacks run inside libcurl: they note what happened, and why the transfer
// has to end (Stop); ending it is for CurlFetcher, outside.
//   Threads: one.   Memory: about 10 KB, its read buffer and, with TLS, some
//   60 KB, while it runs.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "coding/chunked_decoder.h"
#include "fetch/body_pool.h"
#include "fetch/curl.h"
#include "fetch/fetch_options.h"
#include "fetch/fetch_result.h"
#include "fetch/fetcher.h"
#include "fetch/judge.h"
#include "fetch/multi_pool.h"
#include "fetch/request_text.h"
#include "net/address_guard.h"
#include "net/event_loop.h"

namespace nephila::fetch {

// A head takes so much for nothing; what is more counts as a body does.
inline constexpr uint64_t kFreeHeadBytes = 8192;

class Transfer {
 public:
  // What all transfers of a thread share; it outlives them.
  class Owner {
   public:
    virtual ~Owner() = default;
    // A deadline came nearer than the one before.
    virtual void OnDeadline(Transfer* transfer) = 0;
    // Of the body; false: it waits for Resume.
    virtual bool MayRead(Transfer* transfer) = 0;
    // Bytes have come, of head or body.
    virtual void OnBytes(uint64_t bytes) = 0;
    // No room in the pool of bodies: it waits for Resume.
    virtual void OnStarved(Transfer* transfer) = 0;
    // The server has heard of it. From inside libcurl.
    virtual void OnContact(Transfer* transfer) = 0;
  };
  struct Shared {
    const FetchOptions& options;
    const net::AddressGuard& guard;
    net::EventLoop& loop;
    MultiPool& multis;
    BodyShare& bodies;
    Owner& owner;
    uint64_t server_seed;  // of the table of kept connections
  };

  // Nothing if libcurl has no memory.
  static std::unique_ptr<Transfer> Make(const Shared& shared);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  static Transfer* Of(CURL* easy);

  // Takes the request; kNone if it can be asked for.
  Stop Prepare(FetchRequest request, FetchHandler* handler,
               std::unique_ptr<FetchResult> result);
  // Puts it into its multi; false if there is none.
  bool Begin(std::string_view cookie);
  // Takes it out of its multi, if it is in one, and tells how it ended.
  std::unique_ptr<FetchResult> End(CURLcode code);

  // Why it should end now; kNone if it may go on. Once a speed window is over
  // the next one begins.
  Stop Overdue(MonoTime now);
  MonoTime Deadline() const;
  // After MayRead or OnStarved; takes what libcurl has kept meanwhile.
  // False if it cannot go on, for the reason in stop(): End it.
  bool Resume();
  // libcurl has read from its socket. If the head is not whole, up to 100 KB
  // of a line stay with libcurl: that is counted here. False if there is no
  // room for it: End it.
  bool NoteRead(int fd);
  // Whether libcurl's handle has grown, which keeps the memory of its longest
  // line and of the last head. REQUIRES: it has ended.
  bool worn() const { return HeadMemory() > kFreeHeadBytes; }
  // A new handle in its place; false if libcurl has no memory.
  bool Renew();

  const FetchRequest& request() const { return request_; }
  // A key of (scheme, host, port, address): connections with the same key
  // serve each other's requests.
  uint64_t server() const { return server_; }
  FetchHandler* handler() const { return handler_; }
  const FetchResult& result() const { return *result_; }
  Stop stop() const { return stop_; }
  // Its connection is not used again: what is left of the answer may still
  // come over it.
  void set_stop(Stop stop);
  bool running() const { return multi_.has_value(); }
  bool paused() const { return paused_; }
  MonoTime contact() const { return contact_; }
  bool fresh() const { return opened_; }
  BodyProgress Progress(MonoTime now) const;

  net::TimerId timer = net::TimerId::kNone;
  MonoTime armed = MonoTime::max();

 private:
  enum class Phase : uint8_t { kConnecting, kWaiting, kBody };

  explicit Transfer(const Shared& shared, CURL* easy);
  void SetOnce();
  void SetTlsOnce();
  void SetEach(bool reuse);

  static size_t OnHeader(char* data, size_t size, size_t count, void* self);
  static size_t OnBody(char* data, size_t size, size_t count, void* self);
  static int OnRequest(void* self, char* server_ip, char* local_ip,
                       int server_port, int local_port);
  static curl_socket_t OnOpenSocket(void* self, curlsocktype purpose,
                                    curl_sockaddr* address);
  static int OnCloseSocket(void* pool, curl_socket_t fd);
  static CURLcode OnTlsContext(CURL* easy, void* context, void* self);

  bool HeaderLine(std::string_view line);
  bool FirstLine(std::string_view line);
  void FieldLine(std::string_view line);
  bool HeadDone();
  size_t BodyBytes(std::string_view bytes);
  std::string_view OwnBytes(std::string_view bytes);
  void NoteConnected();
  void NoteContact();
  // Of the head, by us and by libcurl.
  uint64_t HeadMemory() const { return 2 * head_bytes_ + quiet_bytes_; }
  bool ChargeHead();
  // The clock, but for the time in which we did not read.
  MonoTime ReadTime(MonoTime now) const;
  void NoteAddress(const net::IpAddress& address, uint16_t port);
  curl_socket_t OpenSocket(const curl_sockaddr& address);
  void NotePhase(Phase phase);
  size_t Pause();
  bool Refuse(Stop stop);
  void Unclaim();
  void NoteStarted();
  void Unhold();
  void FillTimings();
  void FillProtocols();

  const Shared shared_;
  CURL* easy_;
  std::array<char, CURL_ERROR_SIZE> message_{};

  FetchRequest request_;
  FetchHandler* handler_ = nullptr;
  std::unique_ptr<FetchResult> result_;
  FetchLimits limits_;
  RequestText text_;
  std::string target_;
  std::string base_url_;
  std::string connect_to_;
  curl_slist connect_to_node_{};
  uint64_t server_ = 0;
  std::optional<size_t> multi_;
  bool keep_ = false;
  bool claimed_ = false;   // a connection of the multis' bound
  bool starting_ = false;  // in its multi, and libcurl has not begun it
  bool holds_ = false;     // one of the connections that are kept

  Stop stop_ = Stop::kNone;
  Phase phase_ = Phase::kConnecting;
  bool opened_ = false;     // a socket
  int fd_ = -1;             // that one
  bool connected_ = false;  // by TCP
  bool asked_ = false;      // the request has been sent
  bool head_complete_ = false;
  bool in_head_ = false;
  bool http2_ = false;
  bool proxy_blames_server_ = false;
  bool chunked_ = false;
  bool paused_ = false;
  std::string content_type_;
  std::optional<uint64_t> content_length_;
  uint64_t head_bytes_ = 0;
  uint64_t head_fields_ = 0;
  // What libcurl has read and holds since it is no whole line (NoteRead):
  // the most that it was, and what was read and in lines before.
  bool looked_ = false;
  uint64_t quiet_bytes_ = 0;
  uint64_t read_before_ = 0;
  uint64_t head_bytes_before_ = 0;
  RecentSpeed speed_;          // of the body
  uint64_t window_bytes_ = 0;  // of the body, when the window began
  // Of the body in chunks: where it ends. What libcurl gives out may have
  // bytes of a next answer behind it.
  coding::ChunkedDecoder chunks_;
  bool body_ended_ = false;
  // Of a delivery that comes again after a pause: bytes looked at for the
  // end of the body, those before it, and those that the body has.
  size_t scanned_ = 0;
  size_t own_ = 0;
  size_t taken_ = 0;
  bool starved_ = false;
  MonoTime starved_since_{};
  MonoTime connected_at_{};
  MonoTime contact_{};
  MonoTime asked_at_{};
  MonoTime window_start_{};
  // While we did not read: not the server's time.
  MonoTime paused_at_{};
  std::chrono::nanoseconds paused_all_{};     // of the whole transfer
  std::chrono::nanoseconds paused_window_{};  // since window_start_
};

}  // namespace nephila::fetch
