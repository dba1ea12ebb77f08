// Reading the suites in testdata/, and the lists of cases that do not hold.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

namespace nephila {

// Text of testdata/<name>; fails the test if it cannot be read.
std::string ReadTestData(std::string_view name);

// Escaped surrogates of JSON text that have no other half become U+FFFD: the
// suites are written for UTF-16 strings, and no UTF-8 text can hold them.
void ReplaceLoneSurrogates(std::string* json);

// The JSON of testdata/<name>, without lone surrogates.
nlohmann::json ReadTestJson(std::string_view name);

// The cases of a folder that are known not to hold, each with the reason, in
// testdata/<folder>/exceptions.tsv: suite, input (a JSON string, or * for the
// whole suite), reason. Expect() fails the test when a case neither holds nor
// is listed, and when a listed one does hold; the destructor fails it when an
// entry of a suite that was run names no case.
class Exceptions {
 public:
  explicit Exceptions(std::string_view folder);
  ~Exceptions();
  Exceptions(const Exceptions&) = delete;
  Exceptions& operator=(const Exceptions&) = delete;

  // `seen`: what came out instead, for the message.
  void Expect(std::string_view suite, std::string_view input, bool holds,
              std::string_view seen);
  bool SkipsSuite(std::string_view suite) const;
  // How many cases of a suite held, and how many are listed.
  int held(std::string_view suite) const;
  int listed(std::string_view suite) const;

 private:
  struct Suite {
    std::map<std::string, std::string, std::less<>> reasons;  // by input
    std::set<std::string, std::less<>> used;
    int held = 0;
    bool run = false;
    bool skipped = false;
  };
  std::string folder_;
  std::map<std::string, Suite, std::less<>> suites_;
};

}  // namespace nephila
