// XmlReader: a small reader for XML from the web, made for links.
//
// It reads elements, attributes, text and CDATA; declarations, instructions and
// comments are skipped. There are no external entities and none of a document
// type's own, so nothing can be fetched or multiplied by them; the five of XML
// and numbers are resolved. It does not insist on well-formed input: an end tag
// closes what it names, if that is open, and a lone '&' or '<' is text.
//   In: UTF-8 in chunks of any size   Out: calls of an XmlSink
//   Memory: one tag, one run of text and the names of open elements, bounded by
//   XmlLimits   Threads: one reader each   Cost: linear in the input
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nephila::parse {

struct XmlLimits {
  size_t max_depth = 64;
  size_t max_tag_bytes = size_t{64} << 10;   // longer tags are passed over
  size_t max_text_bytes = size_t{64} << 10;  // a run of text is cut here
};

class XmlTag {
 public:
  XmlTag(std::string_view name, std::string_view attributes)
      : name_(name), attributes_(attributes) {}

  // "sm:loc", and "loc" of it.
  std::string_view name() const { return name_; }
  std::string_view local_name() const;

  // The value of the first attribute of that name (as written, with prefix),
  // entities resolved; false if there is none. Cost: a scan of the tag.
  bool Attribute(std::string_view name, std::string* value) const;

 private:
  std::string_view name_;
  std::string_view attributes_;  // as written, behind the name
};

class XmlSink {
 public:
  XmlSink() = default;
  XmlSink(const XmlSink&) = delete;
  XmlSink& operator=(const XmlSink&) = delete;
  virtual ~XmlSink() = default;

  virtual void OnStart(const XmlTag& tag) = 0;
  // For every OnStart there is one, in order, unless the input ends before.
  virtual void OnEnd(std::string_view name) = 0;
  // The text of an element may come in several pieces. `cut`: there was more.
  virtual void OnText(std::string_view text, bool cut) = 0;
};

class XmlReader {
 public:
  // The sink must outlive the reader.
  XmlReader(const XmlLimits& limits, XmlSink* sink);

  // False when the input nests too deep; what follows is ignored.
  bool Feed(std::string_view text);
  // Text that stands at the end belongs to no element and is dropped.
  bool too_deep() const { return too_deep_; }
  // Tags that were longer than the limit.
  size_t oversized_tags() const { return oversized_tags_; }
  // Whether a root element has been there and is closed.
  bool complete() const { return seen_root_ && open_.empty(); }

 private:
  enum class State : uint8_t {
    kText,
    kMarkup,  // behind '<'
    kTag,
    kComment,
    kInstruction,
    kDeclaration,
    kCdata,
  };

  size_t FeedText(std::string_view text);
  void FeedMarkup(char c);
  void FeedTag(char c);
  void FeedDeclaration(char c);
  void FeedCdata(char c);
  void BeginTag(char c);
  void AppendText(std::string_view text);
  void FlushText(bool resolve);
  void FinishTag();
  void StartElement(std::string_view name, std::string_view attributes);
  void EndElement(std::string_view name);

  XmlLimits limits_;
  XmlSink& sink_;
  State state_ = State::kText;
  std::string text_;       // a run of text or CDATA
  bool text_cut_ = false;  // it was longer
  std::string markup_;     // what stands behind '<', or a tag
  bool tag_cut_ = false;
  char quote_ = 0;  // that an attribute value is in
  bool after_equals_ = false;
  int depth_ = 0;  // of brackets in a declaration
  int marks_ = 0;  // '-', '?' or ']' in a row
  std::vector<std::string> open_;
  bool seen_root_ = false;
  bool too_deep_ = false;
  size_t oversized_tags_ = 0;
};

// Appends the text with entities resolved; what is none stays as it is.
void AppendXmlText(std::string_view text, std::string* out);

}  // namespace nephila::parse
