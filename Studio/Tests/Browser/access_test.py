"""The accessibility check, and the width of pages, at five widths in the light and in the dark."""

import os
import urllib.parse

from axe_core_python.sync_playwright import Axe
from playwright.sync_api import expect

import wild_test
from studio import CopyTest, Server, Stage, strata, write_model

WIDTHS = [320, 480, 768, 1200, 1920]


class AccessTest(CopyTest):
    """A store of hostile names and authors, one of ordinary films, and one without an object."""

    server_options = ["--write"]

    @classmethod
    def prepare(cls):
        wild_test.WildTest.prepare.__func__(cls)
        cls.empty = os.path.join(cls.copies, "Empty.strata")
        strata("create", cls.empty, "--model", write_model(cls.copies, "Empty", '<entity name="Thing" syncable="YES"/>'))

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.close()
        cls.server = Server(cls.store, Stage.shared().store, cls.empty, options=cls.server_options)
        cls.state = cls.stage.enter(cls.server)

    def show(self, path):
        self.page.goto(self.server.origin + path)
        expect(self.page.locator("[aria-busy]")).to_have_count(0)
        expect(self.page.locator("h1").first).to_be_visible()
        return self.page

    def check(self, name):
        """Runs the check on what the page shows now."""
        page = self.page
        for scheme in ["light", "dark"]:
            page.emulate_media(color_scheme=scheme)
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 800})
                place = f"{name}, {width}, {scheme}"
                self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width, place)
                found = Axe().run(page)["violations"]
                self.assertEqual([(finding["id"], finding["nodes"][0]["html"]) for finding in found], [], place)

    def check_pages(self, *paths):
        for path in paths:
            self.show(path)
            self.check(path)

    def tearDown(self):
        # A page that cannot be shown is an answer with a status of its own.
        self.errors = [error for error in self.errors if "409" not in error]
        super().tearDown()

    # The hostile store

    def test_hostile_models_and_tables(self):
        self.check_pages("/Films/model", "/Films/objects/health", "/Films/objects/__proto__", "/Films/health")

    def test_hostile_objects(self):
        self.check_pages("/Films/object/health/p1", "/Films/object/health/p1?with=3", "/Films/object/__proto__/p1")

    def test_hostile_transactions(self):
        self.check_pages("/Films/transactions", "/Films/transaction/3", "/Films/transaction/5", "/Films/transaction/6")

    # Pages that other tests do not check

    def test_stores_and_a_store_without_objects(self):
        self.check_pages("/", "/Empty/model", "/Empty/objects/Thing", "/Empty/transactions", "/Empty/health")

    def test_pages_that_cannot_be_shown(self):
        where = urllib.parse.quote("x = ")
        self.check_pages("/Nothing", "/Films/nothing", "/Films/object/health/p99", "/Films/model?at=999",
                         f"/Films-2/objects/Film?where={where}")

    def test_an_object_that_was_deleted(self):
        self.check_pages("/Films-2/object/Film/p126", "/Films-2/object/Film/p126?at=11")

    def test_a_table_with_its_parts_open(self):
        page = self.show("/Films-2/objects/Film?explain=1&sort=-rating")
        page.click("#facets summary")
        page.locator("#facets button", has_text="year").click()
        expect(page.locator(".histogram")).to_be_visible()
        page.click("text=Properties")
        self.check("facets, properties and plan")
        page.fill("#where", "ti")
        page.press("#where", "End")
        expect(page.get_by_role("option").first).to_be_visible()
        self.check("names that complete a filter")

    def test_changes_before_they_are_saved(self):
        page = self.show("/Films/object/health/p1")
        page.get_by_role("button", name="Edit constructor").click()
        self.check("a field of an object")
        page.fill("#edit-constructor", "<script>alert(1)</script>" + "x" * 300)
        page.get_by_role("button", name="Look").click()
        expect(page.locator("#consequences")).to_be_visible()
        self.check("a change")
        page.locator("dialog").get_by_role("button", name="Cancel").click()
        page.click("#delete")
        expect(page.locator("#consequences")).to_be_visible()
        self.check("a deletion")

    def test_a_verification(self):
        page = self.show("/Films/health")
        page.click("#verify-quick")
        expect(page.locator("main")).to_contain_text("Sound:")
        self.check("a verification")

    def test_a_server_that_has_ended(self):
        server = Server(self.empty)
        page = self.page = self.context.new_page()
        page.goto(server.address)
        expect(page.locator("h1")).to_have_text("Model")
        server.close()
        page.locator("#sections a", has_text="Health").click()
        expect(page.locator("#again")).to_be_visible()
        self.check("a page that did not come")
