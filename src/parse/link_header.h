// LinkHeaderReader: the links of a `Link:` response header.
//
// RFC 8288 s3 and its parsing algorithm (Appendix B), and a little more
// tolerant: what stands between two links and is neither is passed over up to
// the next comma, where the RFC gives up. Several headers are read one by one,
// or joined by commas.
//   In: a header value   Out: one link a call
//   Threads: one reader each   Cost: linear in the value
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nephila::parse {

struct HeaderLink {
  std::string_view target;  // as written between < and >; may be empty
  // The parameters that a crawler reads; of several of a name the first
  // counts (s3.3). Quoted strings are without their quotes and escapes.
  std::string rel;     // in lower case, words between single spaces
  std::string anchor;  // the link's context, if it is not the page itself
  std::string hreflang;
  std::string media;
  std::string type;
  std::string as;
  bool has_anchor = false;  // an empty anchor is the page

  // Whether `word` (in lower case) is one of the relations.
  bool HasRel(std::string_view word) const;
};

class LinkHeaderReader {
 public:
  // The value must outlive the reader and the targets it gives.
  explicit LinkHeaderReader(std::string_view value) : value_(value) {}

  // False when there are no more. The strings of *link are reused.
  bool Next(HeaderLink* link);

 private:
  void SkipOws();
  void SkipToComma();
  void ReadParameters(HeaderLink* link);
  // Reads a parameter's value into buffer_.
  void ReadValue();

  std::string_view value_;
  size_t at_ = 0;
  std::string buffer_;
};

}  // namespace nephila::parse
