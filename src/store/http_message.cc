#include "store/http_message.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/ascii.h"
#include "base/text.h"
#include "store/header_lines.h"

namespace nephila::store {
namespace {

bool IsVersionNumber(std::string_view text) {
  return !text.empty() && text.size() <= 8 &&
         text.find_first_not_of("0123456789.") == std::string_view::npos;
}

// "HTTP/1.1 200 OK"; also "HTTP/1.0 302" and "HTTP/1.1  200".
bool ReadStatusLine(std::string_view line, HttpHead* head) {
  constexpr std::string_view kName = "HTTP/";
  if (!EqualsIgnoreCase(line.substr(0, kName.size()), kName)) return false;
  line.remove_prefix(kName.size());
  size_t space = std::min(line.find(' '), line.size());
  if (!IsVersionNumber(line.substr(0, space))) return false;
  head->version = line.substr(0, space);
  line = TrimSpace(line.substr(space));
  if (line.size() < 3) return false;
  auto [end, error] =
      std::from_chars(line.data(), line.data() + 3, head->status);
  if (error != std::errc() || end != line.data() + 3 || head->status < 100) {
    return false;
  }
  line.remove_prefix(3);
  if (!line.empty() && line[0] != ' ' && line[0] != '\t') return false;
  head->reason = TrimSpace(line);
  return true;
}

// "GET /path HTTP/1.1". A target may hold spaces in careless clients.
bool ReadRequestLine(std::string_view line, HttpHead* head) {
  line = TrimSpace(line);
  size_t space = line.find(' ');
  if (space == std::string_view::npos) return false;
  if (!IsToken(line.substr(0, space))) return false;
  head->method = line.substr(0, space);
  line = TrimSpace(line.substr(space));
  size_t last = line.rfind(" HTTP/");
  if (last != std::string_view::npos) {
    std::string_view version = line.substr(last + 6);
    if (IsVersionNumber(version)) {
      head->version = version;
      line = TrimSpace(line.substr(0, last));
    }
  }
  head->target = line;
  return !line.empty();
}

}  // namespace

const std::string* HttpHead::Find(std::string_view name) const {
  for (const HttpField& field : fields) {
    if (EqualsIgnoreCase(field.name, name)) return &field.value;
  }
  return nullptr;
}

std::string_view HttpHead::Get(std::string_view name) const {
  const std::string* value = Find(name);
  return value != nullptr ? std::string_view(*value) : std::string_view();
}

bool HttpHead::chunked() const {
  std::string_view last;
  for (const HttpField& field : fields) {
    if (EqualsIgnoreCase(field.name, "Transfer-Encoding")) last = field.value;
  }
  size_t comma = last.rfind(',');
  if (comma != std::string_view::npos) last.remove_prefix(comma + 1);
  return EqualsIgnoreCase(TrimSpace(last), "chunked");
}

std::string HttpHead::media_type() const {
  std::string_view value = Get("Content-Type");
  return LowerAscii(TrimSpace(value.substr(0, value.find(';'))));
}

std::string_view HttpHeadErrorText(HttpHeadError error) {
  switch (error) {
    case HttpHeadError::kNotHttp:
      return "the block does not begin as an HTTP message";
    case HttpHeadError::kTooLong:
      return "the HTTP head is longer than the limit";
  }
  return "";
}

Result<HttpHead, HttpHeadError> ParseHttpHead(std::string_view text,
                                              HttpKind kind) {
  HttpHead head;
  head.bytes = text.size();
  std::string_view line = TakeLine(&text);
  bool good = kind == HttpKind::kResponse ? ReadStatusLine(line, &head)
                                          : ReadRequestLine(line, &head);
  if (!good) return Unexpected(HttpHeadError::kNotHttp);
  head.malformed_lines =
      ForEachField(text, [&](std::string_view name, std::string value) {
        head.fields.push_back({std::string(name), std::move(value)});
      });
  return head;
}

void HttpBlock::GiveBody(std::string_view piece, const ByteSink& sink) {
  if (piece.empty()) return;
  if (raw_sink_) raw_sink_(piece);
  if (chunked_) {
    decoder_.Feed(piece, sink);
  } else {
    sink(piece);
  }
}

void HttpBlock::EndHead(size_t head_bytes, const ByteSink& sink) {
  state_ = State::kBody;
  std::string block = std::exchange(buffer_, {});
  std::string_view text = block;
  auto head = ParseHttpHead(text.substr(0, head_bytes), kind_);
  if (head) {
    head_ = *std::move(head);
    chunked_ = head_.chunked();
    text.remove_prefix(head_bytes);
  } else {
    error_ = head.error();
  }
  GiveBody(text, sink);
}

void HttpBlock::Feed(std::string_view piece, const ByteSink& sink) {
  if (state_ == State::kBody) return GiveBody(piece, sink);
  size_t before = buffer_.size();
  buffer_ += piece;
  size_t end = FindHeaderEnd(buffer_, before);
  if (end != std::string_view::npos && end <= max_head_bytes_) {
    EndHead(end, sink);
  } else if (buffer_.size() > max_head_bytes_) {
    state_ = State::kBody;
    error_ = HttpHeadError::kTooLong;
    std::string block = std::exchange(buffer_, {});
    GiveBody(block, sink);
  }
}

void HttpBlock::Finish(const ByteSink& sink) {
  if (state_ == State::kHead) EndHead(buffer_.size(), sink);
  if (chunked_) transfer_ = decoder_.Finish(sink);
}

}  // namespace nephila::store
