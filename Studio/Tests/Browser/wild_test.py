"""Authors, reasons, tags, names and numbers that try to widen a page or to change what is beside them."""

import contextlib
import os
import re
import sqlite3

from playwright.sync_api import expect

from studio import CopyTest, strata, write_model

MODEL = """<entity name="health" syncable="YES">
    <attribute name="__proto__" optional="YES" attributeType="String"/>
    <attribute name="constructor" optional="YES" attributeType="String"/>
    <attribute name="amount" optional="YES" attributeType="Decimal"/></entity>
    <entity name="__proto__" syncable="YES"><attribute name="name" optional="YES" attributeType="String"/></entity>"""
AMOUNT = "1234567890123456789012345678901234567.8"
HISTORY = """
    CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR);
    CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER,
        ZTRANSACTIONID INTEGER);
    INSERT INTO ACHANGE SELECT 1, 0, Z_ENT, Z_PK, 1 FROM ZHEALTH;"""


class WildTest(CopyTest):
    """Transaction 3 makes health/p1, 5 changes it, 6 is a tag, 7 makes __proto__/p1.

    The tool refuses an author with control characters. The history of a file of Core Data may have one.
    """

    server_options = ["--write"]

    @classmethod
    def prepare(cls):
        seed, file = os.path.join(cls.copies, "Seed.strata"), os.path.join(cls.copies, "Seed.sqlite")
        strata("create", seed, "--model", write_model(cls.copies, "Wild", MODEL))
        strata("insert", seed, "health", "__proto__=a\u202eb", "constructor=b", f"amount={AMOUNT}")
        strata("export", seed, "--form", "coredata", file)
        with contextlib.closing(sqlite3.connect(file)) as database, database:
            database.executescript(HISTORY)
            database.execute("INSERT INTO ATRANSACTION VALUES (1, 700000000, ?)", ["\u202eeve\u2066\u0007"])
        strata("import", "--into", cls.store, file)
        strata("update", cls.store, "health/p1", "constructor=c", "--author", "mallory" + "a" * 300,
               "--reason", "<b>why</b> \u202e\u0007")
        strata("tag", cls.store, "tag" + "b" * 200)
        strata("insert", cls.store, "__proto__", "name=..", "--author", "__proto__")

    PAGES = ["/model", "/objects/health", "/objects/__proto__", "/object/health/p1", "/transactions", "/transaction/3",
             "/transaction/5", "/transaction/6", "/health", "/model?at=3", "/model?at=\u202enone"]

    def test_nothing_widens_a_page_or_turns_its_text_around(self):
        for width in [320, 1200]:
            self.page.set_viewport_size({"width": width, "height": 700})
            for path in self.PAGES:
                page = self.go(path)
                expect(page.locator("h1")).to_be_visible()
                self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width, path)
                texts = page.evaluate("""() => [document.body.innerText, document.title,
                    ...[...document.querySelectorAll('*')].flatMap((element) => [element.title ?? '', element.ariaLabel ?? '',
                        element.ariaValueText ?? ''])].join(' ')""")
                self.assertIsNone(re.search("[\u202a-\u202e\u2066-\u2069\u0000-\u0008\u000e-\u001f]", texts), path)
                self.assertIsNone(page.evaluate("window.broken ?? null"))

    def test_a_number_is_not_broken_into_lines(self):
        for width in [320, 1200]:
            self.page.set_viewport_size({"width": width, "height": 700})
            for path in ["/objects/health", "/object/health/p1"]:
                number = self.go(path).locator("td bdi.number", has_text=AMOUNT[:10])
                self.assertEqual(number.evaluate("(number) => number.getClientRects().length"), 1, path)
                self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"), width, path)

    def test_what_is_escaped_is_still_found(self):
        page = self.go("/transactions")
        expect(page.locator("tbody tr", has_text="import from Core Data")).to_contain_text("\\u{202e}eve")
        expect(page.locator("tbody tr", has_text="<b>why</b>")).to_contain_text("mallory")
        for author in ["eve", "mallory"]:
            page = self.go("/transactions")
            page.locator("ul.authors a", has_text=author).click()
            expect(page.locator("tbody tr")).to_have_count(1)

    def test_names_of_a_language_are_only_names(self):
        page = self.go("/object/health/p1")
        expect(page.locator("#value-__proto__")).to_contain_text("a\\u{202e}b")
        page.get_by_role("button", name="Edit __proto__").click()
        page.fill("#edit-__proto__", "changed")
        page.get_by_role("button", name="Look").click()
        expect(page.locator("#consequences ins")).to_have_text("changed")
        page.click("#save")
        expect(page.locator("#page .events").first).to_contain_text("changed")
        page = self.go("/objects/__proto__")
        expect(page.locator("#counts")).to_contain_text("1 object")
