#include "cli/url_cmd.h"

#include <fmt/core.h>

#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/text.h"
#include "cli/lines.h"
#include "url/canonicalizer.h"
#include "url/parser.h"

namespace nephila::cli {
namespace {

// Of an input that nobody could want whole.
constexpr size_t kLongestShown = size_t{1} << 20;

std::string Hex(uint64_t key) { return fmt::format("{:016x}", key); }

class UrlPrinter {
 public:
  UrlPrinter(const Setup& setup, const url::Url* base, std::ostream& out)
      : suffixes_(setup.suffixes),
        base_(base),
        out_(out),
        // Keys outside a job have the seed 0.
        canonicalizer_(setup.settings.url, setup.suffixes, 0) {}

  void Print(std::string_view input) {
    nlohmann::ordered_json line;
    line["input"] = input.substr(0, kLongestShown);
    if (auto parsed = url::Parse(input, base_, &url_); !parsed) {
      line["failure"] = url::ParseErrorName(parsed.error());
    } else {
      line["href"] = url_.href();
      AddCanonical(&line);
    }
    // Input that is no UTF-8 is shown with U+FFFD: JSON cannot hold it.
    out_ << line.dump(-1, ' ', false,
                      nlohmann::ordered_json::error_handler_t::replace)
         << '\n';
  }

 private:
  void AddCanonical(nlohmann::ordered_json* line) {
    auto canonical = canonicalizer_.Canonicalize(url_);
    if (!canonical) {
      (*line)["dropped"] = url::DropReasonName(canonical.error());
      return;
    }
    (*line)["canonical"] = canonical->href;
    (*line)["host"] = canonical->host;
    (*line)["pld"] = canonical->pld;
    (*line)["site"] = url::SiteOf(canonical->host, suffixes_);
    (*line)["key"] = Hex(canonical->keys.url.value);
    (*line)["host_key"] = Hex(canonical->keys.host.value);
    (*line)["pld_key"] = Hex(canonical->keys.pld.value);
    (*line)["shard"] = canonical->keys.pld.shard();
  }

  const url::PublicSuffixList& suffixes_;
  const url::Url* base_;
  std::ostream& out_;
  url::Canonicalizer canonicalizer_;
  url::Url url_;
};

}  // namespace

Status RunUrl(const Setup& setup, const UrlOptions& options, std::istream& in,
              std::ostream& out) {
  url::Url base;
  if (options.base) {
    if (auto parsed = url::Parse(*options.base, nullptr, &base); !parsed) {
      return Unexpected(Error{ErrorCode::kInvalidArgument,
                              fmt::format("--base {}: not an absolute URL ({})",
                                          EscapeForTerminal(*options.base),
                                          ParseErrorName(parsed.error()))});
    }
  }
  UrlPrinter printer(setup, options.base ? &base : nullptr, out);
  for (const std::string& url : options.urls) printer.Print(url);
  if (!options.from_input) return {};
  return ForEachLine(
      in, [&printer](const std::string& line) { printer.Print(line); });
}

}  // namespace nephila::cli
