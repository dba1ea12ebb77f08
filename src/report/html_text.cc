#include "report/html_text.h"

#include "base/text.h"

namespace nephila::report {

std::string HtmlText(std::string_view text) {
  std::string html;
  for (const char c : EscapeForTerminal(text)) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string HtmlText(std::string_view text, size_t most_bytes) {
  if (text.size() <= most_bytes) return HtmlText(text);
  // A character that is cut in two is shown as its bytes.
  return HtmlText(text.substr(0, most_bytes)) + "\xE2\x80\xA6";
}

}  // namespace nephila::report
