// --help, the man page, the completions and docs/exit-codes.md: complete, and
// well formed for whoever reads them.

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/source_path_testing.h"
#include "cli/crawl_cmd_testing.h"
#include "cli/exit_code.h"
#include "config/table.h"

namespace nephila::cli {
namespace {

using Words = std::vector<std::string>;

std::string Contents(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class HelpTest : public CrawlCmdTest {
 protected:
  std::string Output(const Words& args) {
    const Ended ended = Run(args);
    EXPECT_EQ(ended.code, 0) << args[0] << ": " << ended.err;
    EXPECT_EQ(ended.err, "") << args[0];
    return ended.out;
  }
  // The names under "Verbs:".
  Words Verbs(Words group) {
    group.emplace_back("--help");
    Words verbs;
    bool inside = false;
    for (const std::string& line : Lines(Output(group))) {
      if (line.empty()) inside = false;
      if (inside && line.size() > 2 && line[2] != ' ') {
        verbs.push_back(line.substr(2, line.find(' ', 2) - 2));
      }
      if (line == "Verbs:") inside = true;
    }
    return verbs;
  }
  // Of the program and of its groups; not of `bench`, another program.
  std::vector<Words> AllVerbs() {
    std::vector<Words> all;
    for (const std::string& verb : Verbs({})) {
      if (verb == "bench") continue;
      const Words subs = Verbs({verb});
      if (subs.empty()) all.push_back({verb});
      for (const std::string& sub : subs) all.push_back({verb, sub});
    }
    return all;
  }
  // What bash offers behind these words, the last of which is begun.
  std::set<std::string> Complete(const Words& words) {
    const std::string script = Folder("complete.bash");
    std::ofstream file(script);
    file << Output({"completion", "bash"}) << "COMP_WORDS=(";
    for (const std::string& word : words) file << " '" << word << "'";
    file << fmt::format(
        ")\nCOMP_CWORD={}\n_nephila\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
        words.size() - 1);
    file.close();
    const std::string out = Folder("complete.out");
    const int status =
        std::system(fmt::format("bash -u {} > {} 2>&1", script, out).c_str());
    EXPECT_EQ(WEXITSTATUS(status), 0) << Contents(out);
    std::set<std::string> offered;
    for (const std::string& line : Lines(Contents(out))) {
      if (!line.empty()) offered.insert(line);
    }
    return offered;
  }
};

TEST_F(HelpTest, EachVerbSaysItsUseInEightyColumns) {
  std::vector<Words> all = AllVerbs();
  EXPECT_GT(all.size(), 15U);
  all.push_back({});
  for (Words words : all) {
    words.emplace_back("--help");
    const std::string help = Output(words);
    EXPECT_NE(help.find("\nUsage: nephila "), std::string::npos) << help;
    EXPECT_NE(help.find("\nExit status: 0 done; 1 "), std::string::npos);
    bool examples = false;
    for (const std::string& line : Lines(help)) {
      if (line == "Examples:") examples = true;
      if (line.empty()) examples = false;
      // A command is not broken.
      if (!examples) {
        EXPECT_LE(line.size(), 80U) << line;
      }
    }
  }
}

TEST_F(HelpTest, CrawlShowsHowItIsUsed) {
  const std::string help = Output({"crawl", "--help"});
  for (const char* part :
       {"--job DIR", "--max-time TIME", "Examples:\n",
        "agent.contact=", "--seeds FILE", "7 no seed could be fetched"}) {
    EXPECT_NE(help.find(part), std::string::npos) << part << "\n" << help;
  }
}

TEST_F(HelpTest, TheManPageHasItAllAndNoFault) {
  const std::string page = Output({"man"});
  const std::string path = Folder("nephila.1");
  std::ofstream(path) << page;
  const std::string text = Folder("nephila.txt");
  const std::string faults = Folder("faults.txt");
  const int status =
      std::system(fmt::format("groff -man -Tascii -ww -P-cbou {} > {} 2> {}",
                              path, text, faults)
                      .c_str());
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(Contents(faults), "");
  const std::string shown = Contents(text);
  for (const char* title : {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS",
                            "VERBS", "EXIT STATUS", "FILES", "EXAMPLES"}) {
    EXPECT_NE(shown.find(fmt::format("\n{}\n", title)), std::string::npos)
        << title;
  }
  for (const Words& words : AllVerbs()) {
    std::string name = "\n   nephila";
    for (const std::string& word : words) name += " " + word;
    EXPECT_NE(shown.find(name + "\n"), std::string::npos) << name;
  }
  for (const char* option : {"--max-pages N", "--politeness LOG", "--cdxj"}) {
    EXPECT_NE(shown.find(option), std::string::npos) << option;
  }
}

TEST_F(HelpTest, BashCompletesVerbsOptionsAndSettings) {
  EXPECT_EQ(Complete({"nephila", "cr"}), std::set<std::string>{"crawl"});
  EXPECT_EQ(Complete({"nephila", "warc", ""}),
            (std::set<std::string>{"ls", "cat", "verify", "index"}));
  EXPECT_EQ(
      Complete({"nephila", "crawl", "--max-"}),
      (std::set<std::string>{"--max-pages", "--max-time", "--max-bytes"}));
  EXPECT_EQ(Complete({"nephila", "warc", "verify", "--re"}),
            std::set<std::string>{"--repair"});
  EXPECT_EQ(Complete({"nephila", "crawl", "--profile", ""}),
            (std::set<std::string>{"site", "broad"}));
  EXPECT_EQ(Complete({"nephila", "completion", ""}),
            (std::set<std::string>{"bash", "zsh", "fish"}));
  EXPECT_EQ(
      Complete({"nephila", "crawl", "--set", "fetch.retry_w"}),
      (std::set<std::string>{"fetch.retry_wait=", "fetch.retry_wait_max="}));
  // Bash splits at the sign.
  EXPECT_EQ(Complete({"nephila", "url", "--set", "url.www", "="}),
            (std::set<std::string>{"keep", "add", "strip"}));
  EXPECT_EQ(Complete({"nephila", "url", "--set", "url.www", "=", "s"}),
            std::set<std::string>{"strip"});
  EXPECT_TRUE(Complete({"nephila", "crawl", "--zzz"}).empty());
  // Files, where a file is meant.
  EXPECT_EQ(Complete({"nephila", "warc", "ls", Folder("complete.b")}),
            std::set<std::string>{Folder("complete.bash")});
}

TEST_F(HelpTest, OtherShellsKnowEveryVerbAndSetting) {
  for (const char* shell : {"zsh", "fish"}) {
    const std::string script = Output({"completion", shell});
    for (const Words& words : AllVerbs()) {
      EXPECT_NE(script.find(words.back()), std::string::npos) << shell;
    }
    for (const config::Row& row : config::AllRows()) {
      EXPECT_NE(script.find(std::string(row.name) + "="), std::string::npos)
          << shell << ": " << row.name;
    }
  }
  EXPECT_EQ(Run({"completion"}).code, kUsage);
  EXPECT_EQ(Run({"completion", "tcsh"}).code, kUsage);
}

TEST_F(HelpTest, ThePageOfExitCodesIsTheTable) {
  const std::string page = Contents(SourcePath("docs/exit-codes.md"));
  size_t rows = 0;
  for (const std::string& line : Lines(page)) {
    if (line.starts_with("| ") && line[2] >= '0' && line[2] <= '9') ++rows;
  }
  EXPECT_EQ(rows, std::size(kExitCodes));
  for (const ExitCodeRow& row : kExitCodes) {
    const std::string line = fmt::format(
        "| {} | {} | {} |", static_cast<int>(row.code), row.meaning, row.doc);
    EXPECT_NE(page.find(line), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace nephila::cli
