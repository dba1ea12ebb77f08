#include "sim/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/hash.h"
#include "sim/mix.h"
#include "sim/spaces.h"

namespace nephila::sim {
namespace {

constexpr size_t kChunk = 8192;
constexpr uint64_t kEndlessPiece = 16'384;
constexpr std::string_view kHtml = "text/html; charset=utf-8";
constexpr std::string_view kPlain = "text/plain; charset=utf-8";

std::string_view Reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 410:
      return "Gone";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    default:
      return "Status";
  }
}

// No body, whatever the method (RFC 9112 s6.3).
bool HasNoBody(int status) {
  return status < 200 || status == 204 || status == 304;
}

int64_t Or(int64_t given, int64_t otherwise) {
  return given == 0 ? otherwise : given;
}

// The hop of "/a?hop=2"; 0 without one. `*path` is what stands before.
int64_t HopOf(std::string_view target, std::string_view* path) {
  const size_t at = target.rfind("hop=");
  *path = target;
  if (at == std::string_view::npos || at == 0) return 0;
  int64_t hop = 0;
  const char* const end = target.data() + target.size();
  const auto [read, error] = std::from_chars(target.data() + at + 4, end, hop);
  if (error != std::errc() || read != end || hop < 0) return 0;
  *path = target.substr(0, at - 1);
  return hop;
}

std::string WithHop(std::string_view path, int64_t hop) {
  if (hop == 0) return std::string(path);
  const bool query = path.find('?') != std::string_view::npos;
  return fmt::format("{}{}hop={}", path, query ? '&' : '?', hop);
}

// The parts of a host name whose first label ends in a number:
// "web", "17" and ".example". Without one the digits are empty.
struct NumberedName {
  std::string_view name;
  std::string_view digits;
  std::string_view rest;
};
NumberedName SplitNumber(std::string_view host) {
  const size_t dot = std::min(host.find('.'), host.size());
  size_t begin = dot;
  while (begin > 0 && host[begin - 1] >= '0' && host[begin - 1] <= '9') --begin;
  return {host.substr(0, begin), host.substr(begin, dot - begin),
          host.substr(dot)};
}

void ReplaceAll(std::string_view what, std::string_view by, std::string* text) {
  for (size_t at = text->find(what); at != std::string::npos;
       at = text->find(what, at + by.size())) {
    text->replace(at, what.size(), by);
  }
}

}  // namespace

void Exchange::Clear() {
  rule = nullptr;
  status = 0;
  last = {};
  later.clear();
  later_sent = 0;
  pieces = 0;
  bomb.reset();
}

void Answerer::AppendHead(const Head& head, std::string* out) {
  auto back = std::back_inserter(*out);
  fmt::format_to(back, "HTTP/1.1 {} {}\r\nServer: nephila-sim\r\n", head.status,
                 Reason(head.status));
  if (!head.type.empty()) {
    out->append("Content-Type: ").append(head.type).append("\r\n");
  }
  if (!head.location.empty()) {
    out->append("Location: ").append(head.location).append("\r\n");
  }
  if (head.etag != 0) fmt::format_to(back, "ETag: \"{:016x}\"\r\n", head.etag);
  if (head.session) {
    fmt::format_to(back, "Set-Cookie: sid={:016x}; Path=/\r\n", head.etag);
  }
  if (head.retry_after >= 0) {
    fmt::format_to(back, "Retry-After: {}\r\n", head.retry_after);
  }
  if (head.gzip) out->append("Content-Encoding: gzip\r\n");
  if (head.chunked) out->append("Transfer-Encoding: chunked\r\n");
  if (head.length >= 0) {
    fmt::format_to(back, "Content-Length: {}\r\n", head.length);
  }
  out->append(head.fields);
  if (head.close) out->append("Connection: close\r\n");
  out->append("\r\n");
}

std::string Answerer::PortText() const {
  const int64_t port = site_.web().shape().port;
  return port == 0 || port == 80 ? "" : fmt::format(":{}", port);
}

Step Answerer::Refuse(RequestError error, Exchange* exchange,
                      std::string* out) {
  Head head;
  head.status = error == RequestError::kTooLong ? 431 : 400;
  head.length = 0;
  head.close = true;
  AppendHead(head, out);
  exchange->status = head.status;
  return {Then::kClose};
}

Step Answerer::Begin(const Request& request, MonoTime now, Exchange* exchange,
                     std::string* out) {
  exchange->Clear();
  const Rule* rule =
      site_.scenario().Find(Layer::kHttp, request.host, request.target);
  exchange->rule = rule;
  if (rule == nullptr) return Page(request, exchange, out);
  switch (rule->behaviour) {
    case Behaviour::kHang:
      return {Then::kHang};
    case Behaviour::kDrop:
      return {Then::kClose};
    case Behaviour::kReset:
      return {Then::kReset};
    case Behaviour::kSlowFirstByte:
      exchange->last = Page(request, exchange, &exchange->later);
      return {Then::kWait, rule->delay};
    case Behaviour::kSlowDrip: {
      exchange->last = Page(request, exchange, &exchange->later);
      // The head at once: the drip is the body.
      exchange->later_sent = exchange->later.find("\r\n\r\n") + 4;
      out->append(exchange->later, 0, exchange->later_sent);
      return {Then::kWait, rule->delay};
    }
    case Behaviour::kBurst:
      if (now.time_since_epoch() % rule->period < rule->length) {
        Head head;
        head.status = static_cast<int>(Or(rule->status, 503));
        head.type = kHtml;
        return Short(request, head, "<h1>Overloaded</h1>\n", exchange, out);
      }
      return Page(request, exchange, out);
    case Behaviour::kRedirect:
    case Behaviour::kRedirectChain:
    case Behaviour::kRedirectLoop:
      return Redirect(request, *rule, exchange, out);
    case Behaviour::kStatus:
    case Behaviour::kRetryAfter:
    case Behaviour::kRobots:
    case Behaviour::kHugeRobots:
      return Huge(request, *rule, exchange, out);
    case Behaviour::kTarpit:
      exchange->last = Page(request, exchange, &exchange->later);
      return {Then::kWait, rule->delay};
    case Behaviour::kRedirectWeb:
    case Behaviour::kLinkFlood:
    case Behaviour::kHeavyPage:
    case Behaviour::kPortLinks:
      return Astray(request, *rule, exchange, out);
    case Behaviour::kPage:
      return Page(request, exchange, out);
    default:
      return Broken(request, *rule, exchange, out);
  }
}

Step Answerer::Continue(Exchange* exchange, std::string* out) {
  const Rule& rule = *exchange->rule;
  ++exchange->pieces;
  switch (rule.behaviour) {
    case Behaviour::kEndlessBody:
      site_.web().AppendText(exchange->seed + exchange->pieces, kEndlessPiece,
                             out);
      return {Then::kMore};
    case Behaviour::kGzipBomb:
      return {exchange->bomb->Next(out) ? Then::kMore : Then::kClose};
    case Behaviour::kHeaderFlood: {
      const uint64_t bytes = rule.bytes == 0 ? 1000 : rule.bytes;
      if (rule.count > 0 &&
          exchange->pieces > static_cast<uint64_t>(rule.count)) {
        out->append("Content-Length: 0\r\nConnection: close\r\n\r\n");
        return {Then::kClose};
      }
      fmt::format_to(std::back_inserter(*out),
                     "X-Flood-{}: ", exchange->pieces);
      out->append(static_cast<size_t>(std::min<uint64_t>(bytes, 1 << 20)), 'x')
          .append("\r\n");
      return {Then::kMore};
    }
    default:
      break;
  }
  const size_t left = exchange->later.size() - exchange->later_sent;
  size_t piece = left;
  if (rule.behaviour == Behaviour::kSlowDrip) {
    piece = static_cast<size_t>(
        std::min<uint64_t>(left, rule.bytes == 0 ? 100 : rule.bytes));
  } else if (rule.behaviour == Behaviour::kTarpit) {
    piece = static_cast<size_t>(
        std::min<uint64_t>(left, rule.bytes == 0 ? 80 : rule.bytes));
  }
  out->append(exchange->later, exchange->later_sent, piece);
  exchange->later_sent += piece;
  if (piece == left) return exchange->last;
  return {Then::kWait, rule.delay};
}

// In chunks, if the head says so, else as it is.
void Answerer::AppendBody(const Request& request, Head* head,
                          std::string* out) {
  std::string_view body = body_;
  if (head->gzip) {
    packed_.clear();
    gzip_.Append(body, &packed_);
    body = packed_;
  }
  if (!head->chunked) head->length = static_cast<int64_t>(body.size());
  AppendHead(*head, out);
  if (request.method == "HEAD") return;
  if (!head->chunked) {
    out->append(body);
    return;
  }
  while (!body.empty()) {
    const size_t size = std::min(body.size(), kChunk);
    fmt::format_to(std::back_inserter(*out), "{:x}\r\n", size);
    out->append(body.substr(0, size)).append("\r\n");
    body.remove_prefix(size);
  }
  out->append("0\r\n\r\n");
}

Step Answerer::Page(const Request& request, Exchange* exchange,
                    std::string* out) {
  body_.clear();
  const Found found = site_.Find(request, &body_);
  Head head;
  head.status = found.status;
  head.type = found.type;
  head.etag = found.version;
  head.session = found.session;
  const Behaviour behaviour =
      exchange->rule == nullptr ? Behaviour::kPage : exchange->rule->behaviour;
  if (behaviour == Behaviour::kContentType) head.type = exchange->rule->type;
  head.close = !request.keep_alive || behaviour == Behaviour::kClose;
  const Step step{head.close ? Then::kClose : Then::kKeep};
  if (head.etag != 0 && !request.if_none_match.empty() &&
      request.if_none_match == fmt::format("\"{:016x}\"", head.etag)) {
    head.status = 304;
    head.type = {};
    exchange->status = head.status;
    AppendHead(head, out);
    return step;
  }
  exchange->status = head.status;
  head.gzip = found.gzip && request.takes_gzip;
  head.chunked = found.chunked && request.http11;
  AppendBody(request, &head, out);
  return step;
}

Step Answerer::Short(const Request& request, const Head& head,
                     std::string_view body, Exchange* exchange,
                     std::string* out) {
  Head full = head;
  full.close = !request.keep_alive;
  const bool none = HasNoBody(head.status);
  if (!none) full.length = static_cast<int64_t>(body.size());
  exchange->status = head.status;
  AppendHead(full, out);
  if (!none && request.method != "HEAD") out->append(body);
  return {full.close ? Then::kClose : Then::kKeep};
}

Step Answerer::Redirect(const Request& request, const Rule& rule,
                        Exchange* exchange, std::string* out) {
  Head head;
  head.status = static_cast<int>(Or(rule.status, 301));
  head.type = kHtml;
  std::string location = rule.target;
  ReplaceAll("{n}", SplitNumber(request.host).digits, &location);
  ReplaceAll(":{port}", PortText(), &location);
  if (rule.behaviour != Behaviour::kRedirect) {
    std::string_view path;
    const int64_t hop = HopOf(request.target, &path);
    if (rule.behaviour == Behaviour::kRedirectLoop) {
      location = WithHop(path, (hop + 1) % Or(rule.count, 2));
    } else if (hop < Or(rule.count, 3)) {
      location = WithHop(path, hop + 1);
    } else {
      Request last = request;
      last.target = path;
      return Page(last, exchange, out);
    }
  }
  head.location = location;
  return Short(request, head, "<h1>Moved</h1>\n", exchange, out);
}

// Status codes and robots.txt: bodies that the rule itself brings.
Step Answerer::Huge(const Request& request, const Rule& rule,
                    Exchange* exchange, std::string* out) {
  Head head;
  head.type = rule.type.empty() ? kHtml : std::string_view(rule.type);
  switch (rule.behaviour) {
    case Behaviour::kStatus:
      head.status = static_cast<int>(Or(rule.status, 404));
      return Short(
          request, head,
          rule.text.empty() ? "<h1>Status</h1>\n" : std::string_view(rule.text),
          exchange, out);
    case Behaviour::kRetryAfter:
      head.status = static_cast<int>(Or(rule.status, 429));
      head.retry_after =
          std::chrono::ceil<std::chrono::seconds>(rule.delay).count();
      return Short(request, head, "<h1>Later</h1>\n", exchange, out);
    case Behaviour::kRobots:
      if (rule.type.empty()) head.type = kPlain;
      return Short(request, head, rule.text, exchange, out);
    default:
      break;
  }
  head.type = kPlain;
  const uint64_t bytes = rule.bytes == 0 ? 1'000'000 : rule.bytes;
  body_ = "User-agent: *\n";
  for (uint64_t i = 0; body_.size() < bytes; ++i) {
    fmt::format_to(std::back_inserter(body_), "Disallow: /{}/{}/\n",
                   site_.web().text().word(i), i);
  }
  return Short(request, head, body_, exchange, out);
}

// Another host of the family, "web17.example" to "web4.example", for ever.
std::string Answerer::WebLocation(const Request& request,
                                  const Rule& rule) const {
  const NumberedName name = SplitNumber(request.host);
  const uint64_t bits = Mix(KeyedHash(request.host, 0x726577),
                            KeyedHash(request.target, 0x726577));
  return fmt::format("http://{}{}{}{}/{:x}", name.name,
                     ToBelow(bits, static_cast<uint64_t>(rule.hosts)),
                     name.rest, PortText(), Mix(bits, 1));
}

// Short links that the base makes long: kilobytes a link for a crawler that
// resolves them all at once.
void Answerer::AppendHeavyPage(const Request& request, const Rule& rule) {
  const uint64_t bytes = rule.bytes == 0 ? 2000 : rule.bytes;
  fmt::format_to(std::back_inserter(body_),
                 "<!DOCTYPE html>\n<html><head><base href=\"/{:x}",
                 KeyedHash(request.target, 0x68656176));
  const size_t begin = body_.size();
  while (body_.size() - begin < std::min<uint64_t>(bytes, 1 << 20)) {
    body_.append("/").append(31, 'b');
  }
  body_.append("/\"></head><body>\n");
  for (int64_t i = 0; i < Or(rule.count, 10'000); ++i) {
    fmt::format_to(std::back_inserter(body_), "<a href={}>x</a>\n", i);
  }
  body_.append("</body></html>\n");
}

void Answerer::AppendPortLinks(const Request& request, const Rule& rule) {
  body_.append("<!DOCTYPE html>\n<html><body>\n");
  const std::string_view host =
      rule.of.empty() ? std::string_view(request.host) : rule.of;
  for (int64_t port = 1; port <= Or(rule.count, 1000); ++port) {
    fmt::format_to(std::back_inserter(body_),
                   "<a href=\"http://{}:{}/\">x</a>\n", host, port);
  }
  body_.append("</body></html>\n");
}

Step Answerer::Astray(const Request& request, const Rule& rule,
                      Exchange* exchange, std::string* out) {
  Head head;
  head.type = kHtml;
  body_.clear();
  switch (rule.behaviour) {
    case Behaviour::kRedirectWeb: {
      head.status = static_cast<int>(Or(rule.status, 302));
      const std::string location = WebLocation(request, rule);
      head.location = location;
      return Short(request, head, "<h1>Moved</h1>\n", exchange, out);
    }
    case Behaviour::kLinkFlood: {
      std::string fields;
      const uint64_t seed = KeyedHash(request.target, 0x6c696e6b);
      for (int64_t i = 0; i < Or(rule.count, 400); ++i) {
        fmt::format_to(std::back_inserter(fields),
                       "Link: </{:x}>; rel=\"next\"\r\n",
                       Mix(seed, static_cast<uint64_t>(i)));
      }
      head.fields = fields;
      return Short(request, head, "<h1>Links</h1>\n", exchange, out);
    }
    case Behaviour::kHeavyPage:
      AppendHeavyPage(request, rule);
      break;
    default:
      AppendPortLinks(request, rule);
      break;
  }
  return Short(request, head, body_, exchange, out);
}

// Part of a whole page's answer, and then the end of the connection.
Step Answerer::Cut(const Rule& rule, Head* head, std::string* out) {
  const uint64_t half = body_.size() / 2;
  head->length = static_cast<int64_t>(body_.size());
  AppendHead(*head, out);
  out->append(body_, 0,
              static_cast<size_t>(rule.bytes == 0 ? half : rule.bytes));
  return {rule.behaviour == Behaviour::kHalfClose ? Then::kHalfClose
                                                  : Then::kClose};
}

// Answers that no server should give. All end the connection.
Step Answerer::Broken(const Request& request, const Rule& rule,
                      Exchange* exchange, std::string* out) {
  if (rule.behaviour == Behaviour::kClose ||
      rule.behaviour == Behaviour::kContentType) {
    return Page(request, exchange, out);
  }
  body_.clear();
  const Found found = site_.Find(request, &body_);
  Head head;
  head.status = found.status;
  head.type = found.type;
  head.close = true;
  exchange->status = head.status;
  switch (rule.behaviour) {
    case Behaviour::kEndlessBody:
      exchange->seed = KeyedHash(request.target, 0);
      AppendHead(head, out);
      return {Then::kMore};
    case Behaviour::kHeaderFlood:
      out->append("HTTP/1.1 200 OK\r\n");
      return {Then::kMore};
    case Behaviour::kGzipBomb:
      exchange->bomb = std::make_unique<GzipBomb>(
          rule.bytes == 0 ? uint64_t{1} << 30 : rule.bytes);
      head.gzip = true;
      AppendHead(head, out);
      return {Then::kMore};
    case Behaviour::kBrokenGzip:
      packed_.clear();
      gzip_.Append(body_, &packed_);
      packed_.resize(packed_.size() * 3 / 4);
      for (size_t i = packed_.size() / 2; i < packed_.size(); ++i) {
        packed_[i] = static_cast<char>(packed_[i] ^ 0x55);
      }
      head.gzip = true;
      head.length = static_cast<int64_t>(packed_.size());
      AppendHead(head, out);
      out->append(packed_);
      return {Then::kClose};
    case Behaviour::kBrokenChunking:
      head.chunked = true;
      AppendHead(head, out);
      fmt::format_to(std::back_inserter(*out), "{:x}\r\n", body_.size());
      out->append(body_).append("\r\nno number\r\nand no end");
      return {Then::kClose};
    case Behaviour::kWrongLength:
      head.length =
          std::max<int64_t>(0, static_cast<int64_t>(body_.size()) + rule.by);
      AppendHead(head, out);
      out->append(body_);
      return {Then::kClose};
    default:
      return Cut(rule, &head, out);
  }
}

}  // namespace nephila::sim
