"""Runs the tests of Strata Studio's pages in a real browser (`make studio-test`), or makes pictures of pages.

With STUDIO_SCREENSHOTS, a folder, pictures of six pages are made there instead. Names of tests may be given:
`run.py pages_test.PagesTest.test_columns_are_chosen`.
"""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

if "STUDIO_SCREENSHOTS" in os.environ:
    import screenshots

    screenshots.make(os.environ["STUDIO_SCREENSHOTS"])
else:
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromNames(sys.argv[1:]) if sys.argv[1:] else loader.discover(HERE, pattern="*_test.py")
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    sys.exit(0 if result.wasSuccessful() else 1)
