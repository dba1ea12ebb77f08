#include "robots/reference_testing.h"

#include <string>
#include <utility>
#include <vector>

namespace nephila::robots {

// reached[i]: the pattern so far can match the first i bytes of the path.
bool ReferenceRuleMatches(std::string_view text, const Pattern& pattern,
                          std::string_view path) {
  std::vector<bool> reached(path.size() + 1, false);
  reached[0] = true;
  for (char c : text) {
    if (c == '*') {
      for (size_t i = 1; i <= path.size(); ++i) {
        if (reached[i - 1]) reached[i] = true;
      }
      continue;
    }
    for (size_t i = path.size(); i > 0; --i) {
      reached[i] = reached[i - 1] && path[i - 1] == c;
    }
    reached[0] = false;
  }
  if (pattern.anchored()) return reached[path.size()];
  for (bool here : reached) {
    if (here) return true;
  }
  return false;
}

bool AnswerIsRight(const RobotsFile& file, std::string_view path,
                   const Answer& answer) {
  if (path.empty()) path = "/";
  if (path == "/robots.txt") return answer.allowed;
  std::string buffer;
  path = NormalizePath(path, &buffer);
  bool any = false;
  bool line_fits = false;
  std::pair<uint32_t, bool> best{0, false};
  for (const Rule& rule : file.rules) {
    if (!ReferenceRuleMatches(file.TextOf(rule), rule.pattern, path)) continue;
    std::pair<uint32_t, bool> strength{rule.pattern.priority, rule.allow};
    if (!any || strength > best) {
      any = true;
      best = strength;
      line_fits = false;
    }
    if (strength == best && rule.line == answer.line) line_fits = true;
  }
  if (!any) return answer.allowed && answer.line == 0;
  return answer.allowed == best.second && line_fits;
}

}  // namespace nephila::robots
