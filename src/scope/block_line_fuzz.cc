// Lines of black lists, SURT prefixes and the URLs that they are asked about:
// nothing crashes, what is read is canonical, and it blocks what it names.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "config/settings.h"
#include "scope/block_line.h"
#include "scope/block_list.h"
#include "url/canonicalizer.h"
#include "url/public_suffix.h"
#include "url/record_keys.h"
#include "url/surt.h"

namespace nephila::scope {
namespace {

struct Fixture {
  const config::Settings settings = {};
  const url::PublicSuffixList suffixes = url::PublicSuffixList::BuiltIn();
  url::Canonicalizer canonicalizer{settings.url, suffixes, 1};
};

void CheckLine(Fixture& fixture, std::string_view line) {
  const auto read =
      ReadBlockLine(line, fixture.canonicalizer, fixture.suffixes);
  if (!read.has_value()) {
    NEPHILA_CHECK(read.error().message.find('\n') == std::string::npos);
    return;
  }
  if (!read->has_value() || (*read)->kind == BlockKind::kAddress) return;
  // What was read is read to the same again.
  const BlockLine& first = **read;
  const std::string again =
      std::string(kBlockKindNames.at(static_cast<size_t>(first.kind))) + " " +
      first.text;
  const auto second =
      ReadBlockLine(again, fixture.canonicalizer, fixture.suffixes);
  NEPHILA_CHECK(second.has_value() && second->has_value());
  NEPHILA_CHECK((*second)->text == first.text);
}

void CheckUrl(Fixture& fixture, std::string_view line) {
  const auto canonical = fixture.canonicalizer.Canonicalize(line, nullptr);
  if (!canonical) return;
  const std::string href(canonical->href);
  const item::UrlRecord record = url::MakeUrlRecord(*canonical);
  std::string surt;
  url::AppendSurt(record.url, record.host_start, record.host_size, surt);
  // Browsers take names with the signs of a SURT in them; no host has one.
  if (record.host().find_first_of("(),") != std::string_view::npos) return;
  NEPHILA_CHECK(url::HostOfSurt(surt) == record.host());
  std::string folder;
  url::AppendFolderSurt(record.url, record.host_start, record.host_size,
                        folder);
  NEPHILA_CHECK(surt.starts_with(folder));
  const std::string lines = "url " + href;
  // The list canonicalises with a buffer of its own.
  url::Canonicalizer other(fixture.settings.url, fixture.suffixes, 1);
  const auto list =
      BlockList::Read("list", lines, other, fixture.suffixes,
                      [](uint32_t, const Error&) { NEPHILA_CHECK(false); });
  std::string scratch;
  NEPHILA_CHECK(list->Find(record, scratch).has_value());
}

}  // namespace
}  // namespace nephila::scope

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static nephila::scope::Fixture fixture;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  nephila::scope::CheckLine(fixture, text);
  nephila::scope::CheckUrl(fixture, text);
  static_cast<void>(nephila::url::ReadSurtPrefix(text));
  return 0;
}
