#include "parse/prescan.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/ascii.h"

namespace nephila::parse {
namespace {

struct Attribute {
  std::string name;
  std::string value;
};

// A page cannot be in UTF-16 if a declaration in ASCII was found in it.
std::optional<Encoding> Believable(std::optional<Encoding> encoding) {
  if (encoding == Encoding::kUtf16Be || encoding == Encoding::kUtf16Le) {
    return Encoding::kUtf8;
  }
  return encoding;
}

// Reads until it is out of bytes; what was read of an element by then does
// not count.
class Prescanner {
 public:
  explicit Prescanner(std::string_view bytes) : bytes_(bytes) {}

  std::optional<Encoding> Scan() {
    for (; at_ < bytes_.size(); ++at_) {
      if (bytes_[at_] != '<') continue;
      std::string_view rest = bytes_.substr(at_);
      if (rest.starts_with("<!--")) {
        SkipComment();
      } else if (rest.size() > 5 && StartsWithIgnoreCase(rest, "<meta") &&
                 (IsSpace(rest[5]) || rest[5] == '/')) {
        at_ += 5;
        if (auto encoding = ReadMeta()) return encoding;
      } else if (IsTag(rest)) {
        while (at_ < bytes_.size() && !IsSpace(bytes_[at_]) &&
               bytes_[at_] != '>') {
          ++at_;
        }
        while (ReadAttribute()) {
        }
      } else if (rest.size() > 1 &&
                 (rest[1] == '!' || rest[1] == '/' || rest[1] == '?')) {
        at_ = std::min(bytes_.find('>', at_), bytes_.size());
      }
    }
    return std::nullopt;
  }

 private:
  static bool IsTag(std::string_view text) {
    size_t name = text.size() > 1 && text[1] == '/' ? 2 : 1;
    return text.size() > name && IsAlpha(text[name]);
  }

  bool AtEnd() const { return at_ >= bytes_.size(); }
  char Here() const { return bytes_[at_]; }

  // To the '>' of "-->"; its hyphens may be those of "<!--".
  void SkipComment() {
    size_t end = bytes_.find("-->", at_ + 2);
    at_ = end == std::string_view::npos ? bytes_.size() : end + 2;
  }

  std::optional<Encoding> ReadMeta() {
    bool got_pragma = false;
    bool seen_pragma = false;
    bool seen_content = false;
    bool seen_charset = false;
    std::optional<bool> need_pragma;
    std::optional<Encoding> encoding;
    // Of an attribute that stands there twice the first counts.
    while (auto attribute = ReadAttribute()) {
      if (attribute->name == "http-equiv" && !seen_pragma) {
        seen_pragma = true;
        got_pragma = attribute->value == "content-type";
      } else if (attribute->name == "content" && !seen_content) {
        seen_content = true;
        auto found = EncodingFromMetaContent(attribute->value);
        if (found && !encoding) {
          encoding = found;
          need_pragma = true;
        }
      } else if (attribute->name == "charset" && !seen_charset) {
        seen_charset = true;
        encoding = EncodingOfLabel(attribute->value);
        need_pragma = false;
      }
    }
    if (AtEnd() || !need_pragma || (*need_pragma && !got_pragma)) return {};
    if (encoding == Encoding::kUserDefined) return Encoding::kWindows1252;
    return Believable(encoding);
  }

  // "Get an attribute". Nothing at the end of the element or of the bytes.
  std::optional<Attribute> ReadAttribute() {
    while (!AtEnd() && (IsSpace(Here()) || Here() == '/')) ++at_;
    if (AtEnd() || Here() == '>') return std::nullopt;
    Attribute attribute;
    for (; !AtEnd(); ++at_) {
      char c = Here();
      if (c == '=' && !attribute.name.empty()) break;
      if (IsSpace(c)) {
        at_ = SkipSpaces(bytes_, at_);
        break;
      }
      if (c == '/' || c == '>') return attribute;
      attribute.name.push_back(Lower(c));
    }
    if (AtEnd()) return std::nullopt;
    if (Here() != '=') return attribute;
    at_ = SkipSpaces(bytes_, at_ + 1);
    return ReadValue(&attribute) ? std::optional(attribute) : std::nullopt;
  }

  bool ReadValue(Attribute* attribute) {
    if (AtEnd()) return false;
    char quote = Here();
    if (quote == '"' || quote == '\'') {
      for (++at_; !AtEnd() && Here() != quote; ++at_) {
        attribute->value.push_back(Lower(Here()));
      }
      if (AtEnd()) return false;
      ++at_;
      return true;
    }
    for (; !AtEnd() && !IsSpace(Here()) && Here() != '>'; ++at_) {
      attribute->value.push_back(Lower(Here()));
    }
    return !AtEnd();
  }

  std::string_view bytes_;
  size_t at_ = 0;
};

// Most pages that declare nothing have none, and need not be read by the rules.
bool HasMeta(std::string_view bytes) {
  for (size_t at = bytes.find('<'); at != std::string_view::npos;
       at = bytes.find('<', at + 1)) {
    if (StartsWithIgnoreCase(bytes.substr(at), "<meta")) return true;
  }
  return false;
}

size_t FindIgnoreCase(std::string_view text, std::string_view lower,
                      size_t at) {
  for (; at + lower.size() <= text.size(); ++at) {
    if (StartsWithIgnoreCase(text.substr(at), lower)) return at;
  }
  return std::string_view::npos;
}

}  // namespace

std::optional<Encoding> EncodingFromMetaContent(std::string_view content) {
  constexpr std::string_view kCharset = "charset";
  size_t at = 0;
  for (;;) {
    at = FindIgnoreCase(content, kCharset, at);
    if (at == std::string_view::npos) return std::nullopt;
    at = SkipSpaces(content, at + kCharset.size());
    if (at < content.size() && content[at] == '=') break;
  }
  at = SkipSpaces(content, at + 1);
  if (at >= content.size()) return std::nullopt;
  char quote = content[at];
  if (quote == '"' || quote == '\'') {
    size_t end = content.find(quote, at + 1);
    if (end == std::string_view::npos) return std::nullopt;
    return EncodingOfLabel(content.substr(at + 1, end - at - 1));
  }
  size_t end = at;
  while (end < content.size() && !IsSpace(content[end]) &&
         content[end] != ';') {
    ++end;
  }
  return EncodingOfLabel(content.substr(at, end - at));
}

std::optional<Encoding> XmlDeclaredEncoding(std::string_view bytes) {
  auto blank = [](char c) { return static_cast<unsigned char>(c) <= 0x20; };
  bytes = bytes.substr(0, kPrescanBytes);
  if (!bytes.starts_with("<?xml")) return std::nullopt;
  size_t end = bytes.find('>');
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view declaration = bytes.substr(0, end);
  constexpr std::string_view kEncoding = "encoding";
  size_t at = declaration.find(kEncoding);
  if (at == std::string_view::npos) return std::nullopt;
  at += kEncoding.size();
  while (at < declaration.size() && blank(declaration[at])) ++at;
  if (at == declaration.size() || declaration[at] != '=') return std::nullopt;
  ++at;
  while (at < declaration.size() && blank(declaration[at])) ++at;
  if (at == declaration.size()) return std::nullopt;
  char quote = declaration[at];
  if (quote != '"' && quote != '\'') return std::nullopt;
  size_t close = declaration.find(quote, at + 1);
  if (close == std::string_view::npos) return std::nullopt;
  std::string_view label = declaration.substr(at + 1, close - at - 1);
  if (std::any_of(label.begin(), label.end(), blank)) return std::nullopt;
  return Believable(EncodingOfLabel(label));
}

std::optional<Encoding> Prescan(std::string_view bytes, size_t limit) {
  using std::string_view_literals::operator""sv;
  bytes = bytes.substr(0, limit);
  if (bytes.starts_with("<\0?\0x\0"sv)) return Encoding::kUtf16Le;
  if (bytes.starts_with("\0<\0?\0x"sv)) return Encoding::kUtf16Be;
  if (HasMeta(bytes)) {
    if (auto declared = Prescanner(bytes).Scan()) return declared;
  }
  return XmlDeclaredEncoding(bytes);
}

}  // namespace nephila::parse
