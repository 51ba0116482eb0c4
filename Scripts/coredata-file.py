#!/usr/bin/env python3
"""Writes a large file as Core Data does: coredata-file.py ROWS OUT.sqlite

A tenth of the rows are people, six tenths films with a director, and the rest reviews of a film and their author. Films
have tags (many-to-many, ordered), and every tenth person has a favourite film, so that the tables lead to each other
in a circle. The model is in the file; a quarter as many changes as there are rows are in its history.
"""
import plistlib
import random
import sqlite3
import sys
import uuid
import zlib


class Archive:
    """Objects by class, as NSKeyedArchiver writes them."""

    def __init__(self):
        self.objects = ["$null"]
        self.classes = {}

    def add(self, value):
        self.objects.append(value)
        return plistlib.UID(len(self.objects) - 1)

    def of(self, name, **fields):
        if name not in self.classes:
            self.classes[name] = self.add({"$classname": name, "$classes": [name, "NSObject"]})
        return self.add({"$class": self.classes[name], **fields})

    def list(self, members):
        return self.of("NSMutableArray", **{"NS.objects": list(members)})

    def dictionary(self, entries):
        keys = [self.add(key) for key in entries]
        return self.of("NSMutableDictionary", **{"NS.keys": keys, "NS.objects": list(entries.values())})

    def bytes(self, root):
        file = {"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": root}, "$objects": self.objects}
        return plistlib.dumps(file, fmt=plistlib.FMT_BINARY)


INTEGER16, INTEGER32, INTEGER64, DOUBLE, DATE, STRING, BOOLEAN, UUID = 100, 200, 300, 500, 900, 700, 800, 1100
# An attribute is a type; a to-one or to-many is its destination, its inverse, and whether it is to-many and ordered.
MODEL = {
    "Film": {
        "title": STRING, "year": INTEGER16, "minutes": INTEGER32, "gross": INTEGER64, "rating": DOUBLE,
        "released": DATE, "isSeen": BOOLEAN, "code": UUID, "director": ("Person", "films", False, False),
        "reviews": ("Review", "film", True, False), "tags": ("Tag", "films", True, True),
    },
    "Person": {
        "name": STRING, "born": DATE, "films": ("Film", "director", True, False),
        "reviews": ("Review", "author", True, False), "favourite": ("Film", None, False, False),
    },
    "Review": {
        "text": STRING, "stars": INTEGER16, "written": DATE, "film": ("Film", "reviews", False, False),
        "author": ("Person", "reviews", False, False),
    },
    "Tag": {"word": STRING, "films": ("Film", "tags", True, False)},
}
NUMBERS = {name: number + 1 for number, name in enumerate(sorted(MODEL))}


def model_cache():
    archive = Archive()
    entities = {name: archive.of("NSEntityDescription", NSEntityName=archive.add(name)) for name in sorted(MODEL)}
    for name, properties in MODEL.items():
        described = {}
        for key, kind in properties.items():
            fields = {"NSPropertyName": archive.add(key), "NSIsOptional": True}
            if isinstance(kind, int):
                described[key] = archive.of("NSAttributeDescription", NSAttributeType=kind, **fields)
                continue
            destination, inverse, is_to_many, is_ordered = kind
            described[key] = archive.of(
                "NSRelationshipDescription", NSMaxCount=0 if is_to_many else 1, NSMinCount=0, NSIsOrdered=is_ordered,
                NSDeleteRule=1, _NSDestinationEntityName=archive.add(destination),
                _NSInverseRelationshipName=archive.add(inverse) if inverse else plistlib.UID(0), **fields)
        archive.objects[entities[name].data]["NSProperties"] = archive.dictionary(described)
    root = archive.of("NSManagedObjectModel", NSEntities=archive.dictionary(entities))
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(archive.bytes(root)) + packer.flush()


def write(count, path):
    numbers = random.Random(count)
    people, films, tags = count // 10, count * 6 // 10, 100
    reviews = count - people - films - tags
    database = sqlite3.connect(path, isolation_level=None)
    run = database.execute
    run("PRAGMA synchronous = OFF")
    run("PRAGMA journal_mode = OFF")
    run("CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)")
    run("CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)")
    run("CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)")
    key = "Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER"
    run(f"CREATE TABLE ZFILM ({key}, ZISSEEN INTEGER, ZGROSS INTEGER, ZMINUTES INTEGER, ZYEAR INTEGER, "
        "ZDIRECTOR INTEGER, ZRATING FLOAT, ZRELEASED TIMESTAMP, ZTITLE VARCHAR, ZCODE BLOB)")
    run(f"CREATE TABLE ZPERSON ({key}, ZFAVOURITE INTEGER, ZBORN TIMESTAMP, ZNAME VARCHAR)")
    run(f"CREATE TABLE ZREVIEW ({key}, ZSTARS INTEGER, ZAUTHOR INTEGER, ZFILM INTEGER, ZWRITTEN TIMESTAMP, "
        "ZTEXT VARCHAR)")
    run(f"CREATE TABLE ZTAG ({key}, ZWORD VARCHAR)")
    run("CREATE TABLE Z_1TAGS (Z_1FILMS INTEGER, Z_4TAGS INTEGER, Z_FOK_4TAGS INTEGER, "
        "PRIMARY KEY (Z_1FILMS, Z_4TAGS))")
    run(f"CREATE TABLE ATRANSACTION ({key}, ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, "
        "ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, "
        "ZPROCESSID VARCHAR, ZQUERYGEN BLOB)")
    run(f"CREATE TABLE ACHANGE ({key}, ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, "
        "ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB)")
    run(f"CREATE TABLE ATRANSACTIONSTRING ({key}, ZNAME VARCHAR)")
    run("BEGIN")
    for name, number in NUMBERS.items():
        run("INSERT INTO Z_PRIMARYKEY VALUES (?, ?, 0, ?)", (number, name, count))
    run("INSERT INTO Z_METADATA VALUES (1, ?, NULL)", (str(uuid.UUID(int=numbers.getrandbits(128))).upper(),))
    run("INSERT INTO Z_MODELCACHE VALUES (?)", (model_cache(),))
    many = database.executemany
    many("INSERT INTO ZTAG VALUES (?, 4, 1, ?)", ((tag, f"tag {tag}") for tag in range(1, tags + 1)))
    many("INSERT INTO ZPERSON VALUES (?, 2, 1, ?, ?, ?)", (
        (person, numbers.randint(1, films) if person % 10 == 0 else None, numbers.uniform(-3e9, 0),
         f"Person number {person}") for person in range(1, people + 1)))
    many("INSERT INTO ZFILM VALUES (?, 1, 2, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (
        (film, film % 2, numbers.randint(0, 10**10), numbers.randint(60, 240), numbers.randint(1920, 2025),
         numbers.randint(1, people), numbers.uniform(0, 10), numbers.uniform(-2e9, 7e8),
         f"The film with the number {film}", numbers.randbytes(16)) for film in range(1, films + 1)))
    many("INSERT INTO ZREVIEW VALUES (?, 3, 1, ?, ?, ?, ?, ?)", (
        (review, numbers.randint(1, 5), numbers.randint(1, people), numbers.randint(1, films),
         numbers.uniform(0, 7e8), "It was about as good as the last one. " * numbers.randint(1, 3))
        for review in range(1, reviews + 1)))
    many("INSERT INTO Z_1TAGS VALUES (?, ?, ?)", (
        (film, tag, 1024 * (place + 1)) for film in range(1, films + 1, 6)
        for place, tag in enumerate(numbers.sample(range(1, tags + 1), 2))))
    for number, word in enumerate(["app", "view", "org.example.films", "Films"]):
        run("INSERT INTO ATRANSACTIONSTRING VALUES (?, 16003, 1, ?)", (number + 1, word))
    transactions = count // 1000
    many("INSERT INTO ATRANSACTION VALUES (?, 16002, 1, 1, 3, 2, 4, ?, NULL, NULL, NULL, NULL, NULL)", (
        (transaction, 7e8 + 60 * transaction) for transaction in range(1, transactions + 1)))
    many("INSERT INTO ACHANGE VALUES (?, 16001, 1, 0, 3, ?, ?, NULL)", (
        (change, reviews - count // 4 + change, 1 + change * transactions // (count // 4 + 1))
        for change in range(1, count // 4 + 1)))
    run("COMMIT")
    database.close()


if __name__ == "__main__":
    if len(sys.argv) != 3 or not sys.argv[1].isdigit():
        sys.exit(__doc__)
    write(int(sys.argv[1]), sys.argv[2])
