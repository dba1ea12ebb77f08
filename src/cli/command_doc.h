// CommandDoc: the verbs and options of a program as data. Its --help, its man
// page and its completions are made from it, so that all say the same.
#pragma once

#include <string>
#include <vector>

namespace nephila::cli {

struct OptionDoc {
  std::string name;           // "--job"
  std::string type;           // "DIR"; "" for a flag
  std::string doc;            // one sentence
  std::string default_value;  // "": none, or not worth telling
  bool required = false;
};

struct CommandDoc {
  std::string name;      // "ls"
  std::string path;      // with the words before it: "nephila warc ls"
  std::string summary;   // a line
  std::string usage;     // "nephila warc ls [--json] FILE..."
  std::string details;   // more lines, or none
  std::string examples;  // lines as a user types them
  std::vector<OptionDoc> options;
  std::vector<CommandDoc> verbs;  // of a program or a group
};

}  // namespace nephila::cli
