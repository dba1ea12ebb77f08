#include "parse/xml_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/ascii.h"
#include "url/percent.h"

namespace nephila::parse {
namespace {

constexpr bool IsNameStart(char c) {
  return IsAlpha(c) || c == '_' || c == ':' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// What stands between '&' and ';'.
std::optional<char32_t> EntityOf(std::string_view name) {
  struct Named {
    std::string_view name;
    char c;
  };
  constexpr std::array<Named, 5> kNamed = {
      {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}}};
  for (const Named& named : kNamed) {
    if (named.name == name) return static_cast<char32_t>(named.c);
  }
  if (!name.starts_with('#')) return std::nullopt;
  name.remove_prefix(1);
  int base = 10;
  if (name.starts_with('x') || name.starts_with('X')) {
    base = 16;
    name.remove_prefix(1);
  }
  uint32_t number = 0;
  auto [end, error] =
      std::from_chars(name.data(), name.data() + name.size(), number, base);
  bool whole = error == std::errc() && end == name.data() + name.size();
  bool scalar =
      number > 0 && number <= 0x10ffff && (number < 0xd800 || number > 0xdfff);
  if (!whole || !scalar) return std::nullopt;
  return static_cast<char32_t>(number);
}

}  // namespace

void AppendXmlText(std::string_view text, std::string* out) {
  constexpr size_t kLongestEntity = 12;
  for (;;) {
    size_t at = std::min(text.find('&'), text.size());
    out->append(text, 0, at);
    if (at == text.size()) return;
    text.remove_prefix(at + 1);
    size_t end = text.substr(0, kLongestEntity).find(';');
    std::optional<char32_t> c;
    if (end != std::string_view::npos) c = EntityOf(text.substr(0, end));
    if (c) {
      url::AppendUtf8(*c, out);
      text.remove_prefix(end + 1);
    } else {
      out->push_back('&');
    }
  }
}

std::string_view XmlTag::local_name() const {
  return name_.substr(name_.rfind(':') + 1);
}

bool XmlTag::Attribute(std::string_view name, std::string* value) const {
  std::string_view rest = attributes_;
  for (;;) {
    rest.remove_prefix(SkipSpaces(rest, 0));
    if (rest.empty()) return false;
    size_t end = 0;
    while (end < rest.size() && !IsSpace(rest[end]) && rest[end] != '=') ++end;
    std::string_view found = rest.substr(0, end);
    rest.remove_prefix(SkipSpaces(rest, end));
    std::string_view text;
    if (rest.starts_with('=')) {
      rest.remove_prefix(SkipSpaces(rest, 1));
      char quote = rest.empty() ? '\0' : rest[0];
      if (quote == '"' || quote == '\'') {
        size_t close = std::min(rest.find(quote, 1), rest.size());
        text = rest.substr(1, close - 1);
        rest.remove_prefix(std::min(close + 1, rest.size()));
      } else {
        size_t close = 0;
        while (close < rest.size() && !IsSpace(rest[close])) ++close;
        text = rest.substr(0, close);
        rest.remove_prefix(close);
      }
    }
    if (found != name) continue;
    value->clear();
    AppendXmlText(text, value);
    return true;
  }
}

XmlReader::XmlReader(const XmlLimits& limits, XmlSink* sink)
    : limits_(limits), sink_(*sink) {}

bool XmlReader::Feed(std::string_view text) {
  while (!text.empty() && !too_deep_) {
    if (state_ == State::kText) {
      text.remove_prefix(FeedText(text));
      continue;
    }
    char c = text.front();
    text.remove_prefix(1);
    switch (state_) {
      case State::kText:
        break;
      case State::kMarkup:
        FeedMarkup(c);
        break;
      case State::kTag:
        FeedTag(c);
        break;
      case State::kComment:
        if (c == '>' && marks_ >= 2) state_ = State::kText;
        marks_ = c == '-' ? marks_ + (marks_ < 2 ? 1 : 0) : 0;
        break;
      case State::kInstruction:
        if (c == '>' && marks_ > 0) state_ = State::kText;
        marks_ = c == '?' ? 1 : 0;
        break;
      case State::kDeclaration:
        FeedDeclaration(c);
        break;
      case State::kCdata:
        FeedCdata(c);
        break;
    }
  }
  return !too_deep_;
}

// Returns how many bytes it took.
size_t XmlReader::FeedText(std::string_view text) {
  size_t end = text.find('<');
  if (end == std::string_view::npos) {
    AppendText(text);
    return text.size();
  }
  AppendText(text.substr(0, end));
  state_ = State::kMarkup;
  markup_.clear();
  return end + 1;
}

void XmlReader::FeedMarkup(char c) {
  constexpr std::string_view kComment = "!--";
  constexpr std::string_view kCdata = "![CDATA[";
  markup_.push_back(c);
  if (markup_ == kComment) {
    state_ = State::kComment;
    marks_ = 0;
  } else if (markup_ == kCdata) {
    // Text and CDATA are pieces of one text, but only the first has entities.
    FlushText(/*resolve=*/true);
    state_ = State::kCdata;
    marks_ = 0;
  } else if (kComment.starts_with(markup_) || kCdata.starts_with(markup_)) {
    return;
  } else if (markup_[0] == '!') {
    state_ = State::kDeclaration;
    depth_ = 0;
    quote_ = 0;
    for (char seen : std::string_view(markup_).substr(1)) {
      if (state_ == State::kDeclaration) FeedDeclaration(seen);
    }
  } else if (c == '?') {
    state_ = State::kInstruction;
    marks_ = 0;
  } else if (IsNameStart(c) || c == '/') {
    BeginTag(c);
  } else {
    AppendText("<");
    state_ = State::kText;
    // It may be the '<' of a tag.
    if (c == '<') {
      state_ = State::kMarkup;
      markup_.clear();
    } else {
      AppendText(std::string_view(&c, 1));
    }
  }
}

void XmlReader::BeginTag(char c) {
  FlushText(/*resolve=*/true);
  state_ = State::kTag;
  markup_.assign(1, c);
  tag_cut_ = false;
  quote_ = 0;
  after_equals_ = false;
}

void XmlReader::FeedTag(char c) {
  if (c == '>' && quote_ == 0) {
    state_ = State::kText;
    if (tag_cut_) {
      ++oversized_tags_;
    } else {
      FinishTag();
    }
    return;
  }
  if (quote_ != 0) {
    if (c == quote_) quote_ = 0;
  } else if ((c == '"' || c == '\'') && after_equals_) {
    quote_ = c;
  }
  if (!IsSpace(c)) after_equals_ = c == '=' && quote_ == 0;
  if (markup_.size() < limits_.max_tag_bytes) {
    markup_.push_back(c);
  } else {
    tag_cut_ = true;
  }
}

// A document type may have declarations of its own in brackets.
void XmlReader::FeedDeclaration(char c) {
  if (quote_ != 0) {
    if (c == quote_) quote_ = 0;
  } else if (c == '"' || c == '\'') {
    quote_ = c;
  } else if (c == '[') {
    ++depth_;
  } else if (c == ']') {
    if (depth_ > 0) --depth_;
  } else if (c == '>' && depth_ == 0) {
    state_ = State::kText;
  }
}

void XmlReader::FeedCdata(char c) {
  if (c == '>' && marks_ == 2) {
    FlushText(/*resolve=*/false);
    state_ = State::kText;
    return;
  }
  // Two brackets are held back until it is clear that they do not end it.
  if (c == ']') {
    if (marks_ == 2) {
      AppendText("]");
    } else {
      ++marks_;
    }
    return;
  }
  AppendText(std::string_view("]]").substr(0, static_cast<size_t>(marks_)));
  marks_ = 0;
  AppendText(std::string_view(&c, 1));
}

void XmlReader::AppendText(std::string_view text) {
  size_t room = limits_.max_text_bytes - text_.size();
  if (text.size() > room) text_cut_ = true;
  text_.append(text.substr(0, room));
}

void XmlReader::FlushText(bool resolve) {
  if (text_.empty() && !text_cut_) return;
  if (resolve && text_.find('&') != std::string::npos) {
    std::string resolved;
    AppendXmlText(text_, &resolved);
    sink_.OnText(resolved, text_cut_);
  } else {
    sink_.OnText(text_, text_cut_);
  }
  text_.clear();
  text_cut_ = false;
}

void XmlReader::FinishTag() {
  std::string_view tag = markup_;
  if (tag.starts_with('/')) {
    EndElement(TrimSpaces(tag.substr(1)));
    return;
  }
  bool empty = tag.ends_with('/');
  if (empty) tag.remove_suffix(1);
  size_t end = 0;
  while (end < tag.size() && !IsSpace(tag[end]) && tag[end] != '/') ++end;
  std::string name(tag.substr(0, end));
  StartElement(name, tag.substr(end));
  if (empty && !too_deep_) EndElement(name);
}

void XmlReader::StartElement(std::string_view name,
                             std::string_view attributes) {
  if (open_.size() == limits_.max_depth) {
    too_deep_ = true;
    return;
  }
  seen_root_ = true;
  open_.emplace_back(name);
  sink_.OnStart(XmlTag(name, attributes));
}

// Closes the innermost element of that name and what is open inside of it.
void XmlReader::EndElement(std::string_view name) {
  auto found = std::find(open_.rbegin(), open_.rend(), name);
  if (found == open_.rend()) return;
  auto count = static_cast<size_t>(found - open_.rbegin()) + 1;
  for (size_t i = 0; i < count; ++i) {
    sink_.OnEnd(open_.back());
    open_.pop_back();
  }
}

}  // namespace nephila::parse
