#!/usr/bin/env python3
"""A wrong model fails: each formula of wrong_models.py is replaced in turn, and the results of vectors.json or the examples must notice.

test_wrong_models.py --list     prints the formulas that no result of vectors.json covers (examples reckoned by hand do)
"""
import contextlib
import importlib.abc
import importlib.util
import io
import pathlib
import sys

from wrong_models import WRONG

HERE = pathlib.Path(__file__).resolve().parent
TESTS = ('test_vectors', 'test_examples')
SOURCES = {path.stem: path.read_text(encoding='utf-8') for path in HERE.glob('*.py') if path.stem not in ('test_wrong_models', 'wrong_models')}
CODE = {name: compile(text, str(HERE / f'{name}.py'), 'exec') for name, text in SOURCES.items()}


class Model(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the model's modules, one of them changed."""

    def __init__(self, name=None, code=None):
        self.code = {**CODE, name: code} if name else CODE

    def find_spec(self, fullname, path=None, target=None):
        return importlib.util.spec_from_loader(fullname, self, origin=str(HERE / f'{fullname}.py')) if fullname in CODE else None

    def exec_module(self, module):
        module.__file__ = str(HERE / f'{module.__name__}.py')
        exec(self.code[module.__name__], module.__dict__)

    def failing(self):
        """Tests that fail with this model."""
        for name in CODE:
            sys.modules.pop(name, None)
        sys.meta_path.insert(0, self)
        try:
            return [test for test in TESTS if not passes(test)]
        finally:
            sys.meta_path.remove(self)


def passes(test):
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            importlib.import_module(test).main()
    except SystemExit as end:
        return not end.code
    except Exception:  # a wrong model may also fall over
        return False
    return True


def noticed_by(formula, file, old, new):
    """Tests that fail with the wrong model."""
    name = file.removesuffix('.py')
    if SOURCES[name].count(old) != 1:
        sys.exit(f'{formula}: {file} has {old!r} {SOURCES[name].count(old)} times')
    return Model(name, compile(SOURCES[name].replace(old, new), file, 'exec')).failing()


def main():
    if Model().failing():
        sys.exit(f'the right model fails: {", ".join(Model().failing())}')
    noticed = {wrong[0]: noticed_by(*wrong) for wrong in WRONG}
    if len(noticed) < len(WRONG):
        sys.exit('wrong_models.py: two formulas with one name')
    uncovered = [formula for formula, tests in noticed.items() if 'test_vectors' not in tests]
    if sys.argv[1:] == ['--list']:
        print('\n'.join(uncovered))
        return
    for formula, tests in noticed.items():
        if not tests:
            print(f'{formula}: not noticed')
    print(f'{len(WRONG)} wrong models: {len(WRONG) - len(uncovered)} are noticed by results of the engine, '
          f'{sum(tests != [] and "test_vectors" not in tests for tests in noticed.values())} by examples alone')
    sys.exit(1 if not all(noticed.values()) else 0)


if __name__ == '__main__':
    main()
