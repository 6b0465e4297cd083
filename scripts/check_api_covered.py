#!/usr/bin/env python3
"""Checks that every function, member and enumerator of include/tenon is used by a program that runs as a test: it occurs
in examples/, tests/api, tests/lazy or tests/types as one writes it there. --list says where each name is used first. Headers are read as text, as
clang-format leaves them: blocks are taken out from the innermost on."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
USERS = ("examples", "tests/api", "tests/lazy", "tests/types")
IGNORED = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|^[ ]*#(?:[^\n]*\\\n)*[^\n]*', re.DOTALL | re.MULTILINE)
INITIALIZER = re.compile(r"(?<=\w)\{\d*\}|(?:=|\breturn)\s*\{[^{};]*\}")
BLOCK = re.compile(r"([^;{}]*)\{([^{}]*)\}")
ENUM = re.compile(r"\benum\s+(?:class\s+)?(\w+)")
STRUCT = re.compile(r"\b(?:class|struct)\s+(\w+)\b(?!::)")
FUNCTION = re.compile(r"(\w+)\s*(?:<[^<>()]*>)?\s*\(")
NOT_A_NAME = re.compile(r"\b(?:friend|using|typedef|operator|delete)\b|~|^\s*(?:class|struct|namespace)\s+\w+$")


def name_of(statement, scope):
    """Pairs of name and how its use looks."""
    statement = statement.split("public:")[-1].strip()
    if not statement or NOT_A_NAME.search(statement):
        return
    function = FUNCTION.search(statement)
    if function:
        if function[1] != scope:  # constructors are used wherever their class is
            yield function[1], rf"\b{function[1]}\s*(?:<[^;()]*>)?\("
        return
    while "<" in statement:
        statement = re.sub(r"<[^<>]*>", "", statement)
    words = re.findall(r"(\w+)\s*(?:\[\w*\]\s*)?(?:=[^,]*)?(?:,|$)", statement)
    yield from ((word, rf"(?:\.|->){word}\b" if scope else rf"\b{word}\b") for word in words)


def names(header):
    """Each public name, with its scope, as (scope, name, pattern of its use)."""
    text, count = IGNORED.sub(" ", header.read_text()), 1
    text = INITIALIZER.sub(" ", INITIALIZER.sub(" ", text))
    while count:
        block = BLOCK.search(text)
        if not block:
            break
        head, body = block[1], block[2]
        enum, struct = ENUM.search(head), STRUCT.search(head)
        rest = ";"
        if enum:
            for word in re.findall(r"(\w+)\s*(?:=[^,]*)?(?:,|$)", body.strip()):
                yield enum[1], word, rf"\b{word}\b" if header.name == "c_api.h" else rf"\b{enum[1]}::{word}\b"
        elif "(" in head:
            rest = head + ";"
        else:
            scope = struct[1] if struct else ""
            for statement in body.split("private:")[0].split(";"):
                yield from ((scope, *found) for found in name_of(statement, scope))
        text = text[: block.start()] + rest + text[block.end() :]


def main():
    users = {file: IGNORED.sub(" ", file.read_text()) for folder in USERS for file in sorted((ROOT / folder).glob("*.[ch]*"))}
    missing, count = [], 0
    for header in sorted((ROOT / "include/tenon").glob("*.h")):
        for scope, name, pattern in dict.fromkeys(names(header)):
            count += 1
            user = next((file.name for file, text in users.items() if re.search(pattern, text)), None)
            full = f"{header.name}: {scope + '::' if scope else ''}{name}"
            if user is None:
                missing.append(full)
            elif "--list" in sys.argv:
                print(f"{full:60} {user}")
    print("\n".join(f"{name}: no example and no test of the API uses it" for name in missing) or
          f"{count} public names are used in {' or '.join(USERS)}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
