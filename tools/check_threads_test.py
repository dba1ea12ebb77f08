#!/usr/bin/env python3
"""That check_threads.py finds modules that the thread sanitizer would miss."""

import pathlib
import tempfile
import unittest

import check_threads


class CheckThreads(unittest.TestCase):
    """Each test makes a small src/ with a build and looks at what is said."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name) / "src"
        self.build = pathlib.Path(folder.name) / "build"
        self.build.mkdir()
        self.write("a/CMakeLists.txt", "nephila_module(a\n  THREADS\n)\n")
        self.write("a/a.cc", "std::thread thread_;\n")
        self.write("b/CMakeLists.txt", "nephila_module(b\n  SOURCES b.cc\n)\n")
        self.write("b/b.cc", "std::thread::hardware_concurrency();\n"
                   "// std::thread\n")

    def write(self, name, text):
        """Makes a file below the root."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def list_programs(self, text):
        """Makes the list of a build."""
        (self.build / "threads_tests.txt").write_text(text, encoding="utf-8")

    def test_accepts_marked_modules(self):
        self.assertEqual(check_threads.check_sources(self.root), [])

    def test_finds_a_module_that_is_not_marked(self):
        for line in ("std::thread t(f);", "std::vector<std::jthread> all;",
                     "LoopThread loop;", "auto f = std::async(g);"):
            self.write("b/b_test.cc", line)
            errors = check_threads.check_sources(self.root)
            self.assertEqual(len(errors), 1, line)
            self.assertIn("b_test.cc", errors[0])

    def test_leaves_bench_out(self):
        self.write("bench/x.cc", "std::thread t;")
        self.assertEqual(check_threads.check_sources(self.root), [])

    def test_finds_a_module_without_a_program(self):
        self.list_programs("")
        errors = check_threads.check_build(self.root, self.build)
        self.assertEqual(len(errors), 1)
        self.assertIn("module a", errors[0])

    def test_finds_a_program_that_was_not_built(self):
        program = self.build / "a_test"
        self.list_programs(f"a {program}\n")
        self.assertEqual(len(check_threads.check_build(self.root, self.build)),
                         1)
        program.touch()
        self.assertEqual(check_threads.check_build(self.root, self.build), [])

    def test_finds_that_nothing_was_configured(self):
        self.assertEqual(len(check_threads.check_build(self.root, self.build)),
                         1)


if __name__ == "__main__":
    unittest.main()
