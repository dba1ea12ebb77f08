#include "cli/lines.h"

#include <istream>

#include "url/parser.h"

namespace nephila::cli {

bool ReadLine(std::istream& in, std::string* line) {
  line->clear();
  char chunk[1 << 12];
  while (in.getline(chunk, sizeof(chunk)) || in.gcount() > 0) {
    bool whole = in.good();  // else the chunk is full, or the input has ended
    auto length = static_cast<size_t>(in.gcount()) - (whole ? 1 : 0);
    if (line->size() <= url::kLongestInput) line->append(chunk, length);
    if (whole || in.eof() || in.bad()) {
      if (line->ends_with('\r')) line->pop_back();
      return true;
    }
    in.clear();
  }
  return false;
}

Status ForEachLine(std::istream& in,
                   const std::function<void(const std::string&)>& take) {
  std::string line;
  while (ReadLine(in, &line)) take(line);
  if (!in.bad()) return {};
  return Unexpected(Error{ErrorCode::kIo, "standard input cannot be read"});
}

}  // namespace nephila::cli
