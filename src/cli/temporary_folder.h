// TemporaryFolder: a folder for scratch that nobody else can name, gone when
// this goes.
//   Disk: one folder.   Threads: one.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/result.h"

namespace nephila::cli {

class TemporaryFolder {
 public:
  // In `parent`, or where the system has such.
  static Result<std::unique_ptr<TemporaryFolder>> Make(
      const std::string& parent = "") {
    const std::filesystem::path where =
        parent.empty() ? std::filesystem::temp_directory_path()
                       : std::filesystem::path(parent);
    std::string name = (where / "nephila-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      return Unexpected(Error::FromErrno(name, errno));
    }
    return std::make_unique<TemporaryFolder>(name);
  }
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

}  // namespace nephila::cli
