#include "sim/page_watch.h"

#include <array>
#include <fstream>

namespace nephila::sim {
namespace {

// The first words of a line.
constexpr size_t kWords = 8;
std::array<std::string_view, kWords> WordsOf(std::string_view line) {
  std::array<std::string_view, kWords> words;
  for (std::string_view& word : words) {
    const size_t end = line.find(' ');
    word = line.substr(0, end);
    if (end == std::string_view::npos) break;
    line.remove_prefix(end + 1);
  }
  return words;
}

}  // namespace

void PageWatch::Take(std::string_view line) {
  const auto words = WordsOf(line);
  const std::string connection(words[2]);
  if (words[0] == "R") {
    const std::string_view host = words[5];
    const std::string_view path = words[7];
    if (!counts_(host) || path == "/robots.txt") return;
    open_[connection] = std::string(host).append(" ").append(path);
  } else if (words[0] == "E") {
    auto node = open_.extract(connection);
    const bool whole = words[5] == "keep" || words[5] == "close";
    if (!node.empty() && words[3] == "200" && whole) {
      pages_.insert(std::move(node.mapped()));
    }
  }
}

void PageWatch::Read() {
  std::ifstream file(log_, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset_));
  for (std::string line; std::getline(file, line);) {
    // The last one may not be whole yet.
    if (file.eof()) return;
    offset_ += line.size() + 1;
    Take(line);
  }
}

}  // namespace nephila::sim
