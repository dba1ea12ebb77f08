// The links of html5lib's expected trees, found without a tree.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "base/conformance_testing.h"
#include "base/source_path_testing.h"
#include "parse/html_links.h"
#include "parse/pieces_testing.h"

namespace nephila::parse {
namespace {

struct TreeCase {
  std::string data;
  std::string document;
  bool fragment = false;
  bool script_on = false;
};

std::vector<TreeCase> ReadCases(const std::string& name) {
  std::string text = "\n" + ReadTestData(name);
  std::vector<TreeCase> cases;
  constexpr std::string_view kMark = "\n#data\n";
  for (size_t at = text.find(kMark); at != std::string::npos;) {
    size_t next = text.find(kMark, at + 1);
    std::string block =
        text.substr(at + kMark.size(), next - at - kMark.size());
    size_t errors = block.find("\n#errors");
    size_t document = block.find("\n#document\n");
    if (block.starts_with("#errors")) errors = 0;
    TreeCase c;
    c.data = block.substr(0, errors);
    c.document = block.substr(document + 11);
    std::string between = block.substr(errors, document - errors);
    c.fragment = between.find("\n#document-fragment") != std::string::npos;
    c.script_on = between.find("\n#script-on") != std::string::npos;
    cases.push_back(c);
    at = next;
  }
  return cases;
}

// "a.href x" and the like, "template:" before it inside of one.
using Links = std::set<std::string>;

// The attributes that make links, as in an expected tree: "a.href".
const std::set<std::string>& LinkAttributes() {
  static const std::set<std::string> kAll = {
      "a.href",          "area.href",        "link.href",
      "iframe.src",      "frame.src",        "form.action",
      "script.src",      "img.src",          "video.src",
      "video.poster",    "audio.src",        "source.src",
      "track.src",       "embed.src",        "object.data",
      "body.background", "svg a.href",       "svg image.href",
      "svg script.href", "svg a.xlink href", "svg image.xlink href",
      "base.href"};
  return kAll;
}

// The links of an expected tree. A line is "| ", two spaces for each level, and
// an element, or one level deeper an attribute of it.
Links LinksOfTree(const std::string& document) {
  Links links;
  std::string element;
  size_t template_level = std::string::npos;
  bool base_known = false;
  size_t begin = 0;
  while (begin < document.size()) {
    size_t end = std::min(document.find('\n', begin), document.size());
    std::string line = document.substr(begin, end - begin);
    begin = end + 1;
    if (!line.starts_with("| ")) continue;
    size_t level = line.find_first_not_of(' ', 2);
    if (level == std::string::npos) continue;
    std::string what = line.substr(level);
    if (level <= template_level && template_level != std::string::npos) {
      template_level = std::string::npos;
    }
    if (what == "content" && template_level == std::string::npos) {
      template_level = level - 2;
    }
    if (what.starts_with("<") && what.ends_with(">")) {
      element = what.substr(1, what.size() - 2);
      continue;
    }
    size_t equals = what.find("=\"");
    if (equals == std::string::npos || what[0] == '"') continue;
    std::string key = element + "." + what.substr(0, equals);
    if (!LinkAttributes().contains(key)) continue;
    std::string value(
        TrimSpaces(what.substr(equals + 2, what.size() - equals - 3)));
    bool in_template = template_level != std::string::npos;
    if (key == "base.href") {
      if (base_known || in_template) continue;
      base_known = true;
    }
    links.insert((in_template ? "template:" : "") + key + " " + value);
  }
  return links;
}

class Collector final : public HtmlHandler {
 public:
  void OnLink(const HtmlLink& link) override {
    std::string key =
        std::string(link.in_svg ? "svg " : "") +
        std::string(TagText(link.tag)) + "." +
        (link.attr == Attr::kXlinkHref ? "xlink href"
                                       : std::string(AttrText(link.attr)));
    if (!LinkAttributes().contains(key)) return;
    links.insert((link.in_template ? "template:" : "") + key + " " +
                 std::string(link.value));
  }
  void OnBase(std::string_view value) override {
    links.insert("base.href " + std::string(value));
  }
  void OnMeta(const HtmlMeta& /*meta*/) override {}

  Links links;
};

Links LinksFound(const std::string& data, const Pieces& pieces) {
  Collector collector;
  HtmlOptions options;
  options.all_forms = true;
  options.templates = true;
  HtmlReader reader(options, &collector);
  reader.Begin();
  pieces.FeedTo(data, &reader);
  return collector.links;
}

std::string Joined(const Links& links) {
  std::string text;
  for (const std::string& link : links) text += "[" + link + "] ";
  return text;
}

TEST(Html5libLinks, AreThoseOfTheExpectedTreesOrListed) {
  Exceptions exceptions("html5lib");
  int cases = 0;
  size_t links = 0;
  for (const char* folder : {"tree-construction", "tree-construction/scripted",
                             "tree-construction-wpt-delta"}) {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(
             SourcePath(std::string("testdata/html5lib/") + folder))) {
      if (entry.path().extension() != ".dat") continue;
      files.push_back(std::string(folder) + "/" +
                      entry.path().filename().string());
    }
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) {
      for (const TreeCase& c : ReadCases("html5lib/" + file)) {
        if (c.fragment || c.script_on) continue;
        ++cases;
        Links want = LinksOfTree(c.document);
        links += want.size();
        Links got = LinksFound(c.data, Pieces::Whole());
        exceptions.Expect(file, c.data, got == want,
                          Joined(got) + " want: " + Joined(want));
        for (const Pieces& pieces : EveryCutting()) {
          EXPECT_EQ(LinksFound(c.data, pieces), got) << pieces.name();
        }
      }
    }
  }
  EXPECT_EQ(cases, 1911);
  EXPECT_EQ(links, 21U);
}

}  // namespace
}  // namespace nephila::parse
