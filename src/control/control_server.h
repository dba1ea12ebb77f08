// ControlServer: the socket `control` in a job's folder, by which its owner
// looks at the crawl and steers it. docs/control.md has the protocol.
//
//   In: a JSON object a line, {"verb": "status", ...}   Out: one a line
//   Drop: nothing: what cannot be understood is answered with an error
//   Threads: that of the loop, the frontier's: verbs may touch what it may
//   Cost: bounded by stream_server.h, whatever clients do
//
// A new verb is one call of Add, or of AddLater if its answer depends on
// another thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/result.h"
#include "control/stream_server.h"
#include "net/event_loop.h"

namespace nephila::control {

using Json = nlohmann::ordered_json;

// Rises when a client could misunderstand the server, or the other way round.
inline constexpr int kProtocol = 1;
inline constexpr size_t kMostRequestBytes = size_t{64} << 10;

// {"error": message, "code": "not-found"}.
Json ErrorAnswer(const Error& error);
// What it was; nothing if the answer is none.
Status StatusOf(const Json& answer);

class ControlServer {
 public:
  using Handler = std::function<Json(const Json& request)>;
  using Answer = std::function<void(Json answer)>;
  // `answer` is called once, by the thread of the loop.
  using LateHandler = std::function<void(const Json& request, Answer answer)>;

  struct Options {
    std::string version;  // of nephila
    size_t max_clients = 16;
    std::chrono::nanoseconds idle = std::chrono::seconds(60);
  };

  // REQUIRES: the caller has the lock of the folder. `loop` outlives this.
  static Result<std::unique_ptr<ControlServer>> Open(net::EventLoop& loop,
                                                     const std::string& dir,
                                                     const Options& options);
  // Takes the socket away.
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  void Add(const std::string& verb, Handler handler);
  void AddLater(const std::string& verb, LateHandler handler);
  size_t clients() const { return server_->clients(); }

 private:
  explicit ControlServer(std::string dir) : dir_(std::move(dir)) {}
  void Handle(std::string_view line, const StreamServer::Answer& answer) const;

  const std::string dir_;
  std::map<std::string, LateHandler, std::less<>> verbs_;
  std::unique_ptr<StreamServer> server_;
};

}  // namespace nephila::control
