#include "parse/link_header.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace nephila::parse {
namespace {

// Optional white space of RFC 9110 s5.6.3, and the line breaks of old folded
// headers.
constexpr bool IsOws(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// "  Next   PREV " becomes "next prev".
void NormalizeRel(std::string* rel) {
  size_t out = 0;
  for (char c : *rel) {
    if (!IsSpace(c)) {
      (*rel)[out++] = Lower(c);
    } else if (out > 0 && (*rel)[out - 1] != ' ') {
      (*rel)[out++] = ' ';
    }
  }
  if (out > 0 && (*rel)[out - 1] == ' ') --out;
  rel->resize(out);
}

}  // namespace

bool HeaderLink::HasRel(std::string_view word) const {
  std::string_view words = rel;
  while (!words.empty()) {
    size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

void LinkHeaderReader::SkipOws() {
  while (at_ < value_.size() && IsOws(value_[at_])) ++at_;
}

// To the comma that ends an element; those in quoted strings do not.
void LinkHeaderReader::SkipToComma() {
  bool quoted = false;
  for (; at_ < value_.size(); ++at_) {
    char c = value_[at_];
    if (quoted && c == '\\') {
      ++at_;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      return;
    }
  }
  at_ = value_.size();
}

bool LinkHeaderReader::Next(HeaderLink* link) {
  for (;;) {
    // RFC 9110 s5.6.1: empty elements of a list are ignored.
    while (at_ < value_.size() && (IsOws(value_[at_]) || value_[at_] == ',')) {
      ++at_;
    }
    if (at_ == value_.size()) return false;
    if (value_[at_] != '<') {
      SkipToComma();
      continue;
    }
    size_t end = value_.find('>', at_);
    if (end == std::string_view::npos) {
      at_ = value_.size();
      return false;
    }
    link->target = value_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    ReadParameters(link);
    SkipToComma();
    return true;
  }
}

// Appendix B.3. Ends before the comma that ends the link, or before what is no
// parameter.
void LinkHeaderReader::ReadParameters(HeaderLink* link) {
  for (std::string* text : {&link->rel, &link->anchor, &link->hreflang,
                            &link->media, &link->type, &link->as}) {
    text->clear();
  }
  link->has_anchor = false;
  struct Slot {
    std::string_view name;
    std::string* value;
    bool seen = false;
  };
  std::array<Slot, 6> slots = {{{"rel", &link->rel},
                                {"anchor", &link->anchor},
                                {"hreflang", &link->hreflang},
                                {"media", &link->media},
                                {"type", &link->type},
                                {"as", &link->as}}};
  for (;;) {
    SkipOws();
    if (at_ == value_.size() || value_[at_] != ';') break;
    ++at_;
    SkipOws();
    size_t begin = at_;
    while (at_ < value_.size() && !IsOws(value_[at_]) && value_[at_] != '=' &&
           value_[at_] != ';' && value_[at_] != ',') {
      ++at_;
    }
    std::string_view name = value_.substr(begin, at_ - begin);
    ReadValue();
    for (Slot& slot : slots) {
      if (slot.seen || !EqualsIgnoreCase(name, slot.name)) continue;
      slot.seen = true;
      slot.value->swap(buffer_);
    }
  }
  NormalizeRel(&link->rel);
  link->has_anchor = slots[1].seen;
}

void LinkHeaderReader::ReadValue() {
  buffer_.clear();
  SkipOws();
  if (at_ == value_.size() || value_[at_] != '=') return;
  ++at_;
  SkipOws();
  if (at_ == value_.size()) return;
  if (value_[at_] != '"') {
    size_t end = std::min(value_.find_first_of(";,", at_), value_.size());
    buffer_.assign(value_, at_, end - at_);
    while (!buffer_.empty() && IsOws(buffer_.back())) buffer_.pop_back();
    at_ = end;
    return;
  }
  // A quoted string that does not end holds all that follows (Appendix B.4).
  for (++at_; at_ < value_.size() && value_[at_] != '"'; ++at_) {
    if (value_[at_] == '\\' && at_ + 1 < value_.size()) ++at_;
    buffer_.push_back(value_[at_]);
  }
  if (at_ < value_.size()) ++at_;
}

}  // namespace nephila::parse
