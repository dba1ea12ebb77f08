#!/usr/bin/env python3
"""That check_settings.py finds what it is there to find, and finds nothing."""

import pathlib
import tempfile
import unittest

import check_settings

SETTINGS = """
NEPHILA_SECTION_BEGIN(FetchSettings, fetch,
    "How.")
NEPHILA_SETTING(Duration, fetch, retry_wait, retry_wait,
    seconds(1), Any(), kAnyTime, "Doc.")
NEPHILA_SETTING(Size, fetch, max_size, max_size_bytes, 1, Any(), kAnyTime,
    "Doc.")
NEPHILA_SECTION_END(FetchSettings, fetch)
"""
MAIN = """
    CLI::App* verb = AddVerb(
        "crawl", "Crawl");
    AddVerb(warc, "ls", "List");
"""


class CheckSettings(unittest.TestCase):
    """Each test makes a small src/ and looks at what is said of it."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        self.write("config/settings.def", SETTINGS)
        self.write("cli/main.cc", MAIN)
        self.write("cli/all_test.cc", '"fetch.retry_wait=1s" "fetch.max_size"'
                   '\nRun({"crawl", "--job"}); Run({"warc", "ls"});\n')

    def write(self, name, text):
        """Makes a file below the root."""
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def test_what_is_named_and_run_is_well(self):
        self.assertEqual(check_settings.check(self.root), [])

    def test_the_place_in_the_struct_is_a_name(self):
        self.write("cli/all_test.cc", "settings.fetch.retry_wait = 1;"
                   "settings_.fetch.max_size_bytes = 2;"
                   'Run({"crawl"}); Run({"warc", "ls"});')
        self.assertEqual(check_settings.check(self.root), [])

    def test_a_member_is_a_name_where_its_struct_is_known(self):
        self.write("cli/all_test.cc", 'Run({"crawl"}); Run({"warc", "ls"});')
        self.write("fetch/a_test.cc", "settings.retry_wait = 1;")
        self.write("seen/a_test.cc", "x.max_size_bytes = 2;")
        self.assertEqual(check_settings.check(self.root),
                         ["setting fetch.max_size: no test names it"])
        self.write("seen/a_test.cc",
                   "config::FetchSettings x; x.max_size_bytes = 2;")
        self.assertEqual(check_settings.check(self.root), [])

    def test_tests_of_config_do_not_count(self):
        self.write("config/all_test.cc", '"fetch.retry_wait" "fetch.max_size"')
        self.write("cli/all_test.cc", 'Run({"crawl"}); Run({"warc", "ls"});')
        self.assertEqual(len(check_settings.check(self.root)), 2)

    def test_a_verb_that_nobody_runs_is_named(self):
        self.write("cli/all_test.cc", '"fetch.retry_wait" "fetch.max_size"'
                   '"crawl" {"warc", "lsx"}')
        self.assertEqual(check_settings.check(self.root),
                         ["verb crawl: no test of cli/ runs it",
                          "verb warc ls: no test of cli/ runs it"])

    def test_the_repository_is_well(self):
        root = pathlib.Path(__file__).resolve().parent.parent / "src"
        self.assertEqual(check_settings.check(root), [])


if __name__ == "__main__":
    unittest.main()
