#!/usr/bin/env python3
"""Writes the page of the file format from the layouts at the head of each codec file.

Run it after changing one: Scripts/format-page.py
"""
from pathlib import Path

root = Path(__file__).resolve().parent.parent
page = root / "Sources/Strata/Strata.docc/FileFormat.md"

sections = [
    ("Tables", "Sources/StrataStore/Views/StoreTables.swift"),
    ("Header and head", "Sources/StrataStore/Log/StoreHeader.swift"),
    ("Events", "Sources/StrataModel/Log/EventRecord.swift"),
    ("Maintenance events", "Sources/StrataModel/Log/MaintenanceRecord.swift"),
    ("Transactions", "Sources/StrataModel/Log/TransactionRecord.swift"),
    ("Rows", "Sources/StrataModel/Row/RowLayout.swift"),
    ("Rows in the objects view", "Sources/StrataModel/Row/StoredRow.swift"),
    ("Values", "Sources/StrataModel/Value/ValueCodec.swift"),
    ("Ordered keys", "Sources/StrataModel/Keys/KeyEncoding.swift"),
    ("Tags and subscriptions", "Sources/StrataStore/History/Bookmarks.swift"),
    ("A rebuild under way", "Sources/StrataStore/Verify/RebuildMark.swift"),
    ("A migration under way", "Sources/StrataStore/Migration/MigrationMark.swift"),
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


def head(path):
    lines = []
    for line in (root / path).read_text().splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].removeprefix(" ").rstrip())
    return "\n".join(lines)


parts = [INTRODUCTION]
for title, path in sections:
    parts.append(f"## {title}\n\n```text\n{head(path)}\n```\n")
page.write_text("\n".join(parts))
