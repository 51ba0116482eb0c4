"""Entering, the model, and moving through time."""

import os
import re
import shutil

from playwright.sync_api import expect

from studio import Server, StudioTest, strata


class MomentsTest(StudioTest):
    """Entering, the model, and moving through time."""

    # Entering

    def test_a_page_does_not_wait_for_the_timeline(self):
        held = []
        self.page.route("**/timeline", lambda route: held.append(route))
        self.page.goto(self.server.origin + "/Films/object/Film/p3")
        self.heading("Film/p3 (Stalker)")
        expect(self.page.locator("#slider")).to_have_count(0)
        held[0].continue_()
        expect(self.page.locator("#slider")).to_be_visible()
        expect(self.page.locator("[aria-busy]")).to_have_count(0)

    def test_a_store_without_a_timeline_shows_its_pages(self):
        self.page.route("**/timeline", lambda route: route.fulfill(
            status=500, content_type="application/json", body='{"error": {"message": "The disk is gone."}}'))
        self.go("/object/Film/p3")
        self.heading("Film/p3 (Stalker)")
        expect(self.page.locator("strata-timeline")).to_be_hidden()
        self.errors.clear()

    def test_without_the_cookie_nothing_is_shown(self):
        context = self.browser.new_context()
        page = context.new_page()
        answer = page.goto(self.server.origin + "/Films/model")
        self.assertEqual(answer.status, 401)
        self.assertIn("Open the address that strata-studio printed", page.inner_text("body"))
        context.close()

    def test_the_address_is_good_once(self):
        context = self.browser.new_context()
        page = context.new_page()
        self.assertEqual(page.goto(self.server.address).status, 401)
        context.close()

    def test_one_store_is_shown_at_once_and_the_token_is_gone(self):
        self.page.goto(self.server.origin + "/")
        self.heading("Model")
        self.assertNotIn("token", self.page.url)

    # The model

    def test_the_model_has_counts_and_a_diagram(self):
        page = self.go("/model")
        expect(page.locator(".diagram rect")).to_have_count(3)
        expect(page.locator("tr", has_text="to-one Studio")).to_contain_text("123")

    def test_the_diagram_leads_to_objects(self):
        page = self.go("/model")
        page.locator(".diagram a", has_text="Genre").click()
        self.heading("Genre")

    def test_the_counts_are_those_of_the_moment(self):
        page = self.go("/model?at=5")
        expect(page.locator("tr", has_text="to-one Studio").locator(".number")).to_have_text("1")

    # The timeline

    def test_the_slider_says_the_moment(self):
        page = self.go("/model?at=6")
        slider = page.get_by_role("slider")
        expect(slider).to_have_attribute("aria-valuenow", "6")
        expect(slider).to_have_attribute("aria-valuetext", re.compile("Transaction 6 of 12.*bob.*seen again"))
        expect(page.locator("#moment")).to_contain_text("seen again")

    def test_times_say_that_they_are_utc(self):
        said = re.compile(r"\d\d:\d\d:\d\d UTC")
        page = self.go("/transactions?at=6")
        for place in ["#moment", ".axis"]:
            expect(page.locator(place)).to_have_text(said)
        expect(page.locator("thead")).to_contain_text("when (UTC)")
        page = self.go("/object/Film/p3")
        expect(page.locator("thead")).to_contain_text("when (UTC)")
        expect(page.locator(".change h3").first).to_have_text(said)
        expect(self.go("/transaction/6").locator(".facts")).to_have_text(said)

    def test_steps_change_the_address_and_the_page(self):
        page = self.go("/object/Film/p3?at=6")
        expect(page.locator("#value-rating td").first).to_have_text("9")
        page.click("#previous")
        expect(page.locator("#value-rating td").first).to_have_text("8.1")
        self.assertEqual(self.query, {"at": "5"})
        page.go_back()
        expect(page.locator("#value-rating td").first).to_have_text("9")

    def test_arrow_keys_home_and_end_move_the_slider(self):
        page = self.go("/model?at=6")
        slider = page.get_by_role("slider")
        slider.focus()
        for key, now in [("ArrowLeft", "5"), ("ArrowRight", "6"), ("Home", "1"), ("End", "12")]:
            slider.press(key)
            expect(slider).to_have_attribute("aria-valuenow", now)
            expect(slider).to_be_focused()
        self.assertEqual(self.query, {})

    def test_brackets_step_and_zero_goes_to_the_newest(self):
        page = self.go("/transactions?at=6")
        page.keyboard.press("[")
        expect(page.get_by_role("slider")).to_have_attribute("aria-valuenow", "5")
        page.keyboard.press("]")
        expect(page.get_by_role("slider")).to_have_attribute("aria-valuenow", "6")
        page.keyboard.press("0")
        expect(page.locator("#moment")).to_contain_text("following")

    def test_dragging_moves_the_page(self):
        page = self.go("/model")
        box = page.get_by_role("slider").bounding_box()
        page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 20)
        page.mouse.down()
        page.mouse.move(box["x"] + 2, box["y"] + 20, steps=8)
        page.mouse.up()
        expect(page.get_by_role("slider")).to_have_attribute("aria-valuenow", "1")
        expect(page.locator("#moment")).to_contain_text("Transaction 1 of")

    def test_a_tag_or_a_date_can_be_typed(self):
        page = self.go("/model")
        page.fill("#at", "first cut")
        page.press("#at", "Enter")
        expect(page.get_by_role("slider")).to_have_attribute("aria-valuenow", "6")
        expect(page.locator("#moment .tag")).to_have_text("first cut")

    def test_a_day_is_picked(self):
        page = self.go("/model?at=6")
        today = page.locator("#day").get_attribute("max")
        page.fill("#day", today)
        expect(page.get_by_role("slider")).to_have_attribute("aria-valuenow", "12")
        self.assertEqual(self.query["at"], f"{today}T23:59:59.999Z")

    def test_tags_lead_to_their_moment(self):
        page = self.go("/model")
        page.locator("ul.tags a").click()
        expect(page.get_by_role("slider")).to_have_attribute("aria-valuenow", "6")

    def test_playing_goes_on_by_itself(self):
        page = self.go("/model?at=9")
        page.click("#play")
        expect(page.get_by_role("slider")).to_have_attribute("aria-valuenow", "11")
        page.click("#play")

    def test_a_moment_that_is_not_there_is_explained(self):
        page = self.go("/model?at=999")
        expect(page.get_by_role("alert")).to_contain_text("no transaction 999")
        page.click("text=See it in the newest state")
        self.heading("Model")

    def test_authors_are_named_and_lead_to_their_transactions(self):
        page = self.go("/model")
        page.locator("ul.authors a", has_text="bob").click()
        self.heading("Transactions")
        expect(page.locator("tbody tr")).to_have_count(3)

    # Live

    def test_new_transactions_come_in_by_themselves(self):
        copy = os.path.join(self.folder, "Live.strata")
        shutil.copytree(self.store, copy)
        server = Server(copy)
        try:
            page = self.context.new_page()
            page.goto(server.address)
            expect(page.locator("#moment")).to_contain_text("of 12")
            strata("update", copy, "Film/p3", "rating=5", "--author", "cy")
            expect(page.locator("#moment")).to_contain_text("Transaction 13 of 13")
            page.goto(server.origin + "/Live/model?at=6")
            expect(page.get_by_role("slider")).to_have_attribute("aria-valuenow", "6")
            strata("update", copy, "Film/p3", "rating=6", "--author", "cy")
            expect(page.get_by_role("slider")).to_have_attribute("aria-valuemax", "14")
            expect(page.get_by_role("slider")).to_have_attribute("aria-valuenow", "6")
        finally:
            server.close()
