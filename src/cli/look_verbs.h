// LookVerbs: the verbs that ask for single URLs of a job: why and list.
#pragma once

#include <string>

#include "cli/program.h"
#include "cli/why_cmd.h"

namespace nephila::cli {

class LookVerbs {
 public:
  // Outlives this.
  explicit LookVerbs(Program* program) : program_(program) {}
  void AddAll();

 private:
  void AddWhy();
  void AddList();
  void PrepareByJob(CLI::App* verb, const std::string* job);

  Program* const program_;
  WhyCmdOptions why_;
  ListCmdOptions list_;
};

}  // namespace nephila::cli
