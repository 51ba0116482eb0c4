"""Changes of several people to one object: each sees what the others did before anything is saved over it."""

import json
import threading

from axe_core_python.sync_playwright import Axe
from playwright.sync_api import expect

from studio import CopyTest, strata


class ConflictTest(CopyTest):
    """A server that may write, on a copy of the store."""

    server_options = ["--write"]

    def setUp(self):
        super().setUp()
        self.contexts = []

    def tearDown(self):
        for context in self.contexts:
            context.close()
        self.errors = [error for error in self.errors if "409" not in error]
        super().tearDown()

    def other(self):
        """A page of another browser."""
        context = self.browser.new_context(storage_state=self.state)
        self.contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        return page

    def edit(self, page, reference, name, text):
        page.goto(f"{self.server.origin}/Films/object/{reference}")
        page.get_by_role("button", name=f"Edit {name}").click()
        page.fill(f"#edit-{name}", text)

    def look(self, page):
        page.get_by_role("button", name="Look", exact=True).click()
        expect(page.locator("dialog")).to_be_visible()

    def save(self, page, author):
        page.fill("#author", author)
        page.click("#save")
        expect(page.locator("h1")).to_contain_text("Transaction")

    def value(self, reference, name):
        return json.loads(strata("show", self.store, reference, "--json"))["values"][name]

    def transactions(self):
        return json.loads(strata("inspect", self.store, "--json"))["log"]["transactions"]

    def expect_conflict(self, page, *values):
        """What was seen, what is there now, and what the change gives."""
        facts = page.locator("#conflicts dd")
        expect(facts).to_have_count(len(values))
        for place, text in enumerate(values):
            expect(facts.nth(place)).to_contain_text(text)

    def test_two_browsers_edit_the_same_value(self):
        mine, theirs = self.page, self.other()
        self.edit(mine, "Film/p60", "year", "1990")
        self.edit(theirs, "Film/p60", "year", "1991")
        seen = str(self.value("Film/p60", "year"))
        self.look(theirs)
        expect(theirs.locator("#conflicts")).to_have_count(0)
        self.save(theirs, "bob")
        expect(mine.locator("#news")).to_be_visible()
        self.look(mine)
        self.expect_conflict(mine, seen, "1991", "1990")
        expect(mine.locator("#conflicts dd").nth(1)).to_contain_text("bob")
        expect(mine.locator("#save")).to_have_text("Save over it: 1 Film updated")
        self.assertEqual(Axe().run(mine)["violations"], [])
        mine.keyboard.press("Escape")
        self.assertEqual(self.value("Film/p60", "year"), 1991)
        self.look(mine)
        self.save(mine, "ann")
        self.assertEqual(self.value("Film/p60", "year"), 1990)

    def test_the_same_value_is_no_conflict(self):
        mine = self.page
        self.edit(mine, "Film/p61", "year", "1991")
        strata("update", self.store, "Film/p61", "year=1991", "--author", "bob")
        self.look(mine)
        expect(mine.locator("#change-title")).to_have_text("This would change nothing")
        expect(mine.locator("#conflicts")).to_have_count(0)

    def test_an_app_writes_between_the_look_and_the_save(self):
        page = self.page
        self.edit(page, "Film/p62", "year", "1990")
        seen = str(self.value("Film/p62", "year"))
        self.look(page)
        strata("update", self.store, "Film/p62", "year=1991", "--author", "bob", "--reason", "the poster")
        page.click("#save")
        expect(page.locator("#refusal")).to_contain_text("Look at it again")
        self.expect_conflict(page, seen, "1991", "1990")
        expect(page.locator("#conflicts")).to_contain_text("the poster")
        self.assertEqual(self.value("Film/p62", "year"), 1991)
        expect(page.locator("#look-again")).to_be_focused()
        page.keyboard.press("Enter")
        self.expect_conflict(page, seen, "1991", "1990")
        self.save(page, "ann")
        self.assertEqual(self.value("Film/p62", "year"), 1990)

    def test_other_values_of_the_object_are_no_conflict(self):
        page = self.page
        self.edit(page, "Film/p63", "year", "1990")
        self.look(page)
        strata("update", self.store, "Film/p63", "rating=4", "--author", "bob")
        self.save(page, "ann")
        self.assertEqual((self.value("Film/p63", "year"), self.value("Film/p63", "rating")), (1990, 4))

    def test_an_object_that_was_deleted_meanwhile(self):
        page = self.page
        self.edit(page, "Film/p64", "year", "1990")
        strata("delete", self.store, "Film/p64", "--author", "bob", "--reason", "a double")
        self.look(page)
        expect(page.locator("#refusal")).to_contain_text("Film/p64")
        expect(page.locator("#conflicts")).to_contain_text("deleted since you saw it")
        expect(page.locator("#conflicts")).to_contain_text("a double")
        expect(page.locator("#save")).to_have_count(0)

    def test_a_deletion_shows_what_would_be_lost(self):
        page = self.page
        page.goto(f"{self.server.origin}/Films/object/Film/p65")
        seen = str(self.value("Film/p65", "year"))
        page.click("#delete")
        expect(page.locator("#save")).to_be_enabled()
        strata("update", self.store, "Film/p65", "year=1991", "--author", "bob")
        page.click("#save")
        self.expect_conflict(page, seen, "1991", "deleted")
        self.assertEqual(self.value("Film/p65", "year"), 1991)

    def test_a_revert_whose_base_moved(self):
        strata("update", self.store, "Film/p66", "year=2001", "--author", "bob")
        page = self.page
        page.goto(f"{self.server.origin}/Films/transaction/{self.transactions()}")
        page.click("#revert")
        expect(page.locator("#save")).to_be_enabled()
        strata("update", self.store, "Film/p66", "year=2002", "--author", "cy")
        page.click("#save")
        expect(page.locator("#refusal")).to_contain_text("year")
        self.assertEqual(self.value("Film/p66", "year"), 2002)

    def test_a_restore_whose_base_moved(self):
        page = self.page
        page.goto(f"{self.server.origin}/Films/object/Film/p68?at=10")
        strata("update", self.store, "Film/p68", "year=2001", "--author", "bob")
        page.click("#restore")
        expect(page.locator("#consequences del")).to_have_text("2001")
        strata("update", self.store, "Film/p68", "year=2002", "--author", "bob")
        page.click("#save")
        expect(page.locator("#refusal")).to_contain_text("Look at it again")
        page.click("#look-again")
        expect(page.locator("#consequences del")).to_have_text("2002")
        self.assertEqual(self.value("Film/p68", "year"), 2002)

    def test_nothing_is_lost_beside_an_app_that_writes(self):
        count = 8

        def write():
            for number in range(count):
                strata("update", self.store, "Film/p67", f"rating={number}", "--author", "app")
        before = self.transactions()
        app = threading.Thread(target=write)
        app.start()
        for number in range(3):
            self.edit(self.page, "Film/p67", "title", f"Title {number}")
            self.look(self.page)
            self.save(self.page, "ann")
        app.join()
        self.assertEqual((self.value("Film/p67", "title"), self.value("Film/p67", "rating")), ("Title 2", count - 1))
        self.assertEqual(self.transactions(), before + count + 3)
