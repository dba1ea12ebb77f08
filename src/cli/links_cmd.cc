#include "cli/links_cmd.h"

#include <fmt/core.h>

#include <cerrno>
#include <fstream>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/text.h"
#include "parse/html_page.h"
#include "parse/page_links.h"
#include "parse/query_encoder.h"
#include "url/parser.h"

namespace nephila::cli {
namespace {

using nlohmann::ordered_json;

// Enough to declare or betray an encoding.
constexpr size_t kSniffed = size_t{64} << 10;

// Bytes that are no UTF-8 are shown with U+FFFD: JSON cannot hold them.
void PrintLine(const ordered_json& line, std::ostream& out) {
  out << line.dump(-1, ' ', false, ordered_json::error_handler_t::replace)
      << '\n';
}

Status ReadPage(std::istream& in, const config::ParseSettings& settings,
                const LinksOptions& options, parse::HtmlReader* reader,
                parse::Charset* charset) {
  parse::HtmlPage page(reader);
  std::string piece(kSniffed, '\0');
  bool begun = false;
  do {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    std::string_view bytes(piece.data(), static_cast<size_t>(in.gcount()));
    if (!begun) {
      *charset = parse::DecideCharset(
          bytes, parse::CharsetHintsOf(settings, options.charset));
      page.Begin(*charset);
      begun = true;
    }
    page.Feed(bytes);
  } while (in);
  page.Finish();
  if (in.bad()) {
    return Unexpected(Error{ErrorCode::kIo, "the page cannot be read"});
  }
  return {};
}

void PrintLinks(const parse::PageLinks& links, const url::Url& page,
                const parse::Charset& charset, std::ostream& out) {
  url::Url base;
  links.BaseUrl(page, &base);
  auto encoder = parse::MakeQueryEncoder(charset.encoding);
  url::Url url;
  for (size_t i = 0; i < links.size(); ++i) {
    parse::HtmlLink link = links[i];
    ordered_json line;
    if (auto parsed = url::Parse(link.value, &base, &url, encoder.get())) {
      line["link"] = url.href();
    } else {
      line["raw"] = link.value;
      line["failure"] = url::ParseErrorName(parsed.error());
    }
    line["tag"] = TagText(link.tag);
    line["attr"] = AttrText(link.attr);
    line["rel"] = link.rel;
    if (link.in_svg) line["svg"] = true;
    if (link.in_template) line["template"] = true;
    PrintLine(line, out);
  }
}

void PrintMetas(const parse::PageLinks& links, std::ostream& out) {
  for (size_t i = 0; i < links.metas(); ++i) {
    parse::HtmlMeta meta = links.meta(i);
    ordered_json line;
    if (!meta.name.empty()) line["meta"] = meta.name;
    if (!meta.http_equiv.empty()) line["http_equiv"] = meta.http_equiv;
    if (!meta.charset.empty()) line["charset"] = meta.charset;
    line["content"] = meta.content;
    PrintLine(line, out);
  }
}

void PrintDropped(const parse::HtmlCounts& counts, std::ostream& out) {
  ordered_json dropped = ordered_json::object();
  for (size_t i = 0; i < counts.dropped.size(); ++i) {
    if (counts.dropped[i] == 0) continue;
    dropped[std::string(parse::kLinkDropNames[i])] = counts.dropped[i];
  }
  if (!dropped.empty()) PrintLine({{"dropped", dropped}}, out);
}

}  // namespace

Status RunLinks(const Setup& setup, const LinksOptions& options,
                std::istream& in, std::ostream& out) {
  url::Url page;
  if (auto parsed = url::Parse(options.base, nullptr, &page); !parsed) {
    return Unexpected(Error{ErrorCode::kInvalidArgument,
                            fmt::format("--base {}: not an absolute URL ({})",
                                        EscapeForTerminal(options.base),
                                        ParseErrorName(parsed.error()))});
  }
  std::ifstream file;
  if (!options.file.empty()) {
    file.open(options.file, std::ios::binary);
    if (!file) return Unexpected(Error::FromErrno(options.file, errno));
  }
  parse::HtmlOptions html = parse::OptionsOf(setup.settings.parse);
  html.text = options.text;
  parse::PageLinks links;
  parse::HtmlReader reader(html, &links);
  parse::Charset charset;
  std::istream& source = options.file.empty() ? in : file;
  if (Status read =
          ReadPage(source, setup.settings.parse, options, &reader, &charset);
      !read) {
    return read;
  }
  PrintLinks(links, page, charset, out);
  if (options.meta) PrintMetas(links, out);
  if (options.text) {
    PrintLine({{"title", reader.title()}, {"text", reader.text()}}, out);
  }
  PrintDropped(reader.counts(), out);
  return {};
}

}  // namespace nephila::cli
