"""A store whose history begins later: everything stays within what is kept."""

from playwright.sync_api import expect

from studio import CopyTest, strata


class TruncatedTest(CopyTest):
    """Transactions 9 to 13 are kept, of which the last says that the others were dropped."""

    @classmethod
    def prepare(cls):
        super().prepare()
        strata("history", "trim", cls.store, "--before", "t8", "--force")

    def stands(self, number):
        expect(self.page.locator("#slider")).to_have_attribute("aria-valuenow", str(number))
        expect(self.page.locator("#moment")).to_contain_text(f"Transaction {number} of 13")
        expect(self.page.locator("[role=alert]:visible")).to_have_count(0)

    def test_the_slider_begins_with_the_first_transaction(self):
        page = self.go("/model")
        expect(page.locator("#slider")).to_have_attribute("aria-valuemin", "9")
        page.locator("#slider").focus()
        for key, number in [("Home", 9), ("ArrowLeft", 9), ("PageDown", 9), ("ArrowRight", 10), ("End", 13)]:
            page.keyboard.press(key)
            self.stands(number)
        page.click("#first")
        self.stands(9)
        page.click("#previous")
        self.stands(9)
        self.assertEqual(self.query, {"at": "9"})
        self.assertEqual(self.errors, [])

    def test_playing_begins_with_the_first_transaction(self):
        page = self.go("/model")
        page.click("#play")
        self.stands(9)
        self.stands(13)
        self.assertEqual(self.errors, [])

    def test_dragging_stays_within(self):
        page = self.go("/model")
        box = page.get_by_role("slider").bounding_box()
        page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 20)
        page.mouse.down()
        page.mouse.move(box["x"] + 1, box["y"] + 20, steps=8)
        page.mouse.up()
        self.stands(9)
        self.assertEqual(self.errors, [])

    def test_the_first_transaction_has_none_previous(self):
        page = self.go("/transaction/9")
        expect(page.locator("#later")).to_be_visible()
        expect(page.locator("#earlier")).to_have_count(0)

    def test_a_moment_that_is_gone_is_not_said_to_be_shown(self):
        page = self.go("/model?at=10")
        page.fill("#at", "3")
        page.press("#at", "Enter")
        expect(page.locator("#at-problem")).to_contain_text("begins")
        self.assertEqual(self.query, {"at": "10"})
        # As by an entry of the browser's history from before the truncation.
        page.evaluate("history.pushState(null, '', '?at=3'); dispatchEvent(new PopStateEvent('popstate'))")
        expect(page.locator("main [role=alert]")).to_contain_text("begins")
        expect(page.locator("#moment")).to_have_text("There is no moment 3; the newest is transaction 13")
        page.locator("main [role=alert] a").first.click()
        self.stands(13)
