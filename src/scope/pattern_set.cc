#include "scope/pattern_set.h"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace nephila::scope {
namespace {

RE2::Options OptionsOf() {
  RE2::Options options;
  // URLs are bytes: what is no UTF-8 is to be searched too.
  options.set_encoding(RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  options.set_max_mem(static_cast<int64_t>(PatternSet::kMostBytes));
  return options;
}

Unexpected<Error> Wrong(std::string_view setting, std::string_view pattern,
                        std::string_view why) {
  return Unexpected(Error{ErrorCode::kInvalidArgument,
                          std::string(setting) + ": '" +
                              EscapeForTerminal(pattern.substr(0, 200)) +
                              "' is no pattern: " + EscapeForTerminal(why)});
}

}  // namespace

struct PatternSet::Compiled {
  RE2::Set set{OptionsOf(), RE2::UNANCHORED};
  // Each alone, for texts that need more states than the set has room for.
  std::vector<std::unique_ptr<RE2>> single;
};

PatternSet::PatternSet() = default;
PatternSet::PatternSet(PatternSet&& other) noexcept = default;
PatternSet& PatternSet::operator=(PatternSet&& other) noexcept = default;
PatternSet::~PatternSet() = default;

Result<PatternSet> PatternSet::Make(std::string_view setting,
                                    const std::vector<std::string>& patterns) {
  PatternSet made;
  if (patterns.empty()) return made;
  if (patterns.size() > kMostPatterns) {
    return Unexpected(Error{ErrorCode::kInvalidArgument,
                            std::string(setting) + ": more than " +
                                std::to_string(kMostPatterns) + " patterns"});
  }
  made.patterns_ = patterns;
  made.compiled_ = std::make_unique<Compiled>();
  for (const std::string& pattern : patterns) {
    auto single = std::make_unique<RE2>(pattern, OptionsOf());
    if (!single->ok()) return Wrong(setting, pattern, single->error());
    std::string error;
    if (made.compiled_->set.Add(pattern, &error) < 0) {
      return Wrong(setting, pattern, error);
    }
    made.compiled_->single.push_back(std::move(single));
  }
  if (!made.compiled_->set.Compile()) {
    return Unexpected(Error{ErrorCode::kInvalidArgument,
                            std::string(setting) +
                                ": the patterns together need more than " +
                                FormatSize(kMostBytes)});
  }
  return made;
}

bool PatternSet::Matches(std::string_view text) const {
  if (empty()) return false;
  const re2::StringPiece piece(text.data(), text.size());
  RE2::Set::ErrorInfo error{RE2::Set::kNoError};
  if (compiled_->set.Match(piece, nullptr, &error)) return true;
  if (error.kind == RE2::Set::kNoError) return false;
  return Find(text).has_value();
}

std::optional<std::string_view> PatternSet::Find(std::string_view text) const {
  const re2::StringPiece piece(text.data(), text.size());
  for (size_t i = 0; i < patterns_.size(); ++i) {
    if (RE2::PartialMatch(piece, *compiled_->single[i])) return patterns_[i];
  }
  return std::nullopt;
}

}  // namespace nephila::scope
