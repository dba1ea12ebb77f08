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
  // Both outlive this.
  JobVerbs(Program* program, FileSystem& fs) : program_(program), fs_(fs) {}
  // In the order of `nephila --help`.
  void AddAll();

 private:
  using Run = Status (*)(FileSystem&, const SteerOptions&, std::ostream&);

  void AddStatus();
  CLI::App* AddSteer(const std::string& name, const std::string& doc, Run run,
                     bool takes_words);

  Program* const program_;
  FileSystem& fs_;
  StatusCmdOptions status_;
  SteerOptions steer_;
};

}  // namespace nephila::cli
