#include "cli/warc_verbs.h"

#include <unistd.h>

#include <iostream>

namespace nephila::cli {

void WarcVerbs::AddAll() {
  CLI::App* warc = program_->AddGroup(
      "warc", "List, print, check, repair and index archives");
  AddWarcLs(warc);
  AddWarcCat(warc);
  AddWarcVerify(warc);
  AddWarcIndex(warc);
}

void WarcVerbs::AddWarcLs(CLI::App* warc) {
  CLI::App* ls = program_->AddVerb(
      warc, "ls", "List the records: nephila warc ls [--json] FILE...",
      [this](const Setup&) { return RunWarcLs(fs_, warc_ls_, std::cout); },
      &warc_ls_.files);
  ls->add_flag("--json", warc_ls_.json, "A line of JSON for each record");
  program_->AddExamples(ls, "nephila warc ls my-site/archive/*.warc.gz");
}

void WarcVerbs::AddWarcCat(CLI::App* warc) {
  CLI::App* cat = program_->AddVerb(
      warc, "cat",
      "Print a record: nephila warc cat FILE --offset N | --url URL, or "
      "--cdxj LINE [FOLDER]",
      [this](const Setup&) {
        warc_cat_.escape = isatty(STDOUT_FILENO) == 1;
        return RunWarcCat(fs_, warc_cat_, std::cout);
      },
      &warc_cat_.files);
  cat->add_option("--offset", warc_cat_.offset, "The record at this offset")
      ->type_name("N");
  cat->add_option("--url", warc_cat_.url,
                  "The first response, resource or revisit of this URL")
      ->type_name("URL");
  cat->add_option("--cdxj", warc_cat_.cdxj,
                  "The record that this line of an index names")
      ->type_name("LINE");
  cat->add_flag("--payload", warc_cat_.payload,
                "Only the payload, its transfer coding removed");
  cat->add_flag("--decode", warc_cat_.decode,
                "Only the payload, content codings removed too");
  program_->AddExamples(
      cat,
      "nephila warc cat --decode --url https://www.example.org/ "
      "my-site/archive/FILE.warc.gz");
}

void WarcVerbs::AddWarcVerify(CLI::App* warc) {
  CLI::App* verify = program_->AddVerb(
      warc, "verify",
      "Check framing, fields, digests and the index beside: nephila warc "
      "verify [--repair] FILE...",
      [this](const Setup&) {
        return RunWarcVerify(fs_, warc_verify_, std::cout);
      },
      &warc_verify_.files);
  verify->add_flag("--repair", warc_verify_.repair,
                   "Cut what is damaged off, keep it in FILE.cut, and make "
                   "the index anew");
  verify->add_flag("--quiet", warc_verify_.quiet, "Errors only, no notes");
  program_->AddExamples(verify,
                        "nephila warc verify my-site/archive/*.warc.gz");
}

void WarcVerbs::AddWarcIndex(CLI::App* warc) {
  CLI::App* index = program_->AddVerb(
      warc, "index",
      "Make one sorted CDXJ of archives and sorted .cdxj files: nephila warc "
      "index [--output FILE | --beside] FILE...",
      [this](const Setup&) {
        return RunWarcIndex(fs_, warc_index_, std::cout);
      },
      &warc_index_.files);
  index
      ->add_option("--output", warc_index_.output,
                   "Into this file instead of standard output")
      ->type_name("FILE");
  index->add_flag("--beside", warc_index_.beside,
                  "Into x.cdxj beside each x.warc.gz");
  program_->AddExamples(
      index, "nephila warc index --output all.cdxj my-site/archive/*.cdxj");
}

}  // namespace nephila::cli
