#!/usr/bin/env python3
"""That check_layers.py finds what it is there to find."""

import pathlib
import tempfile
import unittest

import check_layers


class CheckLayers(unittest.TestCase):
    """Each test makes a small src/ and looks at what is said of it."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        for header in ("base/a.h", "url/u.h", "seen/s.h", "fetch/f.h"):
            self.write(header, "#pragma once\n")

    def write(self, name, text):
        """Makes a file below the root."""
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def test_lower_layers_and_libraries_may_be_included(self):
        self.write("seen/s.cc", '#include "seen/s.h"\n#include <vector>\n'
                   '#include "base/a.h"\n#include "url/u.h"\n'
                   '#include <base/a.h>\n#include <curl/curl.h>\n')
        self.assertEqual(check_layers.check(self.root), [])

    def test_a_stage_may_not_include_another(self):
        self.write("seen/s.cc", '#include "fetch/f.h"\n')
        self.assertEqual(len(check_layers.check(self.root)), 1)

    def test_a_lower_layer_may_not_include_a_higher_one(self):
        for include in ('"url/u.h"', "<url/u.h>", '"../url/u.h"'):
            self.write("base/a.cc", f"  #  include {include}\n")
            self.assertEqual(len(check_layers.check(self.root)), 1, include)

    def test_a_folder_without_a_level_is_refused(self):
        self.write("misc/m.h", "")
        self.assertEqual(len(check_layers.check(self.root)), 1)


if __name__ == "__main__":
    unittest.main()
