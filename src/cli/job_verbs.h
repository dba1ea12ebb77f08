// JobVerbs: the verbs that look at a job and steer it, all with --job DIR.
#pragma once

#include <string>

#include "base/file.h"
#include "cli/program.h"
#include "cli/status_cmd.h"
#include "cli/steer_cmd.h"

namespace nephila::cli {

class JobVerbs {
 public:
  // Outlives this.
  explicit JobVerbs(Program* program) : program_(program) {}
  // In the order of `nephila --help`.
  void AddAll();

 private:
  using Run = Status (*)(FileSystem&, const SteerOptions&, std::ostream&);

  void AddStatus();
  CLI::App* AddSteer(const std::string& name, const std::string& doc, Run run,
                     bool takes_words);

  Program* const program_;
  StatusCmdOptions status_;
  SteerOptions steer_;
};

}  // namespace nephila::cli
