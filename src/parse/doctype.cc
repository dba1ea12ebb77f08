#include "parse/doctype.h"

#include "base/ascii.h"
#include "parse/references.h"

namespace nephila::parse {
namespace {

class DoctypeReader {
 public:
  DoctypeReader(std::string_view raw, bool at_end)
      : raw_(raw), at_end_(at_end) {}

  Doctype Read() {
    if (!ReadName()) {
      doctype_.force_quirks = true;
      return doctype_;
    }
    if (AtEnd()) {
      doctype_.force_quirks = at_end_;
      return doctype_;
    }
    if (TakeWord("public")) {
      if (ReadIdentifier(&doctype_.public_id)) ReadSystem();
    } else if (TakeWord("system")) {
      if (ReadIdentifier(&doctype_.system_id)) EndSystem();
    } else {
      doctype_.force_quirks = true;
    }
    return doctype_;
  }

 private:
  // Passes over spaces; whether nothing comes behind them.
  bool AtEnd() {
    at_ = SkipSpaces(raw_, at_);
    return at_ == raw_.size();
  }

  bool ReadName() {
    if (AtEnd()) return false;
    size_t begin = at_;
    while (at_ < raw_.size() && !IsSpace(raw_[at_])) ++at_;
    AppendName(raw_.substr(begin, at_ - begin), &doctype_.name.emplace());
    return true;
  }

  bool TakeWord(std::string_view word) {
    if (!StartsWithIgnoreCase(raw_.substr(at_), word)) return false;
    at_ += word.size();
    return true;
  }

  // False if what is there is none, or does not end.
  bool ReadIdentifier(std::optional<std::string>* id) {
    doctype_.force_quirks = true;
    if (AtEnd() || (raw_[at_] != '"' && raw_[at_] != '\'')) return false;
    size_t end = raw_.find(raw_[at_], at_ + 1);
    AppendComment(
        raw_.substr(at_ + 1,
                    end == std::string_view::npos ? end : end - at_ - 1),
        &id->emplace());
    if (end == std::string_view::npos) return false;
    at_ = end + 1;
    doctype_.force_quirks = false;
    return true;
  }

  void ReadSystem() {
    if (AtEnd()) {
      doctype_.force_quirks = at_end_;
    } else if (ReadIdentifier(&doctype_.system_id)) {
      EndSystem();
    }
  }

  // Whatever else comes is passed over.
  void EndSystem() { doctype_.force_quirks = AtEnd() && at_end_; }

  std::string_view raw_;
  bool at_end_;
  size_t at_ = 0;
  Doctype doctype_;
};

}  // namespace

Doctype ReadDoctype(std::string_view raw, bool at_end) {
  return DoctypeReader(raw, at_end).Read();
}

}  // namespace nephila::parse
