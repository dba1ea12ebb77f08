#include "cli/man_page.h"

#include <fmt/core.h>

#include <sstream>

#include "cli/exit_code.h"

namespace nephila::cli {
namespace {

// Text of ours, so that groff prints it as it stands: no dash becomes a
// hyphen, no line a request.
std::string Roff(std::string_view text) {
  std::string roff;
  for (const char c : text) {
    const bool begins = roff.empty() || roff.back() == '\n';
    if (begins && (c == '.' || c == '\'')) roff += "\\&";
    if (c == '\\') {
      roff += "\\e";
    } else if (c == '-') {
      roff += "\\-";
    } else if (c == '`') {
      roff += "\\(ga";
    } else if (c == '^') {
      roff += "\\(ha";
    } else if (c == '~') {
      roff += "\\(ti";
    } else if (c == '\'') {
      roff += "\\(aq";
    } else {
      roff += c;
    }
  }
  return roff;
}

void AppendParagraph(std::string_view text, std::string* page) {
  if (text.empty()) return;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) *page += ".PP\n" + Roff(line) + "\n";
  }
}

void AppendExamples(std::string_view examples, std::string* page) {
  if (examples.empty()) return;
  *page += ".PP\n.EX\n" + Roff(examples) + "\n.EE\n";
}

void AppendOptions(const CommandDoc& command, std::string* page) {
  for (const OptionDoc& option : command.options) {
    *page += fmt::format(".TP\n\\fB{}\\fR", Roff(option.name));
    if (!option.type.empty()) {
      *page += fmt::format(" \\fI{}\\fR", Roff(option.type));
    }
    *page += '\n' + Roff(option.doc);
    if (option.required) *page += " (required)";
    if (!option.default_value.empty()) {
      *page += " (default: " + Roff(option.default_value) + ")";
    }
    *page += '\n';
  }
}

void AppendVerb(const CommandDoc& verb, std::string* page) {
  *page += fmt::format(".SS \"{}\"\n", Roff(verb.path));
  if (!verb.usage.empty()) {
    *page += fmt::format("\\fB{}\\fR\n.PP\n", Roff(verb.usage));
  }
  *page += Roff(verb.summary) + ".\n";
  AppendParagraph(verb.details, page);
  AppendOptions(verb, page);
  AppendExamples(verb.examples, page);
  for (const CommandDoc& sub : verb.verbs) AppendVerb(sub, page);
}

struct FileRow {
  std::string_view name;
  std::string_view doc;
};
constexpr FileRow kFiles[] = {
    {"JOB/job.toml", "What was fixed when the job was made."},
    {"JOB/archive/*.warc.gz", "The pages: WARC/1.1, a record a gzip member."},
    {"JOB/archive/*.cdxj", "The index of each archive."},
    {"JOB/archive/crawl.log", "A line for each attempt."},
    {"JOB/journal/, JOB/manifests/",
     "What a restart goes on from; `nephila check` reads them."},
};

}  // namespace

std::string FormatManPage(const CommandDoc& program, std::string_view version) {
  std::string page = fmt::format(
      ".TH \"{0}\" \"1\" \"\" \"{1} {2}\" \"User Commands\"\n"
      ".SH NAME\n{1} \\- {3}\n"
      ".SH SYNOPSIS\n\\fB{1}\\fR \\fIVERB\\fR [\\fIOPTION\\fR...] "
      "[\\fB\\-\\-\\fR] [\\fIWORD\\fR...]\n.SH DESCRIPTION\n{4}\n",
      "NEPHILA", program.name, version, Roff(program.summary),
      Roff(program.details));
  for (const CommandDoc& verb : program.verbs) {
    page += fmt::format(".TP\n\\fB{}\\fR\n{}\n", Roff(verb.name),
                        Roff(verb.summary));
  }
  page += ".SH OPTIONS\n";
  AppendOptions(program, &page);
  page += ".SH VERBS\n";
  for (const CommandDoc& verb : program.verbs) {
    AppendVerb(verb, &page);
  }
  page += ".SH EXIT STATUS\n";
  for (const ExitCodeRow& row : kExitCodes) {
    page += fmt::format(".TP\n\\fB{}\\fR\n{}\n", static_cast<int>(row.code),
                        Roff(row.doc));
  }
  page += ".SH FILES\n";
  for (const FileRow& row : kFiles) {
    page += fmt::format(".TP\n\\fI{}\\fR\n{}\n", Roff(row.name), Roff(row.doc));
  }
  page += ".SH EXAMPLES\n";
  AppendExamples(program.examples, &page);
  return page;
}

}  // namespace nephila::cli
