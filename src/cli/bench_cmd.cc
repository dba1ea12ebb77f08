#include "cli/bench_cmd.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

#include "base/file.h"

namespace nephila::cli {

Error ExecBench(const std::vector<std::string>& arguments) {
  std::array<char, PATH_MAX> self{};
  ssize_t length = readlink("/proc/self/exe", self.data(), self.size());
  if (length < 0) return Error::FromErrno("/proc/self/exe", errno);
  std::string folder =
      ParentDir(std::string_view(self.data(), static_cast<size_t>(length)));

  std::vector<std::string> words = {"nephila-bench"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  for (const char* place : {"/nephila-bench", "/../bench/nephila-bench"}) {
    std::string program = folder + place;
    execv(program.c_str(), argv.data());
    if (errno != ENOENT && errno != ENOTDIR) {
      return Error::FromErrno(program, errno);
    }
  }
  return {ErrorCode::kNotFound,
          "bench: there is no nephila-bench in " + folder +
              "; build it with `./nephila bench` in a checkout"};
}

}  // namespace nephila::cli
