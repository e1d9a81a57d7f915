"""Finds or builds libiolite_conn.so.

IOLITE_CONN_LIBRARY names one that exists. Otherwise cargo builds it, where CARGO_TARGET_DIR says.
"""

import functools
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SONAME = "libiolite_conn.so.1"


@functools.cache
def built() -> pathlib.Path:
    """Returns the library's path, and builds it if none was named."""
    named = os.environ.get("IOLITE_CONN_LIBRARY")
    if named:
        return pathlib.Path(named).resolve(strict=True)
    cargo = os.environ.get("CARGO", "cargo")
    subprocess.run([cargo, "build", "--release", "--lib", "--package", "iolite-conn-c"], cwd=ROOT, check=True)
    described = subprocess.run(
        [cargo, "metadata", "--format-version=1", "--no-deps"], cwd=ROOT, check=True, stdout=subprocess.PIPE
    )
    target = pathlib.Path(json.loads(described.stdout)["target_directory"])
    return (target / "release" / "libiolite_conn.so").resolve(strict=True)


@functools.cache
def linkable() -> pathlib.Path:
    """Returns a folder in which a linker finds the library."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="iolite-conn-"))
    (folder / "libiolite_conn.so").symlink_to(built())
    return folder


def copy_to(folder) -> None:
    """Copies the library into the package, by the name under which it is loaded."""
    package = pathlib.Path(folder) / "iolite_conn"
    package.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(built(), package / SONAME)
    if shutil.which("strip"):
        subprocess.run(["strip", "--strip-debug", str(package / SONAME)], check=True)
