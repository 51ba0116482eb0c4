"""Many pages of one browser beside each other: each shows the store, and all follow it."""

from playwright.sync_api import expect

from studio import CopyTest, Server, strata


class ManyTest(CopyTest):
    def open(self, count):
        """Pages that all count as visible, as in windows of their own."""
        pages = [self.context.new_page() for _ in range(count)]
        for page in pages:
            page.goto(self.server.origin + "/Films/objects/Genre", timeout=10_000)
            expect(page.locator("#counts")).to_be_visible()
        return pages

    def newest(self):
        return self.page.request.get(self.server.origin + "/Films/timeline.json?parts=1").json()["moment"]["newest"]

    def test_a_dozen_windows_show_the_store_and_follow_it(self):
        pages = self.open(12)
        strata("insert", self.store, "Genre", "label=noir")
        for page in pages:
            expect(page.get_by_role("row").filter(has_text="noir")).to_be_visible()

    def test_when_the_window_that_asks_is_closed_another_asks(self):
        pages = self.open(3)
        for label in ["western", "musical"]:
            pages.pop(0).close()
            strata("insert", self.store, "Genre", f"label={label}")
            for page in pages:
                expect(page.get_by_role("row").filter(has_text=label)).to_be_visible()

    def test_a_window_that_comes_later_follows_too(self):
        pages = self.open(2)
        strata("insert", self.store, "Genre", "label=comedy")
        expect(pages[1].get_by_role("row").filter(has_text="comedy")).to_be_visible()
        last = self.open(1)[0]
        expect(last.locator("#moment")).to_contain_text(f"Transaction {self.newest()} of")
        strata("insert", self.store, "Genre", "label=silent")
        expect(last.get_by_role("row").filter(has_text="silent")).to_be_visible()

    def test_windows_that_studio_no_longer_knows_do_not_keep_others_from_following(self):
        pages = self.open(2)
        port = self.server.origin.rsplit(":", 1)[1]
        self.server.close()
        for page in pages:
            expect(page.locator("#lost")).to_contain_text("does not answer")
        type(self).server = Server(self.store, options=["--port", port])
        for page in pages:
            expect(page.locator("#lost")).to_contain_text("Open the address that Studio printed")
        entered = self.context.new_page()
        entered.goto(self.server.address)
        type(self).state = self.context.storage_state()
        entered.goto(self.server.origin + "/Films/objects/Genre")
        expect(entered.locator("#counts")).to_be_visible()
        strata("insert", self.store, "Genre", "label=epic")
        for page in [entered, *pages]:
            expect(page.get_by_role("row").filter(has_text="epic")).to_be_visible()
            expect(page.locator("#lost")).to_be_hidden()
