// WarcVerbs: nephila warc ls, cat, verify and index.
#pragma once

#include "base/file.h"
#include "cli/program.h"
#include "cli/warc_cmd.h"

namespace nephila::cli {

class WarcVerbs {
 public:
  // Both outlive this.
  WarcVerbs(Program* program, FileSystem& fs) : program_(program), fs_(fs) {}
  void AddAll();

 private:
  void AddWarcLs(CLI::App* warc);
  void AddWarcCat(CLI::App* warc);
  void AddWarcVerify(CLI::App* warc);
  void AddWarcIndex(CLI::App* warc);

  Program* const program_;
  FileSystem& fs_;
  WarcLsOptions warc_ls_;
  WarcCatOptions warc_cat_;
  WarcVerifyOptions warc_verify_;
  WarcIndexOptions warc_index_;
};

}  // namespace nephila::cli
