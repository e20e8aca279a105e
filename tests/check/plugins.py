#!/usr/bin/env python3
"""Every plug-in is listed, and adding one touches its folders, a line of src/plugins/list.h and a word of the build."""
import re

from tree import ROOT, code_of, end, files, text_of

LIST = 'src/plugins/list.h'
KIND = re.compile(r'^\s*X\((\w+)\)', re.M)
# Files outside of a plug-in's folders that may name it: the list, the build, and what documents or tests it.
WORD = re.search(r'^plugin_kinds = \[(.*)\]', text_of('meson.build'), re.M).group(1)

listed = KIND.findall(text_of(LIST))
built = set(re.findall(r"'(\w+)'", WORD))
folders = {p.parts[1] for p in files('.c', under='collectors')} | {'fake_cluster'}
home = {name: ROOT / 'src/sim' / name if name == 'fake_cluster' else ROOT / 'collectors' / name for name in folders}

violations = [f'{LIST}: {name} has no folder' for name in listed if name not in folders]
violations += [f'{home[name].relative_to(ROOT)}: not in {LIST}' for name in sorted(folders - set(listed) - {'skeleton'})]
violations += [f'meson.build: plugin_kinds has {name}, which has no folder' for name in sorted(built - folders)]
violations += [f'collectors/{name}: not in plugin_kinds of meson.build' for name in sorted(folders - built - {'fake_cluster'})]
for name in sorted(folders):
    code = '\n'.join(code_of(p) for p in files('.c', under=home[name].relative_to(ROOT)))
    violations += [f'{home[name].relative_to(ROOT)}: does not define {name}_{what}' for what in ('source', 'plugin')
                   if not re.search(rf'^const struct \w+ {name}_{what} =', code, re.M)]
# Whoever adds the next one copies no name into a third place.
for path in files('.c', '.h', 'meson.build'):
    if path.parts[0] in ('collectors', 'actuators', 'tests') or str(path).startswith(('src/sim/fake_cluster/', 'src/net/')):
        continue
    violations += [f'{path}: names the plug-in {name}, which only {LIST} should' for name in sorted(folders)
                   if re.search(rf'\b{name}_(source|plugin)\b|"collectors/{name}/|"actuators/{name}/', text_of(path))]
end(violations, f'{len(listed)} plug-ins')
