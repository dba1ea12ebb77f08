#include "parse/srcset.h"

#include <charconv>
#include <limits>

#include "base/ascii.h"

namespace nephila::parse {
namespace {

size_t SkipDigits(std::string_view text, size_t at) {
  while (at < text.size() && IsDigit(text[at])) ++at;
  return at;
}

bool IsInteger(std::string_view text) {
  return !text.empty() && SkipDigits(text, 0) == text.size();
}

// HTML s2.3.4.3, "valid floating-point number": no '+', no bare '.' at the end.
bool IsFloat(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  size_t whole = SkipDigits(text, 0);
  size_t at = whole;
  if (at < text.size() && text[at] == '.') {
    size_t end = SkipDigits(text, at + 1);
    if (end == at + 1) return false;
    at = end;
  } else if (whole == 0) {
    return false;
  }
  if (at == text.size()) return true;
  if (Lower(text[at]) != 'e') return false;
  ++at;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  return at < text.size() && SkipDigits(text, at) == text.size();
}

// Numbers beyond 64 bits are as large as can be said.
uint64_t IntegerOf(std::string_view digits) {
  uint64_t value = 0;
  auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc() ? value : std::numeric_limits<uint64_t>::max();
}

double FloatOf(std::string_view text) {
  double value = 0;
  // Out of range leaves 0, which is a density like any other.
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

// The standard's "descriptor parser": what one candidate's descriptors say.
class SrcsetReader::Descriptors {
 public:
  void Add(std::string_view text) {
    if (text.empty()) return;
    char unit = text.back();
    std::string_view number = text.substr(0, text.size() - 1);
    if (unit == 'w' && IsInteger(number)) {
      if (has_width_ || has_density_) error_ = true;
      width_ = IntegerOf(number);
      if (width_ == 0) error_ = true;
      has_width_ = true;
    } else if (unit == 'x' && IsFloat(number)) {
      if (has_width_ || has_density_ || has_height_) error_ = true;
      density_ = FloatOf(number);
      if (density_ < 0) error_ = true;
      has_density_ = true;
    } else if (unit == 'h' && IsInteger(number)) {
      if (has_height_ || has_density_) error_ = true;
      height_ = IntegerOf(number);
      if (height_ == 0) error_ = true;
      has_height_ = true;
    } else {
      error_ = true;
    }
  }

  bool Finish(SrcsetCandidate* candidate) const {
    if (error_ || (has_height_ && !has_width_)) return false;
    candidate->width = width_;
    candidate->height = height_;
    candidate->density = density_;
    return true;
  }

 private:
  uint64_t width_ = 0;
  uint64_t height_ = 0;
  double density_ = 1;
  bool has_width_ = false;
  bool has_height_ = false;
  bool has_density_ = false;
  bool error_ = false;
};

bool SrcsetReader::Next(SrcsetCandidate* candidate) {
  for (;;) {
    while (at_ < value_.size() &&
           (IsSpace(value_[at_]) || value_[at_] == ',')) {
      ++at_;
    }
    if (at_ == value_.size()) return false;
    size_t begin = at_;
    while (at_ < value_.size() && !IsSpace(value_[at_])) ++at_;
    *candidate = {};
    candidate->url = value_.substr(begin, at_ - begin);
    if (candidate->url.ends_with(',')) {
      // It cannot be all commas: those were skipped.
      size_t last = candidate->url.find_last_not_of(',');
      candidate->url = candidate->url.substr(0, last + 1);
      return true;
    }
    if (ReadDescriptors(candidate)) return true;
    ++refused_;
  }
}

// The standard's "descriptor tokenizer". A space ends a descriptor outside of
// parentheses, a comma ends the candidate.
bool SrcsetReader::ReadDescriptors(SrcsetCandidate* candidate) {
  Descriptors descriptors;
  at_ = SkipSpaces(value_, at_);
  size_t begin = at_;
  bool in_parens = false;
  for (; at_ < value_.size(); ++at_) {
    char c = value_[at_];
    if (in_parens) {
      if (c == ')') in_parens = false;
    } else if (c == '(') {
      in_parens = true;
    } else if (IsSpace(c) || c == ',') {
      descriptors.Add(value_.substr(begin, at_ - begin));
      begin = at_ + 1;
      if (c == ',') {
        ++at_;
        return descriptors.Finish(candidate);
      }
    }
  }
  descriptors.Add(value_.substr(begin));
  return descriptors.Finish(candidate);
}

}  // namespace nephila::parse
