#include "parse/html_links.h"

#include <algorithm>

#include "base/ascii.h"
#include "parse/foreign_content.h"
#include "parse/html_text.h"
#include "parse/link_finder.h"
#include "parse/tokenizer.h"

namespace nephila::parse {

class HtmlReader::Impl {
 public:
  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  virtual ~Impl() = default;

  virtual void Begin(Transcoder* transcoder, Syntax syntax) = 0;
  virtual void Feed(std::string_view bytes) = 0;
  virtual void Finish() = 0;
  virtual std::string_view title() const = 0;
  virtual std::string_view text() const = 0;
  virtual const HtmlCounts& counts() = 0;
};

// The sink of the tokenizer. Without text nothing between tags is looked at.
template <bool kText>
class HtmlReader::ImplOf final : public HtmlReader::Impl {
 public:
  ImplOf(const HtmlOptions& options, HtmlHandler* handler)
      : tokenizer_(this, options.max_tag_bytes),
        finder_(options, handler),
        title_(options.max_title_bytes, /*drop_long_words=*/false),
        text_(options.max_text_bytes, /*drop_long_words=*/true) {}

  void Begin(Transcoder* transcoder, Syntax syntax) override {
    xhtml_ = syntax == Syntax::kXhtml;
    tokenizer_.Reset();
    finder_.Begin(transcoder);
    transcoder_ = transcoder;
    foreign_.Clear();
    templates_ = 0;
    form_open_ = false;
    target_ = Target::kPage;
    title_known_ = false;
    title_.Clear();
    text_.Clear();
    run_.clear();
    decoder_ = {};
  }
  void Feed(std::string_view bytes) override { tokenizer_.Feed(bytes); }
  void Finish() override {
    tokenizer_.Finish();
    OnTextEnd();
    title_.Finish();
    text_.Finish();
    HtmlCounts& counts = finder_.counts();
    counts.cut_tags = tokenizer_.cut();
    counts.long_words = text_.long_words();
    counts.text_cut = text_.full();
  }
  std::string_view title() const override { return title_.text(); }
  std::string_view text() const override { return text_.text(); }
  const HtmlCounts& counts() override { return finder_.counts(); }

  // The sink (parse/tokenizer.h).
  static constexpr bool kWantsText = kText;
  static constexpr bool kWantsComments = false;

  TagInterest OnTagName(std::string_view name) {
    tag_ = FindTag(name);
    const TagUse& use = UseOf(tag_);
    wanted_ = use.wanted;
    if constexpr (kText) {
      OnTextEnd();
      if ((FlagsOf(tag_) & kBlock) != 0) text_.Break();
    }
    if (foreign_.active()) return TagInterest::kAttributes;
    return use.interest;
  }

  int OnAttributeName(std::string_view name) {
    Attr attr = FindAttr(name);
    uint32_t bit = AttrBit(attr);
    if ((wanted_ & bit) == 0) return -1;
    wanted_ &= ~bit;  // of several of a name the first counts
    return static_cast<int>(attr);
  }

  ContentModel OnStartTag(const StartTag& tag) {
    Namespace space = Namespace::kHtml;
    if (foreign_.active() || tag_ == Tag::kSvg || tag_ == Tag::kMath) {
      space = foreign_.OnStartTag(tag_, tag.name, HintsOf(tag));
    }
    if (space != Namespace::kHtml) {
      if (space == Namespace::kSvg) {
        finder_.OnSvgElement(tag_, tag.attributes, templates_ > 0);
      }
      return ContentModel::kData;
    }
    bool closed = xhtml_ && tag.self_closing;
    if (tag_ == Tag::kTemplate) {
      if (!closed) ++templates_;
      return ContentModel::kData;
    }
    if (tag_ == Tag::kForm && templates_ == 0) {
      if (form_open_) return ContentModel::kData;  // no form inside a form
      form_open_ = !closed;
    }
    finder_.OnHtmlElement(tag_, tag.attributes, templates_ > 0);
    ContentModel model = ModelOf(closed);
    if constexpr (kText) {
      if (model != ContentModel::kData) ChooseTarget();
    }
    return model;
  }

  void OnEndTag(std::string_view name) {
    if constexpr (kText) {
      OnTextEnd();
      target_ = Target::kPage;
    } else if (!foreign_.active() && templates_ == 0 && !form_open_) {
      return;
    }
    Tag tag = FindTag(name);
    if (tag == Tag::kForm && templates_ == 0) form_open_ = false;
    // SVG has no templates: what is called so there is another element.
    if (tag == Tag::kTemplate && templates_ > 0 && !foreign_.InForeign()) {
      --templates_;
    }
    if (foreign_.active()) foreign_.OnEndTag(tag, name);
    if constexpr (kText) {
      if ((FlagsOf(tag) & kBlock) != 0) text_.Break();
    }
  }

  bool InForeignContent() const { return xhtml_ || foreign_.InForeign(); }

  void OnText(std::string_view raw, TextKind kind) {
    TextWriter* writer = WriterOf();
    if (writer == nullptr || writer->full()) return;
    if (transcoder_ != nullptr) {
      if (kind != run_kind_ && !run_.empty()) FlushRun();
      run_.append(raw);
      run_kind_ = kind;
      if (run_.size() > kLongestRun) FlushLongRun();
      return;
    }
    // Without references there is nothing to resolve, and line ends are spaces
    // to a writer, whichever.
    if (kind == TextKind::kData && decoder_.idle() &&
        raw.find('&') == std::string_view::npos) {
      writer->Append(raw);
      return;
    }
    decoder_.Append(raw, kind, &decoded_);
    writer->Append(decoded_);
    decoded_.clear();
  }

  void OnTextEnd() {
    if constexpr (kText) {
      if (!run_.empty()) FlushRun();
      decoder_.Finish(&decoded_);
      if (decoded_.empty()) return;
      if (TextWriter* writer = WriterOf()) writer->Append(decoded_);
      decoded_.clear();
    }
  }

  void OnComment(std::string_view /*raw*/) {}
  void OnDoctype(std::string_view /*raw*/, bool /*at_end*/) {}

 private:
  // Where text goes.
  enum class Target : uint8_t { kPage, kTitle, kNowhere };
  // Of text that waits to be transcoded, so that whole characters are.
  static constexpr size_t kLongestRun = size_t{64} << 10;

  static ForeignHints HintsOf(const StartTag& tag) {
    ForeignHints hints;
    hints.self_closing = tag.self_closing;
    for (const Attribute& attribute : tag.attributes) {
      Attr attr = static_cast<Attr>(attribute.id);
      if (attr == Attr::kColor || attr == Attr::kFace || attr == Attr::kSize) {
        hints.font_style = true;
      }
      if (attr == Attr::kEncoding) {
        hints.html_encoding =
            EqualsIgnoreCase(attribute.value, "text/html") ||
            EqualsIgnoreCase(attribute.value, "application/xhtml+xml");
      }
    }
    return hints;
  }

  ContentModel ModelOf(bool closed) const {
    ContentModel model = UseOf(tag_).model;
    if (!xhtml_ || model == ContentModel::kData) return model;
    bool text = tag_ == Tag::kScript || tag_ == Tag::kStyle ||
                tag_ == Tag::kTitle || tag_ == Tag::kTextarea;
    return text && !closed ? model : ContentModel::kData;
  }

  // Text behind a start tag that changes how it is read.
  void ChooseTarget() {
    target_ = (FlagsOf(tag_) & kHidden) != 0 ? Target::kNowhere : Target::kPage;
    if (tag_ == Tag::kTitle && !title_known_ && templates_ == 0) {
      title_known_ = true;
      target_ = Target::kTitle;
    }
  }

  TextWriter* WriterOf() {
    if (templates_ > 0 || target_ == Target::kNowhere) return nullptr;
    if (foreign_.InForeign() && (FlagsOf(foreign_.current()) & kHidden) != 0) {
      return nullptr;
    }
    return target_ == Target::kTitle ? &title_ : &text_;
  }

  // Up to a space or mark, which is no part of a longer character in any
  // encoding: those end in bytes from 0x30 on.
  void FlushLongRun() {
    auto mark = std::find_if(run_.rbegin(), run_.rend(), [](char c) {
      return static_cast<uint8_t>(c) < 0x30;
    });
    std::string rest;
    if (mark != run_.rend()) {
      rest.assign(mark.base(), run_.end());
      run_.erase(mark.base(), run_.end());
    }
    FlushRun();
    run_ = std::move(rest);
  }

  void FlushRun() {
    utf8_.clear();
    transcoder_->AppendUtf8(run_, &utf8_);
    run_.clear();
    decoder_.Append(utf8_, run_kind_, &decoded_);
    if (TextWriter* writer = WriterOf()) writer->Append(decoded_);
    decoded_.clear();
  }

  Tokenizer<ImplOf> tokenizer_;
  LinkFinder finder_;
  ForeignContent foreign_;
  Transcoder* transcoder_ = nullptr;
  bool xhtml_ = false;
  uint64_t templates_ = 0;  // open ones
  bool form_open_ = false;  // the standard's form element pointer
  Tag tag_ = Tag::kOther;   // whose start tag is being read
  uint32_t wanted_ = 0;     // of its attributes

  Target target_ = Target::kPage;
  bool title_known_ = false;
  TextWriter title_;
  TextWriter text_;
  TextDecoder decoder_;
  TextKind run_kind_ = TextKind::kData;
  std::string run_;      // raw, to be transcoded
  std::string utf8_;     // transcoded, references not resolved
  std::string decoded_;  // text
};

HtmlReader::HtmlReader(const HtmlOptions& options, HtmlHandler* handler) {
  if (options.text) {
    impl_ = std::make_unique<ImplOf<true>>(options, handler);
  } else {
    impl_ = std::make_unique<ImplOf<false>>(options, handler);
  }
}

HtmlReader::~HtmlReader() = default;

void HtmlReader::Begin(Transcoder* transcoder, Syntax syntax) {
  impl_->Begin(transcoder, syntax);
}
void HtmlReader::Feed(std::string_view bytes) { impl_->Feed(bytes); }
void HtmlReader::Finish() { impl_->Finish(); }
std::string_view HtmlReader::title() const { return impl_->title(); }
std::string_view HtmlReader::text() const { return impl_->text(); }
const HtmlCounts& HtmlReader::counts() const { return impl_->counts(); }

}  // namespace nephila::parse
