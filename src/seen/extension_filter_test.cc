#include "seen/extension_filter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/settings.h"

namespace nephila::seen {
namespace {

bool Skips(const ExtensionFilter& filter, const std::string& path) {
  const std::string url = "http://a.zip" + path;
  item::UrlRecord record;
  record.url = url;
  record.host_start = 7;
  record.host_size = 5;
  record.pld_size = 5;
  return filter.Skips(record);
}

TEST(ExtensionFilter, LooksAtTheEndOfThePathAlone) {
  const std::vector<std::string> list = {"jpg", ".ZIP", ""};
  const ExtensionFilter filter(list);
  for (const char* path : {"/a.jpg", "/a.JPG", "/x/y.b.zip", "/a.jpg?size=1",
                           "/a.jpg#top", "/.jpg"}) {
    EXPECT_TRUE(Skips(filter, path)) << path;
  }
  for (const char* path :
       {"", "/", "/jpg", "/a.jpg/", "/a.jpg/b", "/a.html", "/a?b=c.jpg",
        "/a.jpgx", "/a.", "/a.jp", "/a.php?x=/b.zip"}) {
    EXPECT_FALSE(Skips(filter, path)) << path;
  }
}

TEST(ExtensionFilter, AnEmptyListSkipsNothing) {
  EXPECT_FALSE(Skips(ExtensionFilter({}), "/a.jpg"));
}

TEST(ExtensionFilter, TheDefaultListKnowsPagesFromFiles) {
  const ExtensionFilter filter(config::SeenSettings().skip_extensions);
  for (const char* path : {"/a.png", "/a.pdf", "/a.woff2", "/a.tar.gz"}) {
    EXPECT_TRUE(Skips(filter, path)) << path;
  }
  for (const char* path :
       {"/a.html", "/a.php", "/a.asp", "/a.xml", "/a.com", "/a.txt", "/v1.0"}) {
    EXPECT_FALSE(Skips(filter, path)) << path;
  }
}

}  // namespace
}  // namespace nephila::seen
