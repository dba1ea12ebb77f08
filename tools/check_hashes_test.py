#!/usr/bin/env python3
"""That check_hashes.py finds what it is there to find."""

import pathlib
import tempfile
import unittest

import check_hashes


class CheckHashes(unittest.TestCase):
    """Each test makes a small src/ and looks at what is said of it."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)

    def errors(self, text, name="seen/a.h"):
        """What is said of one file."""
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return check_hashes.check(self.root)

    def test_tables_by_text_need_a_keyed_hash(self):
        for table in ("std::unordered_map<std::string, int> a_;",
                      "std::unordered_set<std::string_view> a_;",
                      "std::unordered_map<\n    std::string, int>* a_;",
                      "std::unordered_map<net::IpAddress, int> a_;",
                      "using A = std::unordered_map<std::string, int>;"):
            self.assertEqual(len(self.errors(table)), 1, table)

    def test_the_hash_of_the_standard_library_is_refused(self):
        self.assertEqual(len(self.errors("std::hash<std::string>()(a);")), 1)

    def test_keyed_hashes_numbers_and_tests_pass(self):
        for table in ("std::unordered_map<std::string, int, TableHash> a_;",
                      "std::unordered_map<uint64_t, std::string> a_;",
                      "std::map<std::string, int> a_;"):
            self.assertEqual(self.errors(table), [], table)
        self.errors("")
        self.assertEqual(
            self.errors("std::unordered_set<std::string> a;", "seen/a_test.cc"),
            [])

    def test_the_sources_pass(self):
        root = pathlib.Path(__file__).resolve().parent.parent / "src"
        self.assertEqual(check_hashes.check(root), [])


if __name__ == "__main__":
    unittest.main()
