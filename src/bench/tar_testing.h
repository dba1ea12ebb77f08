// Members of tar archives, for tests.
#pragma once

#include <sstream>
#include <string>

namespace nephila::bench {

// A header and the contents in whole blocks.
inline std::string TarMember(const std::string& name, char type,
                             std::string body, const std::string& prefix = "") {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  std::ostringstream size;
  size << std::oct << body.size();
  header.replace(124, size.str().size(), size.str());
  header[156] = type;
  header.replace(257, 5, "ustar");
  header.replace(345, prefix.size(), prefix);
  body.resize((body.size() + 511) / 512 * 512);
  return header + body;
}

}  // namespace nephila::bench
