"""Runs Autobahn's wstest under Python 2.7 from a folder that `pip install --target` filled: `wstest.py FOLDER ...`."""

import site
import sys

# Its namespace packages are declared in .pth files, which only site folders have a right to.
site.addsitedir(sys.argv.pop(1))

from autobahntestsuite.wstest import run  # noqa: E402

run()
