#!/usr/bin/env python3
"""Writes the page about the file format from the layouts in the first comment of each codec file.

Run it after changing a layout: Scripts/format-page.py
"""
from pathlib import Path

root = Path(__file__).resolve().parent.parent
page = root / "Sources/Strata/Strata.docc/FileFormat.md"

sections = [
    ("Tables", "StoreTables"),
    ("Sums of pages", "PageSums"),
    ("Checkpoints", "CheckpointFile"),
    ("The journal", "CommitJournal"),
    ("Mark of a copy of a shared log", "SharedMark"),
    ("Header and head", "StoreHeader"),
    ("Events", "EventRecord"),
    ("Blocks of events", "EventBlock"),
    ("Maintenance events", "MaintenanceRecord"),
    ("Erasures", "ErasureRecord"),
    ("Thinnings", "ThinnedRecord"),
    ("Transactions", "TransactionRecord"),
    ("Rows", "RowLayout"),
    ("Rows in the objects view", "StoredRow"),
    ("Values", "ValueCodec"),
    ("Ordered keys", "KeyEncoding"),
    ("Encrypted values", "EncryptedValue"),
    ("Subjects of encrypted values", "SubjectID"),
    ("Files of keys of subjects", "SubjectKeyDirectory"),
    ("Canonical forms", "CanonicalForm"),
    ("Groups of declared views", "GroupState"),
    ("Aggregates of a group", "AggregateState"),
    ("Values of an aggregate", "KeptValues"),
    ("Counts of ranked orders", "RankLevels"),
    ("Words of full texts", "TextPostings"),
    ("Tags and subscriptions", "Bookmarks"),
    ("How far the log is in blocks", "LogPacking"),
    ("Metadata of the store", "StoreMetadata"),
    ("Keys of encrypted attributes", "EncryptionRecord"),
    ("A rebuild under way", "RebuildMark"),
    ("A migration under way", "MigrationMark"),
    ("Where a truncated log begins", "LogBaseline"),
    ("The sum of the events kept before it", "EventSum"),
    ("An erasure under way", "ErasureMark"),
    ("Thinned entities", "ThinnedEntities"),
    ("A view that catches up", "ViewProgress"),
]

INTRODUCTION = """# File format

What every byte of a store means; each layout is the first comment of the file that reads and writes it.

## Which versions open which stores

Version 0.1.0 writes format 1. Every version of Strata opens the stores of every released version before it: it reads
them, verifies them, rebuilds them and writes to them, without a conversion. A store that 0.1.0 made is never refused.

| the store says | this version |
|---|---|
| format 1, flags that this version knows | opens it |
| format 1, unknown compatible flags | opens it; the flags do not concern it |
| format 1, unknown read-compatible flags | opens it for reading only |
| format 1, unknown incompatible flags, or a newer format | refuses it with ``StrataError/Code/persistentStoreOpen`` and leaves it as it is |

- A store keeps its format and flags until it first uses something that an older version does not know. The first declared view
  or full text adds a read-compatible flag. The first truncation, thinning or erasure adds an incompatible one, and so do a model
  with encrypted attributes, the durability `journaled`, and the first block of events, which a save of 256 events makes. 0.1.0
  refuses such a store. `strata upgrade STORE --dry-run` says which versions open it now.
- A new flag or format comes with a minor version (0.2, 0.3) and is named in the changelog; patch versions (0.1.1) bring none.
- Events and transactions are never rewritten, except those that a truncation of the history drops or replaces, and those
  that lose values in an erasure or a thinning: what a version has logged, later versions read as it stands. In a block an event takes
  fewer bytes; read out of it, it is byte for byte what was logged.
- Stores are little-endian and use pages of 4 KiB; they move between Linux and macOS and between processors.
- Stores of builds before 0.1.0 are not part of the promise.

`Fixtures/Stores` has a store of each released format and a text with everything it answers: its objects, its past states,
its log, and the results of queries. The test suite opens, verifies, rebuilds, queries and changes each of them. They are
written once, by `Scripts/format-fixture.sh`, and never again.

## The directory

| file | what it is |
|---|---|
| `data.mdb`, `lock.mdb` | LMDB's map, and its table of readers |
| `pages.sums` | a sum of each page of `data.mdb` |
| `checkpoint` | the commit to which a power cut takes a store back whose commits are not synced: a copy of a shared log, or one with a journal |
| `journal` | the saves since then, of a store with the durability `journaled` |
| `writer.lock` | locked by the process that writes |
| `blobs/ab/cdef...` | large binary values, named by the SHA-256 of their bytes |
| `blobs.lock` | locked shared by processes that write blobs, exclusively by the one that removes orphaned ones |
| `views.lock` | locked by the process that keeps the views that catch up |
| `unfinished-restore` | in a restored store until it has taken the place of another one: the first two pages of its `data.mdb` |

`data.mdb` and `pages.sums` belong together. An older `data.mdb` beside newer sums is refused as damage, since a disk that has
lost writes looks the same: remove `pages.sums` when you put another `data.mdb` in place by hand. A store of a version without
sums, or one copied without them, is read as it is. Its first change makes the sums, and reads the whole file for that.

Directories have mode 0700, files 0600. The model of each version is JSON with sorted keys. Everything read from disk is
checked: a damaged record is an error that names the record.
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
