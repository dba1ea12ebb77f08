#include "bench/plain_curl.h"

#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <memory>

#include "fetch/curl.h"
#include "net/descriptor.h"

namespace nephila::bench {
namespace {

class Loop {
 public:
  Loop(const std::vector<FetchTarget>& targets, const PlainCurlOptions& options)
      : targets_(targets),
        options_(options),
        epoll_(epoll_create1(EPOLL_CLOEXEC)),
        multi_(curl_multi_init()) {
    curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &Loop::OnSocket);
    curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &Loop::OnTimer);
    curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, 100000L);
  }
  ~Loop() {
    for (const Slot& slot : slots_) {
      curl_multi_remove_handle(multi_, slot.easy);
      curl_easy_cleanup(slot.easy);
      curl_slist_free_all(slot.connect_to);
    }
    curl_multi_cleanup(multi_);
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  PlainCurlResult Run() {
    slots_.resize(options_.transfers);
    for (size_t i = 0; i < slots_.size(); ++i) {
      slots_[i].easy = curl_easy_init();
      slots_[i].next = i;
      SetOnce(&slots_[i]);
      Begin(&slots_[i]);
    }
    std::array<epoll_event, 512> events{};
    while (done_ < begun_) {
      const int count =
          epoll_wait(epoll_.get(), events.data(),
                     static_cast<int>(events.size()), static_cast<int>(wait_));
      int running = 0;
      for (int i = 0; i < count; ++i) {
        const uint32_t ready = events[static_cast<size_t>(i)].events;
        curl_multi_socket_action(multi_, events[static_cast<size_t>(i)].data.fd,
                                 (ready & EPOLLIN ? CURL_CSELECT_IN : 0) |
                                     (ready & EPOLLOUT ? CURL_CSELECT_OUT : 0),
                                 &running);
      }
      if (count <= 0 || wait_ == 0) {
        wait_ = -1;
        curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
      }
      TakeFinished();
    }
    return result_;
  }

 private:
  struct Slot {
    CURL* easy = nullptr;
    curl_slist* connect_to = nullptr;
    size_t next = 0;
  };

  static int OnSocket(CURL* /*easy*/, curl_socket_t fd, int what, void* self,
                      void* known) {
    auto* const loop = static_cast<Loop*>(self);
    if (what == CURL_POLL_REMOVE) {
      epoll_ctl(loop->epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
      return 0;
    }
    epoll_event event{};
    event.events = (what & CURL_POLL_IN ? uint32_t{EPOLLIN} : 0) |
                   (what & CURL_POLL_OUT ? uint32_t{EPOLLOUT} : 0);
    event.data.fd = fd;
    epoll_ctl(loop->epoll_.get(),
              known == nullptr ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event);
    if (known == nullptr) curl_multi_assign(loop->multi_, fd, self);
    return 0;
  }
  static int OnTimer(CURLM* /*multi*/, long timeout_ms, void* self) {
    static_cast<Loop*>(self)->wait_ = timeout_ms;
    return 0;
  }
  static size_t OnBody(char* /*data*/, size_t size, size_t count, void* self) {
    static_cast<Loop*>(self)->result_.bytes += size * count;
    return size * count;
  }

  void SetOnce(Slot* slot) {
    CURL* const easy = slot->easy;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, slot);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &Loop::OnBody);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "plain");
    curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
    curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
    curl_easy_setopt(easy, CURLOPT_CAINFO, options_.ca_file.c_str());
    curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, options_.keep ? 0L : 1L);
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, options_.keep ? 0L : 1L);
  }

  void Begin(Slot* slot) {
    if (begun_ >= options_.pages) return;
    ++begun_;
    const FetchTarget& target = targets_[slot->next % targets_.size()];
    if (!options_.keep) slot->next += options_.transfers;
    curl_slist_free_all(slot->connect_to);
    slot->connect_to = curl_slist_append(
        nullptr,
        ("::" + target.address.ToString() + ":" + std::to_string(target.port))
            .c_str());
    curl_easy_setopt(slot->easy, CURLOPT_CONNECT_TO, slot->connect_to);
    curl_easy_setopt(slot->easy, CURLOPT_URL, target.url.c_str());
    curl_multi_add_handle(multi_, slot->easy);
  }

  void TakeFinished() {
    int left = 0;
    while (const CURLMsg* const message = curl_multi_info_read(multi_, &left)) {
      CURL* const easy = message->easy_handle;
      if (message->data.result != CURLE_OK) ++result_.errors;
      char* slot = nullptr;
      curl_easy_getinfo(easy, CURLINFO_PRIVATE, &slot);
      curl_multi_remove_handle(multi_, easy);
      ++done_;
      ++result_.pages;
      Begin(reinterpret_cast<Slot*>(slot));
    }
  }

  const std::vector<FetchTarget>& targets_;
  const PlainCurlOptions options_;
  const net::Descriptor epoll_;
  CURLM* const multi_;
  std::vector<Slot> slots_;
  long wait_ = 0;
  uint64_t begun_ = 0;
  uint64_t done_ = 0;
  PlainCurlResult result_;
};

}  // namespace

Result<PlainCurlResult> RunPlainCurl(const std::vector<FetchTarget>& targets,
                                     const PlainCurlOptions& options) {
  if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    return Unexpected(Error{ErrorCode::kUnsupported, "libcurl does not start"});
  }
  Loop loop(targets, options);
  return loop.Run();
}

}  // namespace nephila::bench
