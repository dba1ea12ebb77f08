#include "robots/pattern.h"

#include <algorithm>
#include <array>

#include "url/percent.h"

namespace nephila::robots {
namespace {

constexpr std::string_view kUnreservedMarks = "-._~";
constexpr std::string_view kReserved = ":/?#[]@!&'()+,;=";  // but '*' and '$'

enum Class : uint8_t {
  kPlain,    // stands for itself
  kEscape,   // is written as %XX
  kPercent,  // may begin an escape
};

constexpr bool IsUnreserved(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') ||
         kUnreservedMarks.find(static_cast<char>(c)) != std::string_view::npos;
}

constexpr std::array<Class, 256> MakeClasses() {
  std::array<Class, 256> classes{};
  for (size_t i = 0; i < classes.size(); ++i) {
    auto c = static_cast<unsigned char>(i);
    bool reserved =
        kReserved.find(static_cast<char>(c)) != std::string_view::npos;
    classes[i] = IsUnreserved(c) || reserved ? kPlain : kEscape;
  }
  classes['%'] = kPercent;
  return classes;
}

constexpr std::array<Class, 256> kClasses = MakeClasses();

Class ClassOf(char c) { return kClasses[static_cast<unsigned char>(c)]; }

// One character or escape of `text` at *i; moves *i behind it.
void AppendOne(std::string_view text, size_t* i, std::string* out) {
  char c = text[*i];
  if (ClassOf(c) == kPercent && url::IsEscape(text, *i)) {
    c = url::EscapedByte(text, *i);
    *i += 3;
    if (IsUnreserved(static_cast<unsigned char>(c))) {
      out->push_back(c);
    } else {
      url::AppendEscape(c, out);
    }
    return;
  }
  ++*i;
  if (ClassOf(c) == kPlain) {
    out->push_back(c);
  } else {
    url::AppendEscape(c, out);
  }
}

}  // namespace

Pattern AppendPattern(std::string_view path, std::string* out) {
  Pattern pattern;
  size_t begin = out->size();
  pattern.dollar = path.ends_with('$');
  if (pattern.dollar) path.remove_suffix(1);
  for (size_t i = 0; i < path.size();) {
    if (path[i] == '*') {
      out->push_back('*');
      ++i;
    } else {
      AppendOne(path, &i, out);
    }
  }
  size_t end = out->size();
  pattern.priority =
      static_cast<uint32_t>(end - begin) + (pattern.dollar ? 1 : 0);
  while (end > begin && (*out)[end - 1] == '*') --end;
  out->resize(end);
  pattern.size = static_cast<uint32_t>(end - begin);
  return pattern;
}

std::string_view NormalizePath(std::string_view path, std::string* buffer) {
  size_t plain = 0;
  while (plain < path.size() && ClassOf(path[plain]) == kPlain) ++plain;
  if (plain == path.size()) return path;
  buffer->assign(path, 0, plain);
  for (size_t i = plain; i < path.size();) AppendOne(path, &i, buffer);
  return *buffer;
}

}  // namespace nephila::robots
