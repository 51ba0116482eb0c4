#!/usr/bin/env python3
"""Writes the page of the file format from the layouts at the head of each codec file.

Run it after changing one: Scripts/format-page.py
"""
from pathlib import Path

root = Path(__file__).resolve().parent.parent
page = root / "Sources/Strata/Strata.docc/FileFormat.md"

sections = [
    ("Tables", "StoreTables"),
    ("Header and head", "StoreHeader"),
    ("Events", "EventRecord"),
    ("Maintenance events", "MaintenanceRecord"),
    ("Transactions", "TransactionRecord"),
    ("Rows", "RowLayout"),
    ("Rows in the objects view", "StoredRow"),
    ("Values", "ValueCodec"),
    ("Ordered keys", "KeyEncoding"),
    ("Tags and subscriptions", "Bookmarks"),
    ("A rebuild under way", "RebuildMark"),
    ("A migration under way", "MigrationMark"),
]

INTRODUCTION = """# File format

Every byte of a store, from the layouts that stand at the head of each codec.

## The directory

| file | what it is |
|---|---|
| `data.mdb`, `lock.mdb` | LMDB's map, and its table of readers |
| `writer.lock` | held by the one writer of the moment |
| `blobs/ab/cdef...` | large binary values, named by the SHA-256 of their bytes |
| `blobs.lock` | held shared by those that write blobs, exclusively by the sweeper |

Directories have mode 0700, files 0600. The model of each version is JSON with sorted keys. Anything read from disk is
checked: a damaged record is an error that names its place.
"""


def head(name):
    (path,) = (root / "Sources").rglob(f"{name}.swift")
    lines = []
    for line in path.read_text().splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].removeprefix(" ").rstrip())
    return "\n".join(lines)


parts = [INTRODUCTION]
for title, name in sections:
    parts.append(f"## {title}\n\n```text\n{head(name)}\n```\n")
page.write_text("\n".join(parts))
