"""The stubs say what the modules have."""

import ast
import inspect
import pathlib

import iolite_conn
from iolite_conn import _options, errors

FOLDER = pathlib.Path(iolite_conn.__file__).parent


def classes(stub):
    tree = ast.parse((FOLDER / stub).read_text())
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def test_the_options_are_the_libraries():
    named = {node.target.id for node in classes("__init__.pyi")["Options"].body}
    assert named == _options.NAMES


def test_the_errors_have_the_same_bases():
    stubs = classes("errors.pyi")
    assert set(stubs) == set(errors.__all__)
    for name, node in stubs.items():
        if name not in ("Error", "Phase"):
            assert [base.id for base in node.bases] == [base.__name__ for base in getattr(errors, name).__bases__]


def test_the_classes_have_the_same_public_members():
    stubs = classes("__init__.pyi")
    for name in ("Connection", "AsyncConnection", "Message", "Headers", "Kind", "State", "Flags"):
        nodes = [stubs[name]] + ([stubs["_Handle"]] if name.endswith("Connection") else [])
        told = set()
        for statement in (statement for node in nodes for statement in node.body):
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                told.add(statement.name)
            elif isinstance(statement, ast.Assign):
                told.update(target.id for target in statement.targets)
        thing = getattr(iolite_conn, name)
        public = {member for member in dir(thing) if not member.startswith("_")}
        if name in ("Kind", "State", "Flags"):
            public = set(thing.__members__)
        inherited = {member for member in dir(iolite_conn.Headers.__mro__[1]) if not member.startswith("_")}
        own = public - (inherited - told if name == "Headers" else set()) - {"kind", "status"}
        assert {member for member in told if not member.startswith("_")} - {"kind", "status"} == own
        for member in own:
            assert inspect.getdoc(getattr(thing, member)), f"{name}.{member} has no words"
