#include "base/conformance_testing.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "base/source_path_testing.h"

namespace nephila {
void ReplaceLoneSurrogates(std::string* json) {
  auto unit = [json](size_t i) -> unsigned long {
    if (i + 6 > json->size() || json->compare(i, 2, "\\u") != 0) return 0;
    return std::stoul(json->substr(i + 2, 4), nullptr, 16);
  };
  for (size_t i = 0; i + 6 <= json->size(); ++i) {
    if ((*json)[i] != '\\') continue;
    if ((*json)[i + 1] != 'u') {
      ++i;  // an escaped backslash, and whatever follows it
      continue;
    }
    unsigned long first = unit(i);
    unsigned long second = unit(i + 6);
    bool high = first >= 0xd800 && first < 0xdc00;
    bool low = first >= 0xdc00 && first < 0xe000;
    if (high && second >= 0xdc00 && second < 0xe000) {
      i += 11;
    } else {
      if (high || low) json->replace(i, 6, "\\ufffd");
      i += 5;
    }
  }
}

std::string ReadTestData(std::string_view name) {
  std::string path = SourcePath("testdata/" + std::string(name));
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

nlohmann::json ReadTestJson(std::string_view name) {
  std::string text = ReadTestData(name);
  ReplaceLoneSurrogates(&text);
  return nlohmann::json::parse(text);
}

Exceptions::Exceptions(std::string_view folder) : folder_(folder) {
  std::istringstream text(ReadTestData(folder_ + "/exceptions.tsv"));
  for (std::string line; std::getline(text, line);) {
    if (line.empty() || line[0] == '#') continue;
    size_t first = line.find('\t');
    size_t second = line.find('\t', first + 1);
    if (second == std::string::npos || second + 1 == line.size()) {
      ADD_FAILURE() << folder_
                    << "/exceptions.tsv: not three columns: " << line;
      continue;
    }
    Suite& suite = suites_[line.substr(0, first)];
    std::string input = line.substr(first + 1, second - first - 1);
    if (input == "*") {
      suite.skipped = true;
    } else {
      suite.reasons[nlohmann::json::parse(input).get<std::string>()] =
          line.substr(second + 1);
    }
  }
}

Exceptions::~Exceptions() {
  for (const auto& [name, suite] : suites_) {
    if (!suite.run) continue;
    for (const auto& [input, reason] : suite.reasons) {
      EXPECT_TRUE(suite.used.contains(input))
          << name << ": listed, but no case of the suite: " << input;
    }
  }
}

void Exceptions::Expect(std::string_view suite_name, std::string_view input,
                        bool holds, std::string_view seen) {
  Suite& suite = suites_[std::string(suite_name)];
  suite.run = true;
  bool listed = suite.reasons.contains(input);
  if (listed) suite.used.emplace(input);
  if (holds) ++suite.held;
  if (holds == listed) {
    ADD_FAILURE() << suite_name << '\t' << nlohmann::json(input).dump()
                  << (listed ? "\tis listed but holds" : "\tgot: ") << seen;
  }
}

bool Exceptions::SkipsSuite(std::string_view suite) const {
  auto it = suites_.find(suite);
  return it != suites_.end() && it->second.skipped;
}

int Exceptions::held(std::string_view suite) const {
  auto it = suites_.find(suite);
  return it == suites_.end() ? 0 : it->second.held;
}

int Exceptions::listed(std::string_view suite) const {
  auto it = suites_.find(suite);
  return it == suites_.end() ? 0 : static_cast<int>(it->second.used.size());
}

}  // namespace nephila
