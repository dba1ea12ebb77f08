// Tokenizer: text that only its own end tag ends, scripts with their escapes,
// PLAINTEXT and CDATA (HTML s13.2.5.2 to .5, s13.2.5.9 to .31, s13.2.5.69 to
// .71). Included by tokenizer.h.
#pragma once

#include "parse/tokenizer.h"

namespace nephila::parse {

template <typename Sink>
const char* Tokenizer<Sink>::RawText(const char* p) {
  const char* less = FindByte(p, end_, '<');
  EmitText(p, less, KindOf(state_));
  if (less == end_) return end_;
  BeginToken(less);
  raw_state_ = state_;
  state_ = State::kRawLess;
  return less + 1;
}

template <typename Sink>
const char* Tokenizer<Sink>::RawLess(const char* p) {
  if (*p == '/') {
    matched_ = 0;
    state_ = State::kRawEndTag;
    return p + 1;
  }
  NoEndTag(p);
  if (raw_state_ == State::kScript && *p == '!') {
    EmitText(p, p + 1, TextKind::kRawtext);
    dashes_ = 0;
    state_ = State::kScriptEscapeStart;
    return p + 1;
  }
  if (raw_state_ == State::kScriptEscaped && IsAlpha(*p)) {
    matched_ = 0;
    state_ = State::kScriptDoubleEscapeStart;
  }
  return p;
}

// Behind "</": only the name of the tag that opened the text ends it.
template <typename Sink>
const char* Tokenizer<Sink>::RawEndTag(const char* p) {
  while (matched_ < last_start_tag_.size()) {
    if (p == end_) return p;
    if (Lower(*p) != last_start_tag_[matched_]) return NoEndTag(p);
    ++matched_;
    ++p;
  }
  if (p == end_) return p;
  if (last_start_tag_.empty() || !EndsTagName(*p)) return NoEndTag(p);
  is_end_tag_ = true;
  name_begin_ = 2;
  EndTagName(p);
  state_ = State::kBeforeAttributeName;
  return p;
}

template <typename Sink>
const char* Tokenizer<Sink>::NoEndTag(const char* p) {
  EmitTokenAsText(p, KindOf(raw_state_));
  state_ = raw_state_;
  return p;
}

// Behind "<!" in a script: "--" makes it escaped, and counts as the dashes
// that a '>' would end it with.
template <typename Sink>
const char* Tokenizer<Sink>::ScriptEscapeStart(const char* p) {
  if (*p != '-') {
    dashes_ = 0;
    state_ = State::kScript;
    return p;
  }
  EmitText(p, p + 1, TextKind::kRawtext);
  if (++dashes_ == 2) state_ = State::kScriptEscaped;
  return p + 1;
}

template <typename Sink>
const char* Tokenizer<Sink>::ScriptEscaped(const char* p) {
  const char* begin = p;
  while (p != end_) {
    if (dashes_ == 0) p = FindEither(p, end_, '-', '<');
    if (p == end_) break;
    char c = *p++;
    if (c == '-') {
      dashes_ = std::min(dashes_ + 1, 2);
      continue;
    }
    if (c == '>' && dashes_ == 2) {
      dashes_ = 0;
      state_ = State::kScript;
      break;
    }
    dashes_ = 0;
    if (c != '<') continue;
    if (state_ == State::kScriptDoubleEscaped) {
      state_ = State::kScriptDoubleLess;
      break;
    }
    EmitText(begin, p - 1, TextKind::kRawtext);
    BeginToken(p - 1);
    raw_state_ = State::kScriptEscaped;
    state_ = State::kRawLess;
    return p;
  }
  EmitText(begin, p, TextKind::kRawtext);
  return p;
}

template <typename Sink>
const char* Tokenizer<Sink>::ScriptDoubleLess(const char* p) {
  if (*p != '/') {
    state_ = State::kScriptDoubleEscaped;
    return p;
  }
  EmitText(p, p + 1, TextKind::kRawtext);
  matched_ = 0;
  state_ = State::kScriptDoubleEscapeEnd;
  return p + 1;
}

// Behind '<' in an escaped script, or "</" in a doubly escaped one: the name
// "script" changes between the two.
template <typename Sink>
const char* Tokenizer<Sink>::ScriptName(const char* p) {
  constexpr std::string_view kScriptName = "script";
  constexpr size_t kOtherName = kScriptName.size() + 1;
  bool is_start = state_ == State::kScriptDoubleEscapeStart;
  const char* begin = p;
  while (p != end_ && IsAlpha(*p)) {
    bool same =
        matched_ < kScriptName.size() && Lower(*p) == kScriptName[matched_];
    matched_ = same ? matched_ + 1 : kOtherName;
    ++p;
  }
  if (p != end_) {
    bool ends = EndsTagName(*p);
    bool changes = ends && matched_ == kScriptName.size();
    state_ = is_start == changes ? State::kScriptDoubleEscaped
                                 : State::kScriptEscaped;
    if (ends) ++p;
  }
  EmitText(begin, p, TextKind::kRawtext);
  return p;
}

template <typename Sink>
const char* Tokenizer<Sink>::Plaintext(const char* p) {
  EmitText(p, end_, TextKind::kRawtext);
  return end_;
}

template <typename Sink>
const char* Tokenizer<Sink>::Cdata(const char* p) {
  constexpr std::string_view kBrackets = "]]";
  while (p != end_) {
    if (dashes_ == 0) {
      const char* bracket = FindByte(p, end_, ']');
      EmitText(p, bracket, TextKind::kCdata);
      if (bracket == end_) return end_;
      dashes_ = 1;
      p = bracket + 1;
      continue;
    }
    if (*p == '>' && dashes_ == 2) {
      dashes_ = 0;
      state_ = State::kData;
      return p + 1;
    }
    if (*p == ']') {  // of three brackets the first is text
      if (dashes_ == 2) EmitText(p, p + 1, TextKind::kCdata);
      dashes_ = 2;
      ++p;
      continue;
    }
    EmitText(kBrackets.data(), kBrackets.data() + dashes_, TextKind::kCdata);
    dashes_ = 0;
  }
  return p;
}

}  // namespace nephila::parse
