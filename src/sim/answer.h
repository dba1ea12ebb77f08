// Answerer: how a request is answered, in steps, so that slowness and breakage
// can be tested without a socket or a clock that runs.
//
// Begin writes the first bytes and says what comes then; after kMore (when they
// are sent) and kWait (when the time is over) Continue goes on. Of a healthy
// page everything is written by Begin.
//   Threads: one Answerer each; the Site is shared. Exchanges are its users'.
//   Cost: a page's (web.h), and 0.3 us for the head.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "sim/gzip.h"
#include "sim/http_request.h"
#include "sim/site.h"

namespace nephila::sim {

enum class Then : uint8_t {
  kKeep,       // done; the connection takes another request
  kClose,      // done; close it
  kMore,       // call Continue when all is sent
  kWait,       // call Continue after Step::wait
  kHang,       // say nothing more, but keep the connection
  kHalfClose,  // close our direction only
  kReset,      // end it with a TCP reset
};

struct Step {
  Then then = Then::kKeep;
  std::chrono::nanoseconds wait{0};
};

// A request that is being answered.
struct Exchange {
  const Rule* rule = nullptr;
  int status = 0;
  Step last;          // what follows the bytes of `later`
  std::string later;  // bytes that are still to be written
  size_t later_sent = 0;
  uint64_t pieces = 0;  // written so far
  uint64_t seed = 0;
  std::unique_ptr<GzipBomb> bomb;

  void Clear();
};

class Answerer {
 public:
  // `site` outlives this.
  explicit Answerer(const Site& site) : site_(site) {}

  Step Begin(const Request& request, MonoTime now, Exchange* exchange,
             std::string* out);
  Step Continue(Exchange* exchange, std::string* out);

  // For what is no request: 400, or 431 for one that is too long.
  static Step Refuse(RequestError error, Exchange* exchange, std::string* out);

 private:
  // What the head of an answer says.
  struct Head {
    int status = 200;
    std::string_view type;
    std::string_view location;
    uint64_t etag = 0;
    int64_t retry_after = -1;
    int64_t length = -1;  // none
    bool gzip = false;
    bool chunked = false;
    bool close = false;
    bool session = false;
    std::string_view fields;  // more header lines, each with its end
  };
  static void AppendHead(const Head& head, std::string* out);

  Step Page(const Request& request, Exchange* exchange, std::string* out);
  Step Short(const Request& request, const Head& head, std::string_view body,
             Exchange* exchange, std::string* out);
  Step Redirect(const Request& request, const Rule& rule, Exchange* exchange,
                std::string* out);
  Step Broken(const Request& request, const Rule& rule, Exchange* exchange,
              std::string* out);
  Step Huge(const Request& request, const Rule& rule, Exchange* exchange,
            std::string* out);
  // Pages and redirects that lead a crawler astray.
  Step Astray(const Request& request, const Rule& rule, Exchange* exchange,
              std::string* out);
  void AppendHeavyPage(const Request& request, const Rule& rule);
  void AppendPortLinks(const Request& request, const Rule& rule);
  std::string WebLocation(const Request& request, const Rule& rule) const;
  // "" or ":8080", as links have it.
  std::string PortText() const;
  Step Cut(const Rule& rule, Head* head, std::string* out);
  void AppendBody(const Request& request, Head* head, std::string* out);

  const Site& site_;
  Gzip gzip_;
  std::string body_;
  std::string packed_;
};

}  // namespace nephila::sim
