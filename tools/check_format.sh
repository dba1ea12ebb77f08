#!/usr/bin/env bash
# Fails, with the difference, if a source file is not as clang-format has it.
# To mend: git ls-files '*.h' '*.cc' | xargs clang-format -i
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files '*.h' '*.cc' | xargs -r clang-format --dry-run --Werror
