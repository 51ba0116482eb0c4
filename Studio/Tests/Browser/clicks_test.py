"""Three questions that a person has of a store that was moved in, each answered in three clicks from the first page."""

import contextlib
import datetime
import json
import os
import sqlite3

from playwright.sync_api import expect

from studio import CopyTest, strata, write_model

MODEL = """<entity name="Film" syncable="YES"><attribute name="title" optional="YES" attributeType="String"/>
    <attribute name="rating" optional="YES" attributeType="Double" usesScalarValueType="YES"/></entity>"""
# Two transactions of 2023: Thursday the 9th and Wednesday the 15th of March.
HISTORY = """
    CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR);
    CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER,
        ZTRANSACTIONID INTEGER);
    INSERT INTO ATRANSACTION VALUES (1, 700000000, 'ann'), (2, 700500000, 'bob');
    INSERT INTO ACHANGE SELECT Z_PK, 0, Z_ENT, Z_PK, Z_PK FROM ZFILM;"""


class ClicksTest(CopyTest):
    """A store of Core Data with two films, made in two transactions; then a change, and an import of 120 films."""

    @classmethod
    def prepare(cls):
        seed, file, rows = [os.path.join(cls.copies, name) for name in ["Seed.strata", "Seed.sqlite", "rows.csv"]]
        strata("create", seed, "--model", write_model(cls.copies, "Films", MODEL))
        for title in ["Stalker", "Solaris"]:
            strata("insert", seed, "Film", f"title={title}", "rating=8.1")
        strata("export", seed, "--form", "coredata", file)
        with contextlib.closing(sqlite3.connect(file)) as database, database:
            database.executescript(HISTORY)
        strata("import", "--into", cls.store, file)
        strata("update", cls.store, "Film/p1", "rating=9", "--author", "carol", "--reason", "seen again")
        with open(rows, "w", encoding="utf-8") as file:
            file.write("title,rating\n" + "".join(f"Film {number:03},5\n" for number in range(120)))
        strata("import", cls.store, "Film", rows, "--author", "dave")

    def setUp(self):
        super().setUp()
        self.clicks = 0
        self.page.goto(self.server.origin + "/")
        self.heading("Model")

    def click(self, locator):
        self.clicks += 1
        locator.click()
        expect(self.page.locator("[aria-busy]")).to_have_count(0)

    def tearDown(self):
        super().tearDown()
        self.assertLessEqual(self.clicks, 3)

    def test_who_changed_this_value_when_and_what_was_it_before(self):
        page = self.page
        self.click(page.locator("#entity-Film"))
        self.click(page.locator("tbody tr", has_text="Stalker").get_by_role("link").first)
        row = page.locator("#value-rating")
        for text in ["9", "carol", "seen again", "was 8.1"]:
            expect(row).to_contain_text(text)
        expect(row.locator("time")).to_be_visible()

    def test_what_did_this_import_do(self):
        page = self.page
        self.click(page.locator("#sections a", has_text="Transactions"))
        self.click(page.locator("tbody tr", has_text="dave").get_by_role("link").first)
        expect(page.locator("main")).to_contain_text("120 Film inserted")
        expect(page.locator(".events li").first).to_contain_text("Film 000")

    def test_what_did_a_transaction_of_the_former_history_do(self):
        page = self.page
        self.click(page.locator("#sections a", has_text="Transactions"))
        self.click(page.locator("tbody tr", has_text="bob").get_by_role("link").first)
        expect(page.locator("main")).to_contain_text("1 Film inserted")
        expect(page.locator(".events")).to_contain_text("Solaris")
        # When it was saved, for the transaction itself is as old as the import.
        expect(page.locator("main")).to_contain_text("2023-03-1")

    def test_what_did_the_store_look_like_last_tuesday(self):
        page = self.page
        # What came over is as old as the import: there is no store on a day before it.
        self.clicks += 2
        page.fill("#day", "2023-03-14")
        expect(page.locator("#moment")).to_contain_text("Before the first transaction")
        self.click(page.locator("#entity-Film"))
        expect(page.locator("#counts")).to_contain_text("There are no objects")

    def test_what_did_the_store_look_like_at_a_time(self):
        page = self.page
        entries = [json.loads(line) for line in strata("log", self.store, "--json").splitlines()]
        change = next(entry["time"] for entry in entries if entry.get("author") == "carol")
        time = datetime.datetime.fromisoformat(change.replace("Z", "+00:00")) + datetime.timedelta(milliseconds=1)
        # To type a time is one act.
        self.clicks += 1
        page.fill("#at", time.isoformat(timespec="milliseconds").replace("+00:00", "Z"))
        page.press("#at", "Enter")
        expect(page.locator("#entity-Film")).to_be_visible()
        self.click(page.locator("#entity-Film"))
        expect(page.locator("#counts")).to_contain_text("1 to 2 of 2 objects")
        expect(page.locator("tbody tr", has_text="Stalker")).to_contain_text("9")
        expect(page.locator("tbody")).to_contain_text("Solaris")
