#include "fetch/wanted.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/text.h"

namespace nephila::fetch {
namespace {

// A star alone stands for something else.
bool IsPartOfType(std::string_view text) {
  return IsToken(text) && text.find('*') == std::string_view::npos;
}

}  // namespace

Result<Wanted> Wanted::Make(std::span<const std::string> types,
                            uint64_t max_length_bytes) {
  Wanted wanted;
  wanted.max_length_bytes_ = max_length_bytes;
  wanted.types_.reserve(types.size());
  for (const std::string& type : types) {
    const size_t slash = type.find('/');
    const std::string_view subtype =
        slash == std::string::npos ? std::string_view()
                                   : std::string_view(type).substr(slash + 1);
    const bool any = subtype == "*";
    if (!IsPartOfType(std::string_view(type).substr(0, slash)) ||
        (!any && !IsPartOfType(subtype))) {
      return Unexpected(Error{ErrorCode::kInvalidArgument,
                              "fetch.accept_types: \"" +
                                  EscapeForTerminal(type) +
                                  "\" is no media type; write text/html or "
                                  "text/*"});
    }
    wanted.types_.push_back(LowerAscii(any ? type.substr(0, slash + 1) : type));
  }
  return wanted;
}

WantedVerdict Wanted::Check(std::string_view content_type,
                            std::optional<uint64_t> content_length) const {
  if (!types_.empty() && !WantsType(content_type)) return WantedVerdict::kType;
  if (max_length_bytes_ > 0 && content_length.has_value() &&
      *content_length > max_length_bytes_) {
    return WantedVerdict::kLength;
  }
  return WantedVerdict::kTake;
}

bool Wanted::WantsType(std::string_view content_type) const {
  const std::string_view essence =
      TrimSpaces(content_type.substr(0, content_type.find(';')));
  if (essence.find('/') == std::string_view::npos) return true;
  return std::any_of(
      types_.begin(), types_.end(), [&](const std::string& type) {
        return type.back() == '/' ? StartsWithIgnoreCase(essence, type)
                                  : EqualsIgnoreCase(essence, type);
      });
}

}  // namespace nephila::fetch
