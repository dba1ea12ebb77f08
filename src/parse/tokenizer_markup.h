// Tokenizer: comments, bogus comments, DOCTYPE and the door to CDATA (HTML
// s13.2.5.41 to .68). Included by tokenizer.h.
#pragma once

#include "parse/tokenizer.h"

namespace nephila::parse {

// Behind "<!": one byte after the other is compared with the one thing that
// the first of them can begin. What is none of them is a bogus comment.
template <typename Sink>
const char* Tokenizer<Sink>::MarkupDeclaration(const char* p) {
  size_t at = Offset(p) - 2;
  if (at == 0) {
    if (*p == '-') candidate_ = "--";
    if (Lower(*p) == 'd') candidate_ = "doctype";
    if (*p == '[' && sink_->InForeignContent()) candidate_ = "[CDATA[";
  }
  bool same = at < candidate_.size() &&
              (candidate_[0] == 'd' ? Lower(*p) : *p) == candidate_[at];
  if (!same) {
    BeginBogusComment(2);
    return p;
  }
  ++p;
  if (at + 1 < candidate_.size()) return p;
  if (candidate_[0] == '[') {
    EmitTextEnd();
    EndToken();
    dashes_ = 0;
    state_ = State::kCdata;
    return p;
  }
  comment_begin_ = Offset(p);
  keep_ = Sink::kWantsComments;
  dashes_ = 0;
  bang_ = false;
  state_ = candidate_[0] == '-' ? State::kCommentStart : State::kDoctype;
  return p;
}

template <typename Sink>
void Tokenizer<Sink>::BeginBogusComment(size_t begin) {
  comment_begin_ = begin;
  keep_ = Sink::kWantsComments;
  state_ = State::kBogusComment;
}

template <typename Sink>
const char* Tokenizer<Sink>::BogusComment(const char* p) {
  p = FindByte(p, end_, '>');
  return p == end_ ? p : FinishComment(Offset(p), p);
}

// "<!-->" and "<!--->" are empty comments.
template <typename Sink>
const char* Tokenizer<Sink>::CommentStart(const char* p) {
  if (*p == '>') return FinishComment(comment_begin_, p);
  if (*p != '-') {
    dashes_ = 0;
    state_ = State::kComment;
    return p;
  }
  if (++dashes_ == 2) state_ = State::kComment;
  return p + 1;
}

// Ends at "-->" or "--!>". The less-than states (s13.2.5.46 to .49) only find
// parse errors.
template <typename Sink>
const char* Tokenizer<Sink>::Comment(const char* p) {
  while (p != end_) {
    if (dashes_ == 0) {
      p = FindByte(p, end_, '-');
      if (p == end_) return p;
      dashes_ = 1;
      ++p;
      continue;
    }
    char c = *p;
    if (bang_) {
      if (c == '>') return FinishComment(Offset(p) - 3, p);
      bang_ = false;
      dashes_ = 0;
      continue;
    }
    if (dashes_ == 2 && c == '>') return FinishComment(Offset(p) - 2, p);
    bang_ = dashes_ == 2 && c == '!';
    if (c == '-') {
      dashes_ = 2;
    } else if (!bang_) {
      dashes_ = 0;
    }
    ++p;
  }
  return p;
}

// In whatever state of a DOCTYPE, '>' ends it (s13.2.5.53 to .68).
template <typename Sink>
const char* Tokenizer<Sink>::Doctype(const char* p) {
  p = FindByte(p, end_, '>');
  if (p == end_) return p;
  EmitTextEnd();
  if constexpr (Sink::kWantsComments) {
    sink_->OnDoctype(Slice(comment_begin_, Offset(p), p), /*at_end=*/false);
  }
  EndToken();
  state_ = State::kData;
  return p + 1;
}

// `p` stands on the '>'.
template <typename Sink>
const char* Tokenizer<Sink>::FinishComment(size_t end, const char* p) {
  EmitTextEnd();
  if constexpr (Sink::kWantsComments) {
    sink_->OnComment(Slice(comment_begin_, end, p));
  }
  EndToken();
  state_ = State::kData;
  return p + 1;
}

// The input ends in a comment or DOCTYPE.
template <typename Sink>
void Tokenizer<Sink>::FinishMarkup() {
  if constexpr (Sink::kWantsComments) {
    size_t end = carried_;
    switch (state_) {
      case State::kMarkupDeclaration:
        sink_->OnComment(Slice(2, end, nullptr));
        break;
      case State::kBogusComment:
        sink_->OnComment(Slice(comment_begin_, end, nullptr));
        break;
      case State::kCommentStart:
      case State::kComment:
        end -= static_cast<size_t>(bang_ ? 3 : dashes_);
        sink_->OnComment(Slice(comment_begin_, end, nullptr));
        break;
      case State::kDoctype:
        sink_->OnDoctype(Slice(comment_begin_, end, nullptr), /*at_end=*/true);
        break;
      default:
        break;
    }
  }
}

}  // namespace nephila::parse
