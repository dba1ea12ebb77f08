#include "store/write_again.h"

#include <algorithm>
#include <span>
#include <vector>

namespace nephila::store {

Status WriteAgain(File& file, uint64_t begin, uint64_t end) {
  constexpr uint64_t kBlockBytes = uint64_t{1} << 20;
  std::vector<std::byte> block;
  while (begin < end) {
    block.resize(std::min(end - begin, kBlockBytes));
    NEPHILA_RETURN_IF_ERROR(file.ReadExact(begin, block));
    NEPHILA_RETURN_IF_ERROR(file.Write(begin, block));
    begin += block.size();
  }
  return {};
}

Status NameAgain(FileSystem& fs, const std::string& path) {
  const std::string aside = path + ".again";
  NEPHILA_TRY(const bool is_there, fs.Exists(path));
  if (is_there) {
    NEPHILA_RETURN_IF_ERROR(fs.Rename(path, aside));
  } else {
    NEPHILA_TRY(const bool was_stopped, fs.Exists(aside));
    if (!was_stopped) return {};
  }
  return fs.Rename(aside, path);
}

}  // namespace nephila::store
