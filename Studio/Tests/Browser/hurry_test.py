"""People who press twice, press fast, or look away meanwhile."""

import json

from playwright.sync_api import expect

from studio import CopyTest, StudioTest, strata

HIDE = """(isHidden) => { Object.defineProperty(document, 'hidden', { value: isHidden, configurable: true });
    document.dispatchEvent(new Event('visibilitychange')); }"""


class HurryTest(StudioTest):
    """A server that only reads."""

    def test_a_held_key_ends_where_it_was_let_go(self):
        page = self.go("/object/Film/p3?at=12")
        slider = page.get_by_role("slider")
        slider.focus()
        # More than a browser lets change its history in that time.
        page.evaluate("""async () => { for (let index = 0; index < 240; index += 1) {
            const key = index % 16 < 8 ? 'ArrowLeft' : 'ArrowRight';
            document.getElementById('slider').dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
            await new Promise((done) => setTimeout(done, 20)); } }""")
        slider.press("ArrowLeft")
        expect(page.locator("#moment")).to_contain_text("Transaction 11 of 12")
        expect(slider).to_have_attribute("aria-valuenow", "11")
        self.assertEqual(self.query, {"at": "11"})

    def test_pressing_fast_shows_the_last_moment_everywhere(self):
        page = self.go("/model?at=12")
        for key in "[" * 8 + "]" * 2:
            page.keyboard.press(key)
        expect(page.locator("#moment")).to_contain_text("Transaction 6 of 12")
        expect(page.locator("tr", has_text="to-one Studio").locator(".number")).to_have_text("1")
        expect(page.locator(".diagram a", has_text="Film").locator(".count")).to_have_text("1")

    def test_the_values_are_those_of_the_property_that_is_pressed(self):
        page = self.go("/objects/Film")
        page.click("#facets summary")
        held = []
        page.route("**/facet/Film/title*", lambda route: held.append(route))
        facets = page.locator("#facets")
        facets.get_by_role("button", name="title").click()
        facets.get_by_role("button", name="rating").click()
        expect(facets.locator(".values li").first).to_be_visible()
        for route in held:
            try:
                route.continue_()
            except Exception:  # The page has stopped asking.
                pass
        page.wait_for_timeout(300)
        expect(facets.locator("[aria-pressed=true]")).to_have_text("rating")
        expect(facets.locator(".values")).to_contain_text("nil 12")

    def test_playing_makes_one_entry_of_the_history(self):
        page = self.go("/model?at=5")
        before = page.evaluate("history.length")
        page.click("#play")
        expect(page.get_by_role("slider")).to_have_attribute("aria-valuenow", "7")
        page.click("#play")
        # It may have gone on before the button was pressed.
        last = int(page.get_by_role("slider").get_attribute("aria-valuenow"))
        page.click("#next")
        expect(page.locator("#moment")).to_contain_text(f"Transaction {last + 1} of")
        self.assertEqual(page.evaluate("history.length"), before + 2)
        page.go_back()
        expect(page.locator("#moment")).to_contain_text(f"Transaction {last} of")
        page.go_back()
        expect(page.locator("#moment")).to_contain_text("Transaction 5 of")

    def test_only_the_first_button_drags(self):
        page = self.go("/model")
        box = page.get_by_role("slider").bounding_box()
        page.mouse.move(box["x"] + 200, box["y"] + 20)
        page.mouse.down(button="right")
        page.mouse.up(button="right")
        page.mouse.move(box["x"] + 20, box["y"] + 20)
        expect(page.locator("#moment")).to_contain_text("following")
        self.assertEqual(self.query, {})

    def test_a_pointer_that_is_taken_away_ends_the_drag(self):
        page = self.go("/model")
        page.evaluate("""() => { const slider = document.getElementById('slider'), box = slider.getBoundingClientRect();
            slider.setPointerCapture = () => {};
            const send = (name, x) => slider.dispatchEvent(new PointerEvent(name, { clientX: box.left + x, bubbles: true }));
            send('pointerdown', box.width / 2); send('pointercancel', box.width / 2); }""")
        expect(page.get_by_role("slider")).not_to_have_attribute("aria-valuenow", "12")
        now = page.get_by_role("slider").get_attribute("aria-valuenow")
        page.mouse.move(100, 100)
        box = page.get_by_role("slider").bounding_box()
        page.mouse.move(box["x"] + box["width"] - 3, box["y"] + 5)
        expect(page.get_by_role("slider")).to_have_attribute("aria-valuenow", now)

    def test_keys_of_the_browser_stay_its_own(self):
        self.go("/model?at=5")
        page = self.go("/model?at=6")
        page.get_by_role("slider").focus()
        self.assertEqual(page.evaluate("""() => { const event = new KeyboardEvent('keydown',
            { key: 'ArrowLeft', altKey: true, bubbles: true, cancelable: true });
            document.getElementById('slider').dispatchEvent(event); return event.defaultPrevented; }"""), False)
        expect(page.get_by_role("slider")).to_have_attribute("aria-valuenow", "6")


class HurriedChangeTest(CopyTest):
    """A server that may write."""

    server_options = ["--write"]

    def test_pressing_twice_proposes_once(self):
        page = self.go("/object/Film/p20")
        page.evaluate("() => { const button = document.getElementById('delete'); button.click(); button.click(); }")
        expect(page.locator("#save")).to_be_enabled()
        page.wait_for_timeout(300)
        expect(page.locator("dialog")).to_have_count(1)

    def test_saving_twice_saves_once(self):
        page = self.go("/object/Film/p21")
        page.click("#delete")
        expect(page.locator("#save")).to_be_enabled()
        before = json.loads(strata("inspect", self.store, "--json"))["log"]["transactions"]
        page.evaluate("() => { const save = document.getElementById('save'); save.click(); save.click(); save.form.requestSubmit(); }")
        expect(page.locator("#page .events li.deleted")).to_be_visible()
        self.assertEqual(json.loads(strata("inspect", self.store, "--json"))["log"]["transactions"], before + 1)

    def test_a_dialog_has_its_keys_to_itself(self):
        page = self.go("/object/Film/p22")
        page.click("#delete")
        page.locator("dialog .cancel").focus()
        page.keyboard.press("[")
        page.wait_for_timeout(200)
        self.assertEqual(self.query, {})

    def test_looking_away_loses_no_news(self):
        page = self.go("/objects/Film")
        page.fill("#where", "half typed")
        page.evaluate(HIDE, True)
        page.evaluate(HIDE, False)
        page.wait_for_timeout(500)
        expect(page.locator("#news")).to_have_count(0)
        page.evaluate(HIDE, True)
        strata("update", self.store, "Film/p3", "rating=1", "--author", "other")
        page.evaluate(HIDE, False)
        expect(page.locator("#news")).to_have_text("1 new transaction: show")
        expect(page.locator("#where")).to_have_value("half typed")
        page.fill("#where", "")
        expect(page.locator("#moment")).to_contain_text("other")

    def test_going_back_after_a_save_shows_what_was_saved(self):
        page = self.go("/object/Film/p23")
        page.get_by_role("button", name="Edit year").click()
        page.fill("#edit-year", "1901")
        page.get_by_role("button", name="Look").click()
        page.click("#save")
        expect(page.locator("h1")).to_contain_text("Transaction")
        page.go_back()
        expect(page.locator("#value-year td").first).to_contain_text("1901")
        expect(page.locator("dialog")).to_have_count(0)
        expect(page.locator("#edit-year")).to_have_count(0)
