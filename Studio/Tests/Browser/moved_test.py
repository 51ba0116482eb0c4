"""Addresses and the slider across a migration, a store that goes away, and objects that a transaction deleted."""

import os
import shutil

from playwright.sync_api import expect

from studio import CopyTest, StudioTest, strata, write_model

BEFORE = """<entity name="Person" syncable="YES"><attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="isTall" optional="YES" attributeType="Boolean"/>
        <attribute name="note" optional="YES" attributeType="String"/></entity>"""
AFTER = """<entity name="Human" elementID="Person" syncable="YES">
        <attribute name="fullName" elementID="name" optional="YES" attributeType="String"/>
        <attribute name="isTall" optional="YES" attributeType="Integer 16"/>
        <attribute name="rating" optional="YES" attributeType="Double"/></entity>"""


class RenamedTest(CopyTest):
    """Transactions 2 and 3 make people, 4 is the migration, 5 gives a human a rating."""

    @classmethod
    def prepare(cls):
        strata("create", cls.store, "--model", write_model(cls.copies, "Before", BEFORE))
        for name in ["Ann", "Bob"]:
            strata("insert", cls.store, "Person", f"name={name}", "isTall=yes")
        strata("migrate", cls.store, "--model", write_model(cls.copies, "After", AFTER))
        strata("update", cls.store, "Human/p1", "rating=4")

    def test_the_slider_moves_over_a_rename(self):
        page = self.go("/objects/Human?where=fullName != nil&sort=-fullName&columns=fullName, rating")
        slider = page.get_by_role("slider")
        for at, heads in [(5, ["object", "fullName ↓", "rating"]), (4, ["object", "fullName ↓", "rating"]),
                          (3, ["object", "name ↓"]), (4, ["object", "fullName ↓", "rating"])]:
            while int(slider.get_attribute("aria-valuenow")) != at:
                now = int(slider.get_attribute("aria-valuenow"))
                page.keyboard.press("[" if now > at else "]")
                expect(slider).not_to_have_attribute("aria-valuenow", str(now))
            expect(page.locator("thead th")).to_have_text(heads)
            expect(page.locator("tbody tr").first).to_contain_text("Bob")
        self.assertEqual(self.errors, [])

    def test_what_the_model_of_then_does_not_have_is_named(self):
        page = self.go("/objects/Human?at=3&columns=fullName, rating")
        expect(page.locator("#absent")).to_have_text("Not in the model at this moment: rating")
        page = self.go("/objects/Human?at=3&where=rating > 3")
        expect(page.locator("#problem")).to_contain_text("It has one in version 2")
        expect(page.get_by_role("slider")).to_have_attribute("aria-valuenow", "3")
        page.keyboard.press("]")
        expect(page.locator("#problem")).to_have_count(0)


class GoneTest(CopyTest):
    """A store whose directory is moved away while it is shown."""

    server_options = ["--write"]

    def test_a_store_that_was_moved_says_so(self):
        page = self.go("/object/Film/p3")
        expect(page.locator("#delete")).to_be_visible()
        expect(page.locator("#gone")).to_have_count(0)
        os.rename(self.store, self.store + "-moved")
        try:
            page = self.go("/object/Film/p3")
            expect(page.locator("#gone")).to_contain_text("no longer where it was")
            expect(page.locator("#delete")).to_have_count(0)
            expect(page.locator("#value-title")).to_contain_text("Stalker")
        finally:
            os.rename(self.store + "-moved", self.store)


class DeletedTest(StudioTest):
    """Film/p126 was deleted by transaction 12."""

    def test_a_deleted_object_is_shown_before_its_deletion(self):
        page = self.go("/transaction/12")
        page.locator(".events li.deleted a").click()
        expect(page.locator("#value-title")).to_contain_text("Gone")
        self.assertEqual(self.query, {"at": "11"})

    def test_an_object_that_is_gone_says_who_deleted_it_and_leads_back(self):
        page = self.go("/object/Film/p126")
        expect(page.locator("#fate")).to_contain_text("it was deleted. t12 bob")
        page.locator("#fate").get_by_text("see it then").click()
        expect(page.locator("#value-title")).to_contain_text("Gone")

    def test_a_large_transaction_says_what_it_did_in_a_line(self):
        page = self.go("/transaction/10")
        expect(page.locator("#counts")).to_have_text("120 Film inserted")
