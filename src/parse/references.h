// Character references, and what else stands between raw bytes and text.
//
// The tokenizer hands out raw bytes; here they become what the standard says:
// references resolved (HTML s13.2.5.72 to s13.2.5.80), CR and CR LF made LF
// (s13.2.3.5), NUL made U+FFFD where the state asks for it. References are made
// into UTF-8, so bytes of another encoding are transcoded first.
//   Threads: one TextDecoder each   Cost: linear in the text
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nephila::parse {

// The state that a text was read in: what it means depends on it.
enum class TextKind : uint8_t {
  kData,     // references; NUL stays, a tree builder drops it
  kRcdata,   // references; NUL becomes U+FFFD
  kRawtext,  // NUL becomes U+FFFD; also scripts and PLAINTEXT
  kCdata,    // as it is
};

// Resolves the reference that `text` begins with ('&'), as far as it goes: what
// stands for it is appended to *out, and the number of bytes used returned, at
// least 1 (an ampersand that is none). `in_attribute`: the rule for old pages'
// "?a=b&copy=1" holds (s13.2.5.73).
size_t AppendReference(std::string_view text, bool in_attribute,
                       std::string* out);

// Whether a value is what it says, so that DecodeAttribute can be spared.
bool IsPlainAttribute(std::string_view raw);

// Appends the value of an attribute, from the bytes between its quotes.
void AppendAttribute(std::string_view raw, std::string* out);

// Appends a name of a tag or attribute: A to Z in lower case, NUL replaced.
void AppendName(std::string_view raw, std::string* out);

// Appends the data of a comment or an identifier of a DOCTYPE: line ends made
// equal, NUL replaced.
void AppendComment(std::string_view raw, std::string* out);

// Text that comes in pieces, cut anywhere. Holds back at most 64 bytes: a
// reference that may go on, a CR that a LF may follow.
class TextDecoder {
 public:
  // Appends what is sure to *out.
  void Append(std::string_view raw, TextKind kind, std::string* out);
  // Whether nothing is held back of a reference.
  bool idle() const { return held_.empty(); }
  // The text ends here (a tag, the end): nothing is held back any more.
  void Finish(std::string* out);

 private:
  size_t ContinueReference(std::string_view raw, std::string* out);
  bool Hold(char c);
  void Release(std::string* out);

  std::string held_;       // of a reference, '&' and on
  size_t digits_ = 0;      // significant ones of a number in held_
  bool after_cr_ = false;  // a LF that comes now belongs to it
};

}  // namespace nephila::parse
