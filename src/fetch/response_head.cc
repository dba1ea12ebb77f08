#include "fetch/response_head.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "fetch/http_date.h"

namespace nephila::fetch {
namespace {

// A number of digits alone; none also if it is too large.
std::optional<uint64_t> NumberOf(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() ||
      end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

bool IsEmptyLine(std::string_view line) {
  return line == "\n" || line == "\r\n";
}

}  // namespace

HeadLimits HeadLimitsOf(const config::FetchSettings& settings) {
  HeadLimits limits;
  limits.max_bytes = static_cast<size_t>(settings.max_head_bytes);
  limits.max_fields = static_cast<size_t>(settings.max_head_fields);
  return limits;
}

void ResponseHead::Clear() {
  state_ = HeadState::kMore;
  text_.clear();
  line_begin_ = 0;
  lines_ = 0;
  earlier_bytes_ = 0;
  earlier_lines_ = 0;
  earlier_heads_ = 0;
  status_ = 0;
  version_ = {};
  reason_ = {};
  fields_.clear();
  folded_.clear();
  malformed_lines_ = 0;
}

void ResponseHead::Clear(const HeadLimits& limits) {
  limits_ = limits;
  Clear();
}

HeadState ResponseHead::Add(std::string_view* bytes) {
  while (state_ == HeadState::kMore && !bytes->empty()) {
    const size_t newline = bytes->find('\n');
    const bool whole = newline != std::string_view::npos;
    const size_t take = whole ? newline + 1 : bytes->size();
    if (earlier_bytes_ + text_.size() + take > limits_.max_bytes) {
      state_ = HeadState::kTooLong;
      break;
    }
    text_.append(bytes->substr(0, take));
    bytes->remove_prefix(take);
    if (!whole) break;
    state_ = AddLine(std::string_view(text_).substr(line_begin_));
    if (state_ == HeadState::kMore) line_begin_ = text_.size();
  }
  return state_;
}

// `line`, the last one of text_, has its end.
HeadState ResponseHead::AddLine(std::string_view line) {
  if (lines_ == 0) {
    if (IsEmptyLine(line)) {
      // Behind a body that was longer than it said; it is of no head.
      earlier_bytes_ += text_.size();
      text_.clear();
      return HeadState::kMore;
    }
    if (!ReadStatusLine(TakeLine(&line))) return HeadState::kNotHttp;
    lines_ = 1;
    return HeadState::kMore;
  }
  if (!IsEmptyLine(line)) {
    ++lines_;
    // One of them is the status line.
    return earlier_lines_ + lines_ - 1 > limits_.max_fields
               ? HeadState::kTooManyFields
               : HeadState::kMore;
  }
  return Read();
}

HeadState ResponseHead::Finish() {
  if (state_ != HeadState::kMore || lines_ == 0) return state_;
  // The line that has no end counts too.
  const bool cut = line_begin_ < text_.size();
  const size_t fields = earlier_lines_ + lines_ - 1 + (cut ? 1 : 0);
  state_ = fields > limits_.max_fields ? HeadState::kTooManyFields : Read();
  return state_;
}

// text_ is a whole head.
HeadState ResponseHead::Read() {
  constexpr int kSwitchingProtocols = 101;
  std::string_view rest = text_;
  ReadStatusLine(TakeLine(&rest));  // text_ has moved since
  if (status_ < 200 && status_ != kSwitchingProtocols) {
    ++earlier_heads_;
    earlier_bytes_ += text_.size();
    earlier_lines_ += lines_;
    text_.clear();
    lines_ = 0;
    line_begin_ = 0;
    status_ = 0;
    version_ = {};
    reason_ = {};
    return HeadState::kMore;
  }
  ReadFields(rest);
  return HeadState::kComplete;
}

// "HTTP/1.1 200 OK"; also "HTTP/1.0 302" and "HTTP/2 200 ".
bool ResponseHead::ReadStatusLine(std::string_view line) {
  constexpr std::string_view kName = "HTTP/";
  if (!StartsWithIgnoreCase(line, kName)) return false;
  line.remove_prefix(kName.size());
  const size_t space = std::min(line.find_first_of(" \t"), line.size());
  version_ = line.substr(0, space);
  if (version_.empty() || version_.size() > 3 ||
      version_.find_first_not_of("0123456789.") != std::string_view::npos) {
    return false;
  }
  line = TrimSpaces(line.substr(space));
  const auto status = NumberOf(line.substr(0, 3));
  if (!status || *status < 100) return false;
  if (line.size() > 3 && !IsSpace(line[3])) return false;
  status_ = static_cast<int>(*status);
  reason_ = TrimSpaces(line.substr(3));
  return true;
}

void ResponseHead::ReadFields(std::string_view lines) {
  bool after_field = false;
  while (!lines.empty()) {
    const std::string_view line = TakeLine(&lines);
    if (line.empty()) break;
    if (line[0] == ' ' || line[0] == '\t') {
      if (after_field) {
        Fold(TrimSpaces(line));
      } else {
        ++malformed_lines_;
      }
      continue;
    }
    const size_t colon = line.find(':');
    const std::string_view name = TrimSpaces(line.substr(0, colon));
    after_field = colon != std::string_view::npos && IsToken(name);
    if (after_field) {
      fields_.push_back({name, TrimSpaces(line.substr(colon + 1))});
    } else {
      ++malformed_lines_;
    }
  }
}

void ResponseHead::Fold(std::string_view more) {
  std::string_view& value = fields_.back().value;
  if (more.empty()) return;
  if (folded_.empty() || value.data() != folded_.back().data()) {
    folded_.emplace_back(value);
  }
  std::string& joined = folded_.back();
  if (!joined.empty()) joined += ' ';
  joined += more;
  value = joined;
}

std::string_view ResponseHead::Get(std::string_view name) const {
  for (const HeadField& field : fields_) {
    if (EqualsIgnoreCase(field.name, name)) return field.value;
  }
  return {};
}

bool ResponseHead::Has(std::string_view name) const {
  return std::any_of(fields_.begin(), fields_.end(),
                     [&](const HeadField& field) {
                       return EqualsIgnoreCase(field.name, name);
                     });
}

std::string ResponseHead::Combined(std::string_view name) const {
  std::string all;
  ForEach(name, [&](std::string_view value) {
    if (!all.empty()) all += ", ";
    all += value;
  });
  return all;
}

std::optional<uint64_t> ResponseHead::content_length() const {
  std::optional<uint64_t> length;
  bool bad = false;
  ForEach("Content-Length", [&](std::string_view value) {
    while (true) {
      const size_t comma = value.find(',');
      const auto number = NumberOf(TrimSpaces(value.substr(0, comma)));
      bad = bad || !number || (length && *length != *number);
      length = number;
      if (comma == std::string_view::npos) break;
      value.remove_prefix(comma + 1);
    }
  });
  return bad ? std::nullopt : length;
}

bool ResponseHead::chunked() const {
  std::string_view last;
  ForEach("Transfer-Encoding", [&](std::string_view value) {
    // Empty elements of a list are none (RFC 9110 s5.6.1.2).
    while (!value.empty()) {
      const size_t comma = std::min(value.find(','), value.size());
      const std::string_view coding = TrimSpaces(value.substr(0, comma));
      if (!coding.empty()) last = coding;
      value.remove_prefix(std::min(comma + 1, value.size()));
    }
  });
  return EqualsIgnoreCase(last, "chunked");
}

std::optional<std::chrono::nanoseconds> ResponseHead::RetryAfter(
    WallTime now, std::chrono::nanoseconds most) const {
  const std::string_view value = Get("Retry-After");
  if (value.empty()) return std::nullopt;
  if (std::all_of(value.begin(), value.end(), IsDigit)) {
    const auto most_seconds = static_cast<uint64_t>(
        std::chrono::ceil<std::chrono::seconds>(most).count());
    // Too large for a number is too long for us.
    const uint64_t seconds = NumberOf(value).value_or(most_seconds);
    if (seconds >= most_seconds) return most;
    return std::chrono::seconds(seconds);
  }
  const auto date = ParseHttpDate(value, now);
  if (!date) return std::nullopt;
  if (*date <= now) return std::chrono::nanoseconds(0);
  // The difference of two times may be too large for one.
  if (now <= WallTime::max() - most && *date >= now + most) return most;
  return *date - now;
}

}  // namespace nephila::fetch
