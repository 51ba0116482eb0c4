"""Changing a store: each change is shown first, and saved when it is confirmed."""

import json
import urllib.error
import urllib.request

from axe_core_python.sync_playwright import Axe
from playwright.sync_api import expect

from studio import CopyTest, StudioTest, strata


class ChangeTest(CopyTest):
    """A server that may write, on a copy of the store."""

    server_options = ["--write"]

    def tearDown(self):
        self.errors = [error for error in self.errors if "409" not in error]
        super().tearDown()

    def edit(self, object_, name, text):
        page = self.go(f"/object/{object_}")
        page.get_by_role("button", name=f"Edit {name}").click()
        page.fill(f"#edit-{name}", text)
        page.get_by_role("button", name="Look").click()
        expect(page.locator("dialog")).to_be_visible()
        return page

    def test_a_value_is_changed_after_a_confirmation_that_names_it(self):
        page = self.edit("Film/p3", "rating", "7.5")
        expect(page.locator("#consequences")).to_contain_text("rating")
        expect(page.locator("#consequences del")).to_have_text("9")
        expect(page.locator("#consequences ins")).to_have_text("7.5")
        expect(page.locator("#save")).to_have_text("Save: 1 Film updated")
        page.fill("#author", "eve")
        page.fill("#reason", "seen a third time")
        page.click("#save")
        expect(page.locator("h1")).to_contain_text("Transaction")
        expect(page.locator("dl.facts")).to_contain_text("seen a third time")
        expect(page.locator("dl.facts")).to_contain_text("eve")

    def test_cancelling_changes_nothing(self):
        before = strata("inspect", self.store, "--json")
        page = self.edit("Film/p3", "title", "Something else")
        page.keyboard.press("Escape")
        expect(page.locator("dialog")).to_have_count(0)
        self.assertEqual(json.loads(strata("inspect", self.store, "--json"))["log"], json.loads(before)["log"])

    def test_what_cannot_be_is_said_and_not_saved(self):
        page = self.edit("Film/p3", "year", "never")
        expect(page.locator("#refusal")).to_contain_text("year")
        expect(page.locator("#save")).to_have_count(0)

    def test_deleting_shows_consequences(self):
        page = self.go("/object/Film/p20")
        page.click("#delete")
        expect(page.locator("#consequences li")).to_have_count(1)
        expect(page.locator("#save")).to_have_text("Save: 1 Film deleted")
        page.click("#save")
        expect(page.locator("#page .events li.deleted")).to_be_visible()

    def test_a_deleted_object_is_restored(self):
        page = self.go("/object/Film/p126?at=11")
        page.click("#restore")
        expect(page.locator("#save")).to_have_text("Save: 1 Film inserted")
        expect(page.locator("#reason")).to_have_value("restored to 11")
        page.click("#save")
        expect(page.locator("#page .events li.inserted")).to_be_visible()

    def test_a_transaction_is_reverted(self):
        strata("update", self.store, "Film/p30", "year=2001", "--author", "bob")
        page = self.go("/transactions")
        page.locator("tbody tr").first.get_by_role("link").first.click()
        page.click("#revert")
        expect(page.locator("#consequences del")).to_have_text("2001")
        page.click("#save")
        expect(page.locator("dl.facts")).to_contain_text("revert of transaction")

    def test_conflicts_of_a_revert_are_decided_by_a_person(self):
        strata("update", self.store, "Film/p31", "year=2001", "--author", "bob")
        strata("update", self.store, "Film/p31", "year=2002", "--author", "ann")
        page = self.go("/transactions")
        page.locator("tbody tr").nth(1).get_by_role("link").first.click()
        page.click("#revert")
        expect(page.locator("#refusal")).to_contain_text("year")
        page.get_by_role("button", name="Revert that too").click()
        expect(page.locator("#consequences del")).to_have_text("2002")

    def test_links_are_made_and_cut(self):
        page = self.go("/object/Film/p4")
        expect(page.locator("#link-genres")).to_have_attribute("placeholder", "Genre/p5")
        page.fill("#link-genres", "Genre/p2")
        page.get_by_role("button", name="Link", exact=True).click()
        expect(page.locator("#consequences")).to_contain_text("+ ")
        page.click("#save")
        expect(page.locator("h1")).to_contain_text("Transaction")
        page = self.go("/object/Film/p4")
        page.get_by_role("button", name="Unlink Genre/p2").click()
        expect(page.locator("#consequences")).to_contain_text("− ")

    def test_a_change_that_was_overtaken_is_looked_at_again(self):
        page = self.edit("Film/p40", "year", "1990")
        strata("update", self.store, "Film/p40", "year=1991", "--author", "bob")
        page.click("#save")
        expect(page.locator("#refusal").last).to_contain_text("Look at it again")
        self.assertIn("1991", strata("show", self.store, "Film/p40"))

    def test_the_past_cannot_be_edited(self):
        page = self.go("/object/Film/p3?at=6")
        expect(page.get_by_role("button", name="Edit rating")).to_have_count(0)
        expect(page.locator("#delete")).to_have_count(0)

    def test_the_dialog_is_accessible(self):
        page = self.edit("Film/p3", "title", "Another")
        found = Axe().run(page)["violations"]
        self.assertEqual([(finding["id"], finding["nodes"][0]["html"]) for finding in found], [])

    def test_other_sites_change_nothing(self):
        cookie = "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in self.state["cookies"])
        body = json.dumps({"kind": "delete", "object": "Film/p3"}).encode()
        own = {"Cookie": cookie, "Origin": self.server.origin, "Content-Type": "application/json"}
        wrong = [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": None}, {"Cookie": ""},
                 {"Content-Type": "text/plain"}, {"Content-Type": "application/x-www-form-urlencoded"}]
        for change in [{}] + wrong:
            headers = {name: text for name, text in {**own, **change}.items() if text is not None}
            request = urllib.request.Request(self.server.origin + "/Films/draft", body, headers, method="POST")
            try:
                with urllib.request.urlopen(request) as answer:
                    self.assertEqual((change, answer.status), ({}, 200))
            except urllib.error.HTTPError as error:
                self.assertIn(error.code, (401, 403), change)


class ReadOnlyTest(StudioTest):
    """Without `--write`."""

    def test_nothing_offers_a_change(self):
        for path in ["/object/Film/p3", "/object/Film/p3?at=6", "/transaction/6"]:
            page = self.go(path)
            expect(page.locator("#delete, #restore, #revert")).to_have_count(0)
            expect(page.get_by_role("button", name="Edit rating")).to_have_count(0)
