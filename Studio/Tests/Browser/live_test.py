"""Transactions that come in while someone is at work on a page take nothing away."""

from playwright.sync_api import expect

from studio import CopyTest, strata


class LiveTest(CopyTest):
    """A server that may write, on a copy of the store."""

    server_options = ["--write"]
    saved = 0

    def another(self, rating=None):
        """Another program saves a transaction."""
        LiveTest.saved += 1
        strata("update", self.store, "Film/p3", f"rating={rating or LiveTest.saved + 100}", "--author", "other")

    def waits(self, number):
        expect(self.page.locator("#news")).to_have_text(f"{number} new transaction{'' if number == 1 else 's'}: show")

    # What waits

    def test_an_open_edit_field_keeps_its_text_and_selection(self):
        page = self.go("/object/Film/p3")
        page.get_by_role("button", name="Edit title").click()
        page.fill("#edit-title", "my long careful text")
        page.evaluate("document.getElementById('edit-title').setSelectionRange(3, 7)")
        self.another("5")
        self.another("6")
        self.waits(2)
        expect(page.locator("#edit-title")).to_have_value("my long careful text")
        expect(page.locator("#edit-title")).to_be_focused()
        self.assertEqual(page.evaluate("document.getElementById('edit-title').selectionEnd"), 7)
        # Asked for, the news comes and the field stays.
        page.click("#news")
        expect(page.locator("#value-rating td").first).to_contain_text("6")
        expect(page.locator("#edit-title")).to_have_value("my long careful text")
        expect(page.locator("#news")).to_have_count(0)
        page.get_by_role("button", name="Look").click()
        expect(page.locator("#consequences ins")).to_have_text("my long careful text")

    def test_a_field_that_is_being_opened_is_not_taken_away(self):
        page = self.go("/object/Film/p3")
        held = []
        page.route("**/value/**", lambda route: held.append(route))
        page.get_by_role("button", name="Edit title").click()
        self.another("4")
        self.waits(1)
        held[0].continue_()
        expect(page.locator("#edit-title")).to_be_focused()
        expect(page.locator("#edit-title")).not_to_have_value("")

    def test_news_is_shown_when_an_edit_is_cancelled(self):
        page = self.go("/object/Film/p3")
        page.get_by_role("button", name="Edit title").click()
        self.another("3")
        self.waits(1)
        page.get_by_role("button", name="Cancel").click()
        expect(page.locator("#value-rating td").first).to_contain_text("3")
        expect(page.locator("#news")).to_have_count(0)

    def test_typed_filters_and_links_wait(self):
        for path, field in [("/objects/Film", "where"), ("/objects/Film", "columns"), ("/object/Film/p3", "link-genres"),
                            ("/object/Film/p3", "with"), ("/transactions", "author")]:
            with self.subTest(path=path, field=field):
                page = self.go(path)
                page.fill(f"#{field}", "half typed")
                self.another()
                expect(page.locator("#news")).to_be_visible()
                expect(page.locator(f"#{field}")).to_have_value("half typed")
                page.click("#news")
                expect(page.locator("#news")).to_have_count(0)
                expect(page.locator(f"#{field}")).to_have_value("half typed")
                page.fill(f"#{field}", "")

    def test_an_open_dialog_waits(self):
        page = self.go("/object/Film/p20")
        page.click("#delete")
        expect(page.locator("#save")).to_be_visible()
        page.fill("#reason", "not needed")
        self.another()
        expect(page.locator("#news")).to_be_attached()
        expect(page.locator("#reason")).to_have_value("not needed")
        page.keyboard.press("Escape")
        expect(page.locator("#news")).to_have_count(0)
        expect(page.locator("#moment")).to_contain_text("other")

    # What is drawn again

    def test_open_parts_stay_open_and_count_again(self):
        page = self.go("/objects/Studio")
        page.click("#facets summary")
        page.locator("#facets").get_by_role("button", name="name").click()
        expect(page.locator("#facets .values li")).to_have_count(1)
        page.locator("details", has_text="Properties").last.locator("summary").click()
        strata("insert", self.store, "Studio", "name=Ghibli", "--author", "other")
        expect(page.locator("#facets .values li")).to_have_count(2)
        expect(page.locator("#counts")).to_contain_text("2 objects")
        self.assertEqual(page.locator("details[open]").count(), 2)

    def test_focus_and_places_of_scrolling_stay(self):
        self.page.set_viewport_size({"width": 420, "height": 500})
        page = self.go("/objects/Film?sort=-year")
        region = page.get_by_role("region", name="Objects")
        page.evaluate("scrollTo(0, 700)")
        region.evaluate("element => { element.scrollLeft = 60; element.querySelectorAll('tbody a')[5].focus({ preventScroll: true }); }")
        before = page.evaluate("[document.activeElement.textContent, scrollY]")
        self.another("8.5")
        expect(page.locator("#moment")).to_contain_text("other")
        expect(page.locator("#status")).to_contain_text("has come in")
        self.assertEqual(region.evaluate("element => element.scrollLeft"), 60)
        self.assertEqual(page.evaluate("[document.activeElement.textContent, scrollY]"), before)

    def test_the_controls_of_the_timeline_keep_text_and_focus(self):
        page = self.go("/model")
        page.fill("#at", "first c")
        self.another()
        expect(page.locator("#moment")).to_contain_text("other")
        expect(page.locator("#status")).to_contain_text("has come in")
        expect(page.locator("#at")).to_have_value("first c")
        expect(page.locator("#at")).to_be_focused()

    def test_a_verification_goes_on(self):
        page = self.go("/health")
        page.click("#verify")
        expect(page.locator("#verified")).to_contain_text("Sound")
        self.another()
        expect(page.locator("#status")).to_contain_text("has come in")
        expect(page.locator("#verified")).to_contain_text("Sound")

    def test_another_page_begins_empty(self):
        page = self.go("/objects/Film")
        page.fill("#where", "half typed")
        page.click("nav#sections a >> text=Model")
        page.locator("#entity-Film").click()
        expect(page.locator("#counts")).to_be_visible()
        expect(page.locator("#where")).to_have_value("")
