#!/usr/bin/env python3
"""Makes the tables of figures again that READMEs and man pages hold, by the commands that the files themselves name.

tests/tables.py [--list] [FILE...]       all files, or those named; BALLAST and BALLAST_DATA as the tests have them

A table stands between two lines, in Markdown and in mdoc:

    <!-- table: tests/bench/levels.py --markdown -->        .\\" table: tests/bench/levels.py --mdoc
    <!-- end of table -->                                   .\\" end of table

A command that ends with 77 lacks its data: the table stays. With 1 it has figures, and missed an aim: they are written, and this
command ends with 1 too.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

TREE = pathlib.Path(__file__).resolve().parents[1]
SKIPPED, MISSED = 77, 1
TABLE = re.compile(r'^(?P<begin>(?:<!-- |\.\\" )table: (?P<command>tests/[^\n]*?)(?: -->)?)\n(?P<body>.*?)(?P<end>^(?:<!-- |\.\\" )end of table)',
                   flags=re.S | re.M)


def tracked():
    done = subprocess.run(['git', 'ls-files', '*.md', '*.[1-8]', '*.[1-8].in'], cwd=TREE, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.split()


class Maker:
    def __init__(self):
        self.made = {}  # by command: two files may hold the same table
        self.failed = False

    def body(self, command, present):
        if command not in self.made:
            began = time.monotonic()
            done = subprocess.run(command.split(), cwd=TREE, stdout=subprocess.PIPE, text=True, check=False)
            print(f'{command}: exit code {done.returncode}, {time.monotonic() - began:.0f} s', flush=True)
            self.made[command] = done.stdout if done.returncode in (0, MISSED) and done.stdout else None
            self.failed = self.failed or done.returncode not in (0, SKIPPED)
        return self.made[command] or present

    def remake(self, path):
        before = path.read_text(encoding='utf-8')
        after = TABLE.sub(lambda m: f'{m["begin"]}\n{self.body(m["command"], m["body"])}{m["end"]}', before)
        if after != before:
            path.write_text(after, encoding='utf-8')
            print(f'{path.relative_to(TREE)}: changed')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--list', action='store_true', help='print the files and the commands only')
    parser.add_argument('files', nargs='*', metavar='FILE')
    options = parser.parse_args()
    if 'BALLAST' in os.environ:
        os.environ['BALLAST'] = str(pathlib.Path(os.environ['BALLAST']).resolve())
    maker = Maker()
    for name in options.files or tracked():
        path = (pathlib.Path(name) if options.files else TREE / name).resolve()
        if options.list:
            for match in TABLE.finditer(path.read_text(encoding='utf-8')):
                print(f'{name}: {match["command"]}')
        else:
            maker.remake(path)
    return 1 if maker.failed else 0


sys.exit(main())
