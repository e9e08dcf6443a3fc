#!/usr/bin/env python3
"""clang-tidy over every source of src/ and backends/, a folder at a time.

    tools/tidy.py BUILD-FOLDER [--tidy PROGRAM] [--compiler PROGRAM] [--jobs N]

Most of its time goes into the headers that every file includes, which it parses and checks anew for
each: so the files of a folder that are compiled alike are included into one. Files whose local names
clash are taken apart again. What passed is remembered in $XDG_CACHE_HOME/assay/tidy, by everything
that clang-tidy reads: its version, its settings, the command and the preprocessed text with its
comments and macros; what was not asked for in 30 days is forgotten.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PATTERN = re.compile(r"^(src|backends)/.*\.cpp$")  # kernels (.cu) are not for clang-tidy
KEPT_S = 30 * 24 * 3600  # how long a pass is remembered after its last use
CLASH = re.compile(r"^(/[^:]+):\d+:\d+: error: ", re.MULTILINE)


def flags_of(entry):
    """What the command says of the language: neither its launcher and compiler nor its files."""
    words = shlex.split(entry["command"])
    while not words[0].startswith("-"):
        del words[0]
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-MF", "-MT"):
            skip = True
        elif word not in ("-c", "-MD", entry["file"]) and not word.startswith("-W"):
            kept.append(word)  # warnings are the compilers' business: local names may shadow another file's
    return tuple(kept)


def groups_of(build):
    groups = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = os.path.relpath(entry["file"], ROOT)
        if PATTERN.match(file):
            groups.setdefault((os.path.dirname(file), flags_of(entry)), set()).add(file)
    return [(folder, flags, sorted(files)) for (folder, flags), files in groups.items()]


def write(file, text):
    """In one step: another run that reads half a file would find nothing to say of it."""
    part = file.with_suffix(f".{os.getpid()}")
    part.write_text(text)
    part.replace(file)


class Linter:
    def __init__(self, arguments):
        self.tidy = arguments.tidy
        self.compiler = arguments.compiler
        self.sources = arguments.build / "tidy"
        self.sources.mkdir(exist_ok=True)
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        self.passed = pathlib.Path(cache) / "assay" / "tidy"
        self.passed.mkdir(parents=True, exist_ok=True)
        version = subprocess.run([self.tidy, "--version"], capture_output=True, check=True).stdout
        self.forget(time.time() - KEPT_S)
        self.settings = version + (ROOT / ".clang-tidy").read_bytes() + pathlib.Path(__file__).read_bytes()

    def forget(self, before):
        """What was last used before that time."""
        for key in self.passed.iterdir():
            try:
                if key.stat().st_mtime < before:
                    key.unlink()
            except FileNotFoundError:
                pass  # another run forgot it first

    def written(self, folder, flags, files):
        text = "".join(f'#include "{ROOT / file}"\n' for file in files)
        # By its flags too: the same files may be compiled in two ways, at the same time.
        name = hashlib.sha256("\0".join((*flags, text)).encode()).hexdigest()[:12]
        source = self.sources / f"{folder.replace('/', '-')}-{name}.cpp"
        write(source, text)
        return source

    def finds_mistakes(self):
        """Whether a mistake in a file like ours is found, without which no silence means anything."""
        header = self.sources / "src" / "mistake.h"
        header.parent.mkdir(exist_ok=True)
        write(header, "inline int NotOurNaming() { return 0; }\n")
        source = self.sources / "mistake.cpp"
        write(source, f'#include "{header}"\n')
        return "NotOurNaming" in self.run_tidy(source, ("-std=c++20",))

    def key(self, source, flags):
        """None where the text can't be preprocessed: clang-tidy will say why."""
        command = [self.compiler, "-E", "-CC", "-dD", *flags, source]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode != 0:
            return None
        whole = self.settings + "\0".join(flags).encode() + done.stdout
        return hashlib.sha256(whole.replace(os.fsencode(ROOT), b".")).hexdigest()

    def lint(self, folder, flags, files):
        """The complaints, as text; empty where there is none."""
        source = self.written(folder, flags, files)
        key = self.key(source, flags)
        if key and (self.passed / key).exists():
            (self.passed / key).touch()
            return ""
        parts = self.apart(source, flags, files)
        if len(parts) > 1:
            complaints = "".join(self.lint(folder, flags, part) for part in parts)
        else:
            complaints = self.run_tidy(source, flags)
        if key and not complaints:
            (self.passed / key).touch()
        return complaints

    def apart(self, source, flags, files):
        """Two parts where files clash, so that those are apart from the earlier ones they clash with."""
        command = [self.compiler, "-fsyntax-only", "-w", "-ferror-limit=0", *flags, source]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0 or len(files) == 1:
            return [files]
        named = set(CLASH.findall(done.stderr))
        clashing = [file for file in files if str(ROOT / file) in named]
        if not 0 < len(clashing) < len(files):
            clashing = files[len(files) // 2 :]
        return [file for file in files if file not in clashing], clashing

    def run_tidy(self, source, flags):
        # Named, as a build folder may lie where clang-tidy wouldn't find it.
        settings = f"--config-file={ROOT / '.clang-tidy'}"
        command = [self.tidy, "--quiet", settings, source, "--", *flags]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return ""  # what it counts as suppressed is no complaint
        return done.stdout + done.stderr or f"{source}: {self.tidy} ended with {done.returncode}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="a build folder with compile_commands.json")
    parser.add_argument("--tidy", default="clang-tidy-16")
    parser.add_argument("--compiler", default="clang++-16", help="of the same version")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()

    groups = sorted(groups_of(arguments.build), key=lambda group: -len(group[2]))
    if not groups:
        sys.exit(f"{arguments.build}: no source of src/ or backends/ is built there")
    linter = Linter(arguments)
    if not linter.finds_mistakes():
        sys.exit(f"{arguments.tidy} doesn't find a mistake made for it: nothing it passes would count")
    failed = False
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for complaints in pool.map(lambda group: linter.lint(*group), groups):
            failed = failed or bool(complaints.strip())
            print(complaints, end="", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
