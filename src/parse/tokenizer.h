// Tokenizer: bytes of HTML in, tags, text and comments out, as HTML s13.2.5
// says, in pieces of any size.
//
//   In: bytes of an encoding in which no byte of a longer character is one of
//       the ASCII that markup is made of: UTF-8, windows-125x, GBK, Shift_JIS,
//       EUC, Big5. UTF-16 and ISO-2022-JP are converted before.
//   Out: calls of the sink; all views are raw bytes (parse/references.h makes
//       text of them) and valid during the call
//   Drop: what lies beyond max_token_bytes of one tag or comment; counted
//   Disk: none   Threads: one tokenizer each
//   Cost: linear in the input. No copy of what lies in one piece, no allocation
//       but for tokens that go over the end of one.
//
// The sink is a type, so that what it does not want is not even looked at: the
// states are gone through in the same way whatever the sink. It has
//   static constexpr bool kWantsText, kWantsComments;
//   TagInterest OnTagName(std::string_view name);     // of a start tag
//   int OnAttributeName(std::string_view name);       // an id; < 0: not wanted
//   ContentModel OnStartTag(const StartTag& tag);     // how to go on behind it
//   void OnEndTag(std::string_view name);
//   bool InForeignContent();                          // may there be CDATA
//   void OnText(std::string_view raw, TextKind kind);
//   void OnTextEnd();  // something that is neither text nor a tag follows
//   void OnComment(std::string_view raw);
//   void OnDoctype(std::string_view raw, bool at_end);  // parse/doctype.h
// Names come as they are written; duplicate attributes are the sink's to refuse
// in OnAttributeName (the first one counts, s13.2.5.33).
//
// The states of the standard that differ only in parse errors are one here; the
// pieces that need look-ahead keep it in counters, so that input may end
// anywhere. tokenizer_text.inc and tokenizer_markup.inc have the rest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "parse/references.h"
#include "parse/scan.h"

namespace nephila::parse {

// How the text behind a start tag is read (s13.2.6.2 and the standard's list of
// elements in s13.2.4.1).
enum class ContentModel : uint8_t {
  kData,
  kRcdata,     // title, textarea
  kRawtext,    // style, xmp, iframe, noembed, noframes
  kScript,     // script
  kPlaintext,  // to the end
  kCdata,      // a CDATA section, for tests: it begins no input
};

enum class TagInterest : uint8_t {
  kNone,        // OnStartTag is not called
  kTag,         // it is, without attributes
  kAttributes,  // OnAttributeName decides about each
};

struct Attribute {
  int id;                 // as OnAttributeName gave it
  std::string_view name;  // as written
  std::string_view value;
};

struct StartTag {
  std::string_view name;
  std::span<const Attribute> attributes;
  bool self_closing;
};

template <typename Sink>
class Tokenizer {
 public:
  // Keeps a pointer to the sink.
  Tokenizer(Sink* sink, size_t max_token_bytes)
      : sink_(sink), max_token_bytes_(max_token_bytes) {}

  // Begins anew. Fragments begin in a state and know the tag that would end it.
  void Reset(ContentModel model = ContentModel::kData,
             std::string_view last_start_tag = {}) {
    EndToken();
    state_ = StateOf(model);
    last_start_tag_.assign(last_start_tag);
    dashes_ = 0;
    bang_ = false;
    cut_ = 0;
  }

  void Feed(std::string_view chunk) {
    const char* p = chunk.data();
    end_ = p + chunk.size();
    token_begin_ = p;
    while (p != end_) p = Step(p);
    if (keep_) Carry(end_);
  }

  // The end of the input.
  void Finish();

  // Attributes, names and comments that max_token_bytes cut off.
  uint64_t cut() const { return cut_; }

 private:
  enum class State : uint8_t {
    kData,
    kRcdata,
    kRawtext,
    kScript,
    kScriptEscaped,
    kScriptDoubleEscaped,
    kPlaintext,
    kCdata,
    kTagOpen,
    kEndTagOpen,
    kTagName,
    kBeforeAttributeName,
    kAttributeName,
    kAfterAttributeName,
    kBeforeValue,
    kDoubleQuotedValue,
    kSingleQuotedValue,
    kUnquotedValue,
    kRawLess,
    kRawEndTag,
    kScriptEscapeStart,
    kScriptDoubleLess,
    kScriptDoubleEscapeStart,
    kScriptDoubleEscapeEnd,
    kMarkupDeclaration,
    kBogusComment,
    kCommentStart,
    kComment,
    kDoctype,
  };

  // Where an attribute lies, from the beginning of its tag.
  struct AttributeSpan {
    int id;
    size_t name_begin;
    size_t name_end;
    size_t value_begin;
    size_t value_end;
  };

  static State StateOf(ContentModel model);
  const char* Step(const char* p);

  // A token: the bytes from its '<' on. They lie in this chunk; those of
  // earlier chunks are carried in token_.
  void BeginToken(const char* p) {
    token_begin_ = p;
    keep_ = true;
  }
  void EndToken() {
    keep_ = false;
    if (carried_ != 0) {
      carried_ = 0;
      token_.clear();
    }
  }
  size_t Offset(const char* p) const {
    return carried_ + static_cast<size_t>(p - token_begin_);
  }
  // Takes the bytes before p over.
  void Carry(const char* p) {
    auto more = static_cast<size_t>(p - token_begin_);
    token_.append(token_begin_,
                  std::min(more, max_token_bytes_ - token_.size()));
    carried_ += more;
    token_begin_ = p;
  }
  // The bytes [begin, end) of the token, which lie before p; of those beyond
  // the bound none.
  std::string_view Slice(size_t begin, size_t end, const char* p) {
    if (end > max_token_bytes_) {
      ++cut_;
      end = max_token_bytes_;
      begin = std::min(begin, end);
    }
    if (carried_ == 0) return {token_begin_ + begin, end - begin};
    Carry(p);
    return std::string_view(token_).substr(begin, end - begin);
  }

  void EmitText(const char* begin, const char* end, TextKind kind) {
    if constexpr (Sink::kWantsText) {
      if (begin != end) {
        sink_->OnText({begin, static_cast<size_t>(end - begin)}, kind);
      }
    }
  }
  void EmitTextEnd() {
    if constexpr (Sink::kWantsText) sink_->OnTextEnd();
  }
  // What looked like a token up to p is text.
  void EmitTokenAsText(const char* p, TextKind kind) {
    if constexpr (Sink::kWantsText) {
      sink_->OnText(Slice(0, Offset(p), p), kind);
    }
    EndToken();
  }

  // Tags (below).
  const char* Data(const char* p);
  const char* TagOpen(const char* p);
  const char* EndTagOpen(const char* p);
  const char* TagName(const char* p);
  void EndTagName(const char* p);
  const char* Attributes(const char* p);
  const char* AttributeName(const char* p);
  const char* AfterAttributeName(const char* p);
  const char* BeforeValue(const char* p);
  const char* QuotedValue(const char* p, char quote);
  const char* UnquotedValue(const char* p);
  void EndAttributeName(const char* p);
  void EndValue(const char* p);
  const char* FinishTag(const char* p);
  void EmitStartTag(const char* p);

  // Text of elements that hold no markup: tokenizer_text.inc.
  static TextKind KindOf(State state) {
    return state == State::kRcdata ? TextKind::kRcdata : TextKind::kRawtext;
  }
  const char* RawText(const char* p);
  const char* RawLess(const char* p);
  const char* RawEndTag(const char* p);
  const char* NoEndTag(const char* p);
  const char* ScriptEscapeStart(const char* p);
  const char* ScriptEscaped(const char* p);
  const char* ScriptDoubleLess(const char* p);
  const char* ScriptName(const char* p);
  const char* Plaintext(const char* p);
  const char* Cdata(const char* p);

  // Comments and the like: tokenizer_markup.inc.
  const char* MarkupDeclaration(const char* p);
  void BeginBogusComment(size_t begin);
  const char* BogusComment(const char* p);
  const char* CommentStart(const char* p);
  const char* Comment(const char* p);
  const char* Doctype(const char* p);
  const char* FinishComment(size_t end, const char* p);
  void FinishMarkup();

  Sink* sink_;
  const size_t max_token_bytes_;
  const char* end_ = nullptr;  // of the chunk
  State state_ = State::kData;
  State raw_state_ = State::kData;  // to which text goes back

  std::string token_;
  const char* token_begin_ = nullptr;  // of its bytes in this chunk
  size_t carried_ = 0;                 // its bytes in earlier chunks
  bool keep_ = false;                  // a token is open and wanted

  // The tag that is being read.
  bool is_end_tag_ = false;
  bool slash_ = false;  // a '/' was the last thing before what comes
  TagInterest interest_ = TagInterest::kNone;
  int attribute_id_ = -1;
  size_t name_begin_ = 0;
  size_t name_end_ = 0;
  size_t attribute_begin_ = 0;
  size_t value_begin_ = 0;
  std::vector<AttributeSpan> spans_;
  std::vector<Attribute> attributes_;

  std::string last_start_tag_;  // in lower case
  std::string_view candidate_;  // what "<!" may be the beginning of
  size_t matched_ = 0;          // of a name that is compared on the way
  size_t comment_begin_ = 0;
  int dashes_ = 0;     // up to two, just read; brackets in CDATA
  bool bang_ = false;  // "--!" was just read
  uint64_t cut_ = 0;
};

template <typename Sink>
auto Tokenizer<Sink>::StateOf(ContentModel model) -> State {
  switch (model) {
    case ContentModel::kData:
      return State::kData;
    case ContentModel::kRcdata:
      return State::kRcdata;
    case ContentModel::kRawtext:
      return State::kRawtext;
    case ContentModel::kScript:
      return State::kScript;
    case ContentModel::kPlaintext:
      return State::kPlaintext;
    case ContentModel::kCdata:
      return State::kCdata;
  }
  return State::kData;
}

// Handles at least one byte, or changes the state.
template <typename Sink>
inline const char* Tokenizer<Sink>::Step(const char* p) {
  switch (state_) {
    case State::kData:
      return Data(p);
    case State::kRcdata:
    case State::kRawtext:
    case State::kScript:
      return RawText(p);
    case State::kScriptEscaped:
    case State::kScriptDoubleEscaped:
      return ScriptEscaped(p);
    case State::kPlaintext:
      return Plaintext(p);
    case State::kCdata:
      return Cdata(p);
    case State::kTagOpen:
      return TagOpen(p);
    case State::kEndTagOpen:
      return EndTagOpen(p);
    case State::kTagName:
      return TagName(p);
    case State::kBeforeAttributeName:
      return Attributes(p);
    case State::kAttributeName:
      return AttributeName(p);
    case State::kAfterAttributeName:
      return AfterAttributeName(p);
    case State::kBeforeValue:
      return BeforeValue(p);
    case State::kDoubleQuotedValue:
      return QuotedValue(p, '"');
    case State::kSingleQuotedValue:
      return QuotedValue(p, '\'');
    case State::kUnquotedValue:
      return UnquotedValue(p);
    case State::kRawLess:
      return RawLess(p);
    case State::kRawEndTag:
      return RawEndTag(p);
    case State::kScriptEscapeStart:
      return ScriptEscapeStart(p);
    case State::kScriptDoubleLess:
      return ScriptDoubleLess(p);
    case State::kScriptDoubleEscapeStart:
    case State::kScriptDoubleEscapeEnd:
      return ScriptName(p);
    case State::kMarkupDeclaration:
      return MarkupDeclaration(p);
    case State::kBogusComment:
      return BogusComment(p);
    case State::kCommentStart:
      return CommentStart(p);
    case State::kComment:
      return Comment(p);
    case State::kDoctype:
      return Doctype(p);
  }
  return end_;
}

template <typename Sink>
void Tokenizer<Sink>::Finish() {
  end_ = token_begin_ = nullptr;  // all that there was is carried
  switch (state_) {
    case State::kTagOpen:
    case State::kEndTagOpen:
      EmitTokenAsText(nullptr, TextKind::kData);
      break;
    case State::kRawLess:
    case State::kRawEndTag:
      EmitTokenAsText(nullptr, KindOf(raw_state_));
      break;
    case State::kCdata: {
      constexpr std::string_view kBrackets = "]]";
      EmitText(kBrackets.data(), kBrackets.data() + dashes_, TextKind::kCdata);
      break;
    }
    default:
      FinishMarkup();  // a tag that does not end is none
  }
  EndToken();
  state_ = State::kData;
}

}  // namespace nephila::parse

#include "parse/tokenizer_markup.inc"  // IWYU pragma: export
#include "parse/tokenizer_tags.inc"    // IWYU pragma: export
#include "parse/tokenizer_text.inc"    // IWYU pragma: export
