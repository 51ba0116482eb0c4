#!/usr/bin/env python3
"""Writes the page about the file format from the layouts in the first comment of each codec file.

Run it after changing a layout: Scripts/format-page.py
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

What every byte of a store means; each layout is the first comment of the file that reads and writes it.

## The directory

| file | what it is |
|---|---|
| `data.mdb`, `lock.mdb` | LMDB's map, and its table of readers |
| `writer.lock` | locked by the process that writes |
| `blobs/ab/cdef...` | large binary values, named by the SHA-256 of their bytes |
| `blobs.lock` | locked shared by processes that write blobs, exclusively by the one that removes orphaned ones |

Directories have mode 0700, files 0600. The model of each version is JSON with sorted keys. Everything read from disk is
checked: a damaged record is an error that names its key.
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
