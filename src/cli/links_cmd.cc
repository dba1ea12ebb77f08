#include "cli/links_cmd.h"

#include <fmt/core.h>

#include <cerrno>
#include <fstream>
#include <istream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/ascii.h"
#include "base/text.h"
#include "parse/page_reader.h"
#include "parse/query_encoder.h"
#include "url/parser.h"

namespace nephila::cli {
namespace {

using nlohmann::ordered_json;

// Bytes that are no UTF-8 are shown with U+FFFD: JSON cannot hold them.
void PrintLine(const ordered_json& line, std::ostream& out) {
  out << line.dump(-1, ' ', false, ordered_json::error_handler_t::replace)
      << '\n';
}

// The values of the headers that parse reads; `texts` outlive them.
Result<parse::ResponseHeaders> ReadHeaders(
    const std::vector<std::string>& texts) {
  parse::ResponseHeaders headers;
  for (std::string_view text : texts) {
    size_t colon = text.find(':');
    if (colon == std::string_view::npos) {
      return Unexpected(Error{
          ErrorCode::kInvalidArgument,
          fmt::format("--header {}: no colon in it", EscapeForTerminal(text))});
    }
    std::string name = LowerAscii(text.substr(0, colon));
    std::string_view value = TrimSpaces(text.substr(colon + 1));
    if (name == "content-type") headers.content_type.push_back(value);
    if (name == "link") headers.link.push_back(value);
    if (name == "x-content-type-options") headers.content_type_options = value;
  }
  return headers;
}

void PrintLinks(const parse::PageReader& reader, const url::Url& page,
                std::ostream& out) {
  url::Url base;
  reader.html().BaseUrl(page, &base);
  auto encoder = parse::MakeQueryEncoder(reader.charset().encoding);
  url::Url url;
  url::Url own_base;
  for (const parse::PageLink& link : reader.links()) {
    const url::Url& on = parse::PageReader::BaseOf(link, page, base, &own_base);
    ordered_json line;
    if (auto parsed = url::Parse(link.value, &on, &url, encoder.get())) {
      line["link"] = url.href();
    } else {
      line["raw"] = link.value;
      line["failure"] = url::ParseErrorName(parsed.error());
    }
    line["tag"] = link.element;
    line["attr"] = link.attribute;
    line["rel"] = link.rel;
    if (link.source == parse::LinkSource::kHeader) line["header"] = true;
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

void PrintDropped(const parse::PageReader& reader, std::ostream& out) {
  ordered_json dropped = ordered_json::object();
  auto add = [&dropped](std::string_view reason, uint64_t count) {
    if (count != 0) dropped[std::string(reason)] = count;
  };
  add("header", reader.dropped_header_links());
  if (const auto& counts = reader.html_counts()) {
    for (size_t i = 0; i < counts->dropped.size(); ++i) {
      add(parse::kLinkDropNames[i], counts->dropped[i]);
    }
  }
  if (const auto& sitemap = reader.sitemap()) {
    for (size_t i = 0; i < sitemap->dropped.size(); ++i) {
      add(parse::kSitemapDropNames[i], sitemap->dropped[i]);
    }
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
  std::istream& source = options.file.empty() ? in : file;
  const std::string body{std::istreambuf_iterator<char>(source), {}};
  if (source.bad()) {
    return Unexpected(Error{ErrorCode::kIo, "the page cannot be read"});
  }
  NEPHILA_TRY(parse::ResponseHeaders headers, ReadHeaders(options.headers));
  std::string type;
  if (!options.charset.empty()) {
    type = "text/html;charset=" + options.charset;
    headers.content_type = {type};
  }
  parse::PageReader reader(setup.settings.parse, options.text);
  std::string_view pieces[] = {body};
  reader.Read(headers, pieces,
              headers.content_type.empty() ? parse::ReadAs::kHtmlIfText
                                           : parse::ReadAs::kWhatItIs);
  PrintLinks(reader, page, out);
  if (options.meta) PrintMetas(reader.html(), out);
  if (options.text) {
    PrintLine({{"title", reader.title()}, {"text", reader.text()}}, out);
  }
  PrintDropped(reader, out);
  return {};
}

}  // namespace nephila::cli
