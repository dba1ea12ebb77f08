#include "control/control_server.h"

#include <utility>

#include "base/text.h"
#include "control/sockets.h"
#include "job/job_folder.h"

namespace nephila::control {
namespace {

constexpr size_t kMostShown = 100;

std::string Line(const Json& json) {
  // Names of files and hosts may be no UTF-8.
  return json.dump(-1, ' ', /*ensure_ascii=*/false,
                   Json::error_handler_t::replace) +
         "\n";
}

Json Wrong(std::string message) {
  return ErrorAnswer({ErrorCode::kInvalidArgument, std::move(message)});
}

size_t LineSize(std::string_view bytes) {
  const size_t end = bytes.find('\n');
  return end == std::string_view::npos ? 0 : end + 1;
}

}  // namespace

Json ErrorAnswer(const Error& error) {
  Json json;
  json["error"] = error.message;
  json["code"] = ErrorCodeName(error.code);
  return json;
}

Status StatusOf(const Json& answer) {
  const auto error = answer.find("error");
  if (error == answer.end() || !error->is_string()) return {};
  ErrorCode code = ErrorCode::kIo;
  for (const ErrorCode one :
       {ErrorCode::kInvalidArgument, ErrorCode::kNotFound,
        ErrorCode::kAlreadyExists, ErrorCode::kBusy, ErrorCode::kNoSpace,
        ErrorCode::kIo, ErrorCode::kCorruption, ErrorCode::kUnsupported,
        ErrorCode::kStopped}) {
    if (answer.value("code", "") == ErrorCodeName(one)) code = one;
  }
  return Unexpected(Error{code, error->get<std::string>()});
}

Result<std::unique_ptr<ControlServer>> ControlServer::Open(
    net::EventLoop& loop, const std::string& dir, const Options& options) {
  std::unique_ptr<ControlServer> control(new ControlServer(dir));
  NEPHILA_TRY(net::Descriptor listener,
              ListenInFolder(dir, std::string(job::kControlName)));
  Json greeting;
  greeting["nephila"] = options.version;
  greeting["protocol"] = kProtocol;
  StreamServer::Protocol protocol;
  protocol.greeting = Line(greeting);
  protocol.too_long = Line(Wrong("a request of more than 64 KiB"));
  protocol.too_many = Line(ErrorAnswer(
      {ErrorCode::kBusy, "too many clients of the control socket"}));
  protocol.max_request_bytes = kMostRequestBytes;
  protocol.max_clients = options.max_clients;
  protocol.idle = options.idle;
  protocol.request_size = LineSize;
  protocol.admits = IsOwnersPeer;
  protocol.handle = [control = control.get()](
                        std::string_view line,
                        const StreamServer::Answer& answer) {
    control->Handle(line, answer);
  };
  NEPHILA_TRY(control->server_, StreamServer::Make(loop, std::move(listener),
                                                   std::move(protocol)));
  return control;
}

ControlServer::~ControlServer() {
  if (server_ == nullptr) return;
  server_.reset();
  RemoveFromFolder(dir_, std::string(job::kControlName));
}

void ControlServer::Add(const std::string& verb, Handler handler) {
  AddLater(verb, [handler = std::move(handler)](const Json& request,
                                                const Answer& answer) {
    answer(handler(request));
  });
}

void ControlServer::AddLater(const std::string& verb, LateHandler handler) {
  verbs_[verb] = std::move(handler);
}

void ControlServer::Handle(std::string_view line,
                           const StreamServer::Answer& answer) const {
  const Json request = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  const auto verb = request.is_object() ? request.find("verb") : request.end();
  if (!request.is_object() || verb == request.end() || !verb->is_string()) {
    return answer(
        Line(Wrong("a request is a line with a JSON object that has a verb")));
  }
  const auto found = verbs_.find(verb->get_ref<const std::string&>());
  if (found == verbs_.end()) {
    const std::string name =
        verb->get_ref<const std::string&>().substr(0, kMostShown);
    return answer(
        Line(Wrong(EscapeForTerminal(name) + ": no such verb of a crawl")));
  }
  found->second(request, [answer](const Json& json) { answer(Line(json)); });
}

}  // namespace nephila::control
