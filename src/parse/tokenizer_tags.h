// Tokenizer: data, tags and attributes (HTML s13.2.5.1, s13.2.5.6 to .8,
// s13.2.5.32 to .40). Included by tokenizer.h.
#pragma once

#include "parse/tokenizer.h"

namespace nephila::parse {

template <typename Sink>
inline const char* Tokenizer<Sink>::Data(const char* p) {
  const char* less = FindByte(p, end_, '<');
  EmitText(p, less, TextKind::kData);
  if (less == end_) return end_;
  BeginToken(less);
  p = less + 1;
  if (end_ - p >= 2) {  // nearly always: a tag, and all of "</a" in sight
    bool slash = *p == '/';
    if (IsAlpha(p[slash ? 1 : 0])) {
      is_end_tag_ = slash;
      p += slash ? 1 : 0;
      name_begin_ = slash ? 2 : 1;
      return TagName(p);
    }
  }
  state_ = State::kTagOpen;
  return p;
}

template <typename Sink>
const char* Tokenizer<Sink>::TagOpen(const char* p) {
  if (IsAlpha(*p)) {
    is_end_tag_ = false;
    name_begin_ = Offset(p);
    state_ = State::kTagName;
    return p;
  }
  if (*p == '/') {
    state_ = State::kEndTagOpen;
    return p + 1;
  }
  if (*p == '!') {
    candidate_ = {};
    state_ = State::kMarkupDeclaration;
    return p + 1;
  }
  if (*p == '?') {
    BeginBogusComment(Offset(p));
    return p;
  }
  EmitTokenAsText(p, TextKind::kData);
  state_ = State::kData;
  return p;
}

template <typename Sink>
const char* Tokenizer<Sink>::EndTagOpen(const char* p) {
  if (IsAlpha(*p)) {
    is_end_tag_ = true;
    name_begin_ = Offset(p);
    state_ = State::kTagName;
    return p;
  }
  if (*p == '>') {
    EmitTextEnd();
    EndToken();
    state_ = State::kData;
    return p + 1;
  }
  BeginBogusComment(Offset(p));
  return p;
}

template <typename Sink>
inline const char* Tokenizer<Sink>::TagName(const char* p) {
  p = FindTagNameEnd(p, end_);
  if (p == end_) {
    state_ = State::kTagName;
    return p;
  }
  EndTagName(p);
  return Attributes(p);
}

template <typename Sink>
inline void Tokenizer<Sink>::EndTagName(const char* p) {
  name_end_ = Offset(p);
  slash_ = false;
  interest_ = TagInterest::kNone;
  if (is_end_tag_) return;
  interest_ = sink_->OnTagName(Slice(name_begin_, name_end_, p));
  keep_ = interest_ != TagInterest::kNone;
  spans_.clear();
}

// The states around attributes, each in the loop as long as the chunk holds
// it. Behind a quoted value everything is as before a name (s13.2.5.39 differs
// in parse errors alone), and so it is behind a '/' that no '>' follows.
template <typename Sink>
inline const char* Tokenizer<Sink>::Attributes(const char* p) {
  for (;;) {
    while (p != end_ && (IsSpace(*p) || *p == '/')) {
      slash_ = *p == '/';
      ++p;
    }
    if (p == end_) {
      state_ = State::kBeforeAttributeName;
      return p;
    }
    if (*p == '>') return FinishTag(p + 1);
    slash_ = false;
    attribute_begin_ = Offset(p);
    p = FindAttributeNameEnd(p + 1, end_);  // a name may begin with '='
    if (p == end_) {
      state_ = State::kAttributeName;
      return p;
    }
    EndAttributeName(p);
    if (*p == '/' || *p == '>') continue;
    if (*p != '=') {
      state_ = State::kAfterAttributeName;
      return p;
    }
    ++p;
    if (p == end_ || (*p != '"' && *p != '\'')) {
      state_ = State::kBeforeValue;
      return p;
    }
    char quote = *p++;
    value_begin_ = Offset(p);
    p = FindByte(p, end_, quote);
    if (p == end_) {
      state_ =
          quote == '"' ? State::kDoubleQuotedValue : State::kSingleQuotedValue;
      return p;
    }
    EndValue(p);
    ++p;
  }
}

template <typename Sink>
const char* Tokenizer<Sink>::AttributeName(const char* p) {
  p = FindAttributeNameEnd(p, end_);
  if (p == end_) return p;
  EndAttributeName(p);
  if (*p == '=') {
    state_ = State::kBeforeValue;
    return p + 1;
  }
  state_ = State::kAfterAttributeName;
  return p;
}

template <typename Sink>
const char* Tokenizer<Sink>::AfterAttributeName(const char* p) {
  while (p != end_ && IsSpace(*p)) ++p;
  if (p == end_) return p;
  if (*p == '=') {
    state_ = State::kBeforeValue;
    return p + 1;
  }
  state_ = State::kBeforeAttributeName;
  return p;
}

template <typename Sink>
const char* Tokenizer<Sink>::BeforeValue(const char* p) {
  while (p != end_ && IsSpace(*p)) ++p;
  if (p == end_) return p;
  if (*p == '"' || *p == '\'') {
    state_ = *p == '"' ? State::kDoubleQuotedValue : State::kSingleQuotedValue;
    value_begin_ = Offset(p + 1);
    return p + 1;
  }
  if (*p == '>') {  // no value
    state_ = State::kBeforeAttributeName;
    return p;
  }
  state_ = State::kUnquotedValue;
  value_begin_ = Offset(p);
  return p;
}

template <typename Sink>
const char* Tokenizer<Sink>::QuotedValue(const char* p, char quote) {
  p = FindByte(p, end_, quote);
  if (p == end_) return p;
  EndValue(p);
  state_ = State::kBeforeAttributeName;
  return p + 1;
}

template <typename Sink>
const char* Tokenizer<Sink>::UnquotedValue(const char* p) {
  p = FindUnquotedValueEnd(p, end_);
  if (p == end_) return p;
  EndValue(p);
  state_ = State::kBeforeAttributeName;
  return p;
}

template <typename Sink>
inline void Tokenizer<Sink>::EndAttributeName(const char* p) {
  if (interest_ != TagInterest::kAttributes) return;
  size_t name_end = Offset(p);
  attribute_id_ = -1;
  std::string_view name = Slice(attribute_begin_, name_end, p);
  if (name_end > max_token_bytes_) return;
  attribute_id_ = sink_->OnAttributeName(name);
  if (attribute_id_ < 0) return;
  spans_.push_back({attribute_id_, attribute_begin_, name_end, 0, 0});
}

template <typename Sink>
inline void Tokenizer<Sink>::EndValue(const char* p) {
  if (interest_ != TagInterest::kAttributes || attribute_id_ < 0) return;
  size_t value_end = Offset(p);
  if (value_end > max_token_bytes_) {
    ++cut_;
    spans_.pop_back();
    attribute_id_ = -1;
    return;
  }
  spans_.back().value_begin = value_begin_;
  spans_.back().value_end = value_end;
}

// `p` stands behind the '>'.
template <typename Sink>
inline const char* Tokenizer<Sink>::FinishTag(const char* p) {
  state_ = State::kData;
  if (is_end_tag_) {
    sink_->OnEndTag(Slice(name_begin_, name_end_, p));
  } else if (interest_ != TagInterest::kNone) {
    EmitStartTag(p);
  }
  EndToken();
  return p;
}

template <typename Sink>
inline void Tokenizer<Sink>::EmitStartTag(const char* p) {
  std::string_view name = Slice(name_begin_, name_end_, p);
  // All spans lie before the bound, and the slice took over what was carried.
  const char* base = carried_ == 0 ? token_begin_ : token_.data();
  attributes_.clear();
  for (const AttributeSpan& span : spans_) {
    attributes_.push_back(
        {span.id,
         {base + span.name_begin, span.name_end - span.name_begin},
         {base + span.value_begin, span.value_end - span.value_begin}});
  }
  ContentModel model = sink_->OnStartTag({name, attributes_, slash_});
  if (model != ContentModel::kData) {
    state_ = StateOf(model);
    last_start_tag_.clear();
    AppendName(name, &last_start_tag_);
  }
}

}  // namespace nephila::parse
