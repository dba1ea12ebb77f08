// Prescan: the encoding that a page declares in its first bytes.
//
// HTML s13.2.3.2, "prescan a byte stream to determine its encoding", with the
// XML declaration that stands in for a missing meta element, and s2.5.5 for the
// `charset=` of a content attribute.
//   In: the beginning of a page, after which the page may go on
//   Threads: any   Cost: linear in the bytes looked at
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "parse/encoding.h"

namespace nephila::parse {

// How far the standard looks ahead.
inline constexpr size_t kPrescanBytes = 1024;

// How far a declaration counts that stands behind. A browser comes upon it
// while it parses, and begins anew (s13.2.3.4, "changing the encoding");
// looking for it in the first place saves the second pass.
inline constexpr size_t kLatePrescanBytes = size_t{64} << 10;

// Nothing if there is no declaration, or none that can be true, in the first
// `limit` bytes.
std::optional<Encoding> Prescan(std::string_view bytes,
                                size_t limit = kPrescanBytes);

// The encoding that an XML declaration at the very beginning names.
std::optional<Encoding> XmlDeclaredEncoding(std::string_view bytes);

// The encoding in "text/html; charset=utf-8" as meta elements have it.
std::optional<Encoding> EncodingFromMetaContent(std::string_view content);

}  // namespace nephila::parse
