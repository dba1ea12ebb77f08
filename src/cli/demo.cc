#include "cli/demo.h"

#include <fmt/core.h>

#include <ostream>
#include <set>
#include <string>

#include "base/text.h"
#include "url/canonicalizer.h"
#include "url/parser.h"

namespace nephila::cli {
namespace {

constexpr std::string_view kPage =
    "https://www.example.co.uk/shop/list.php?p=2";

// Links as pages have them: one page under many names, and what is no page.
constexpr std::string_view kLinks[] = {
    "item.html",
    "./item.html#reviews",
    "HTTPS://WWW.Example.CO.UK:443/shop/item.html",
    "/shop/../shop/item.html;jsessionid=1E6FEC0D14D044541DD84D2D013D29ED",
    "item.html?PHPSESSID=cdc993a493e899bed04f4d0c8a462a03",
    "/index.html",
    "//www.example.co.uk",
    "/files/?C=M;O=D",
    "/caf\u00e9?q=%c3%a9",
    "http://b\u00fccher.example/",
    "http://0x7f.1/",
    "http://[2001:DB8:0:0::1]/",
    "mailto:shop@example.co.uk",
    "http://exa mple.com/",
};

}  // namespace

Status RunDemo(const Setup& setup, std::ostream& out) {
  url::Url page;
  if (!url::Parse(kPage, nullptr, &page)) {
    return Unexpected(Error{ErrorCode::kInvalidArgument, "demo page"});
  }
  out << "nephila is being built along the path of a URL. Built so far: the "
         "stage `url`.\n"
         "This demo shows that stage; there is no crawl yet.\n\n"
      << fmt::format("Links found on {}\n\n", kPage);
  url::Canonicalizer canonicalizer(setup.settings.url, setup.suffixes, 0);
  std::set<url::UrlKey> seen;
  for (std::string_view link : kLinks) {
    out << fmt::format("  {}\n", EscapeForTerminal(link));
    auto canonical = canonicalizer.Canonicalize(link, &page);
    if (!canonical) {
      out << fmt::format("    dropped: {}\n",
                         url::DropReasonName(canonical.error()));
      continue;
    }
    bool is_new = seen.insert(canonical->keys.url).second;
    out << fmt::format("    -> {}\n       domain {}, key {:016x}{}\n",
                       canonical->href, canonical->pld,
                       canonical->keys.url.value,
                       is_new ? "" : "  (a page already known)");
  }
  StageTotals totals = canonicalizer.account().Totals();
  out << fmt::format(
      "\n{} links in, {} out ({} distinct pages), {} dropped.\n"
      "Look further: ./nephila url --base URL LINK..., ./nephila settings\n",
      totals.in, totals.out, seen.size(), totals.DroppedSum());
  return {};
}

}  // namespace nephila::cli
