"""Builds the shared library, and the extension module that calls it."""

import pathlib
import sys

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import shared_library  # noqa: E402 (a build backend does not look beside this file)


class BuildWithLibrary(build_py):
    """Puts the shared library beside the modules."""

    def run(self):
        super().run()
        shared_library.copy_to(self.build_lib)


class LinkWithLibrary(build_ext):
    """Finds the shared library where it was built."""

    def run(self):
        place = shared_library.linkable()
        for extension in self.extensions:
            extension.library_dirs.append(str(place))
        super().run()
        if self.inplace:
            shared_library.copy_to(".")


class StableWheel(bdist_wheel):
    """Any Python from 3.10 on can use the wheel."""

    def finalize_options(self):
        self.py_limited_api = "cp310"
        super().finalize_options()


setup(
    cffi_modules=["native_module.py:ffi"],
    cmdclass={"build_py": BuildWithLibrary, "build_ext": LinkWithLibrary, "bdist_wheel": StableWheel},
)
