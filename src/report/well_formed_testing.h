// WhyNotWellFormed: whether a page is well-formed XML, as its writer promises.
// For tests only.
#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace nephila::report {

// "" if it is; else what is wrong, with its surroundings. It knows what our
// pages have: elements, attributes in double quotes, five entities, a doctype,
// and style sheets, which are no markup.
inline std::string WhyNotWellFormed(std::string_view page) {
  std::vector<std::string> open;
  size_t at = 0;
  const auto wrong = [&](std::string_view what) {
    return std::string(what) + " near " +
           std::string(page.substr(at > 40 ? at - 40 : 0, 120));
  };
  while (at < page.size()) {
    const char c = page[at];
    if (c == '&') {
      bool is_known = false;
      for (const std::string_view entity :
           {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"}) {
        is_known |= page.substr(at).starts_with(entity);
      }
      if (!is_known) return wrong("an entity that is none");
    }
    if (c == '>') return wrong("a bracket that is not escaped");
    if (c != '<') {
      ++at;
      continue;
    }
    // Brackets in attributes are escaped.
    const size_t end = page.find('>', at);
    if (end == std::string_view::npos) return wrong("a tag without end");
    std::string_view tag = page.substr(at + 1, end - at - 1);
    if (tag.find('<') != std::string_view::npos) return wrong("a tag in a tag");
    at = end + 1;
    if (tag.starts_with('!')) continue;
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) {
        return wrong("</" + std::string(tag.substr(1)) + "> is not open");
      }
      open.pop_back();
      continue;
    }
    const size_t name = tag.find_first_of(" /");
    open.emplace_back(tag.substr(0, name));
    std::string_view rest =
        name == std::string_view::npos ? "" : tag.substr(name);
    while (!rest.empty() && rest != "/") {
      const size_t equals = rest.find("=\"");
      if (rest.front() != ' ' || equals == std::string_view::npos) {
        return wrong("an attribute that is none");
      }
      const size_t quote = rest.find('"', equals + 2);
      if (quote == std::string_view::npos) return wrong("a quote is open");
      rest.remove_prefix(quote + 1);
    }
    if (rest == "/") open.pop_back();
    if (!open.empty() && open.back() == "style") at = page.find("</style", at);
  }
  return open.empty() ? "" : "<" + open.back() + "> is not closed";
}

}  // namespace nephila::report
