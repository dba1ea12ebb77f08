#include "url/idna.h"

#include <unicode/uidna.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/check.h"
#include "url/percent.h"

namespace nephila::url {
namespace {

// Errors that the standard's parameters switch off: CheckHyphens and
// VerifyDnsLength are false, empty labels are left to DNS.
constexpr uint32_t kIgnoredErrors =
    UIDNA_ERROR_EMPTY_LABEL | UIDNA_ERROR_LABEL_TOO_LONG |
    UIDNA_ERROR_DOMAIN_NAME_TOO_LONG | UIDNA_ERROR_LEADING_HYPHEN |
    UIDNA_ERROR_TRAILING_HYPHEN | UIDNA_ERROR_HYPHEN_3_4;

const UIDNA* Uts46() {
  // ICU's object is immutable and shared: thread-safe, and freed never.
  static const UIDNA* const kUts46 = [] {
    UErrorCode status = U_ZERO_ERROR;
    UIDNA* idna = uidna_openUTS46(UIDNA_CHECK_BIDI | UIDNA_CHECK_CONTEXTJ |
                                      UIDNA_NONTRANSITIONAL_TO_ASCII |
                                      UIDNA_NONTRANSITIONAL_TO_UNICODE,
                                  &status);
    NEPHILA_CHECK(U_SUCCESS(status));
    return idna;
  }();
  return kUts46;
}

// Debian 12's ICU 72 carries Unicode 15.0. These are the code points of that
// version whose UTS 46 entry Unicode 15.1 and 16 changed: sharp s keeps
// itself, letters that were refused because their mapping had once been
// unstable are mapped now, and invisible characters are ignored.
struct Remapped {
  char32_t first;
  char32_t last;
  char32_t to;  // of `first`; the rest follow in order. 0: ignored
};
constexpr std::array<Remapped, 17> kRemapped = {{
    {0x04c0, 0x04c0, 0x04cf},
    {0x10a0, 0x10c5, 0x2d00},
    {0x115f, 0x1160, 0},
    {0x17b4, 0x17b5, 0},
    {0x180e, 0x180e, 0},
    {0x1e9e, 0x1e9e, 0x00df},
    {0x206a, 0x206f, 0},
    {0x2132, 0x2132, 0x214e},
    {0x2183, 0x2183, 0x2184},
    {0x3164, 0x3164, 0},
    {0xffa0, 0xffa0, 0},
    {0x1d173, 0x1d17a, 0},
    {0x2f868, 0x2f868, 0x36fc},
    {0x2f874, 0x2f874, 0x5f53},
    {0x2f91f, 0x2f91f, 0x243ab},
    {0x2f95f, 0x2f95f, 0x7aee},
    {0x2f9bf, 0x2f9bf, 0x45d7},
}};

void AppendRemapped(char32_t code_point, std::string* out) {
  for (const Remapped& entry : kRemapped) {
    if (code_point < entry.first || code_point > entry.last) continue;
    if (entry.to != 0) AppendUtf8(entry.to + code_point - entry.first, out);
    return;
  }
  AppendUtf8(code_point, out);
}

}  // namespace

bool AppendDomainToAscii(std::string_view domain, std::string* out) {
  bool ascii = std::all_of(domain.begin(), domain.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x80;
  });
  if (ascii) {
    for (char c : domain) out->push_back(Lower(c));
    return true;
  }

  std::string remapped;
  for (size_t i = 0; i < domain.size();) {
    AppendRemapped(ReadUtf8(domain, &i), &remapped);
  }
  // Punycode is quadratic in the length of a label, and DNS knows no name of
  // over 253 bytes: this bound is what keeps parsing linear.
  constexpr size_t kLongestName = 4096;
  if (remapped.size() > kLongestName) return false;

  std::string ascii_name(remapped.size() * 2 + 64, '\0');
  for (;;) {
    UIDNAInfo info = UIDNA_INFO_INITIALIZER;
    UErrorCode status = U_ZERO_ERROR;
    int32_t length = uidna_nameToASCII_UTF8(
        Uts46(), remapped.data(), static_cast<int32_t>(remapped.size()),
        ascii_name.data(), static_cast<int32_t>(ascii_name.size()), &info,
        &status);
    if (status == U_BUFFER_OVERFLOW_ERROR) {
      ascii_name.resize(static_cast<size_t>(length) + 1);
      continue;
    }
    if (U_FAILURE(status) || (info.errors & ~kIgnoredErrors) != 0) return false;
    out->append(ascii_name, 0, static_cast<size_t>(length));
    return true;
  }
}

}  // namespace nephila::url
