"""Hostile values, programs, and people without a mouse or with a small screen."""

import json
import urllib.request

from axe_core_python.sync_playwright import Axe
from playwright.sync_api import expect

from studio import StudioTest


class HarmTest(StudioTest):
    """Hostile values, programs, and people without a mouse or with a small screen."""

    # Harm

    def test_hostile_values_are_only_text(self):
        for path in ["/objects/Film?where=year = 1999", "/object/Film/p4", "/transaction/8", "/transactions", "/model"]:
            page = self.go(path)
            self.assertIsNone(page.evaluate("window.broken ?? null"))
            expect(page.locator("main script, main b, main img")).to_have_count(0)
        page = self.go("/object/Film/p4")
        expect(page.locator("#value-title")).to_contain_text("<script>window.broken")
        expect(page.locator("#value-title")).to_contain_text("\\u{202e}dlrow")
        expect(page.locator("#moment")).to_be_visible()

    def test_a_whole_hostile_value_is_plain_text(self):
        answer = self.page.goto(self.server.origin + "/Films/value/Film/p4/title")
        self.assertEqual(answer.headers["content-type"], "text/plain; charset=utf-8")
        self.assertIsNone(self.page.evaluate("window.broken ?? null"))

    def test_inline_scripts_do_not_run(self):
        page = self.go("/model")
        page.evaluate("""() => { const script = document.createElement('script');
            try { script.textContent = 'window.broken = 1'; document.body.append(script); } catch {} }""")
        self.assertIsNone(page.evaluate("window.broken ?? null"))
        self.errors.clear()

    def test_nothing_is_loaded_from_elsewhere(self):
        requests = []
        self.page.on("request", lambda request: requests.append(request.url))
        self.go("/objects/Film")
        self.assertTrue(requests)
        self.assertEqual([url for url in requests if not url.startswith(self.server.origin)], [])

    # Programs

    def test_every_page_is_data_at_the_same_address(self):
        cookie = "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in self.state["cookies"])
        for path in ["/model", "/timeline", "/objects/Film", "/object/Film/p3", "/transactions", "/transaction/6", "/health"]:
            request = urllib.request.Request(self.server.origin + "/Films" + path + ".json?at=6", headers={"Cookie": cookie})
            with urllib.request.urlopen(request) as answer:
                self.assertEqual(json.load(answer)["moment"]["transaction"], 6)

    # Access

    def test_the_page_works_with_the_keyboard_alone(self):
        page = self.go("/model")
        page.keyboard.press("Tab")
        expect(page.locator(".skip")).to_be_focused()
        page.locator("#entity-Film").focus()
        page.keyboard.press("Enter")
        self.heading("Film")
        expect(page.locator("main")).to_be_focused()

    def test_everything_that_is_pressed_has_a_name(self):
        for path in ["/model", "/objects/Film", "/object/Film/p3", "/transactions", "/transaction/6", "/health"]:
            page = self.go(path)
            nameless = page.evaluate("""() => [...document.querySelectorAll('a[href], button, input, [role=slider]')]
                .filter((element) => !(element.getAttribute('aria-label') || element.textContent.trim()
                    || [...element.labels ?? []].some((label) => label.textContent.trim()))).map((element) => element.outerHTML)""")
            self.assertEqual(nameless, [])
            self.assertEqual(page.locator("h1").count(), 1)
            ids = page.evaluate("[...document.querySelectorAll('[id]')].map((element) => element.id)")
            self.assertEqual(len(ids), len(set(ids)))


    def test_the_accessibility_check_finds_nothing(self):
        for path in ["/model", "/objects/Film", "/objects/Film?where=x AN", "/object/Film/p3?with=4", "/transactions",
                     "/transaction/6", "/health", "/model?at=999"]:
            page = self.go(path)
            expect(page.locator("h1")).to_be_visible()
            found = Axe().run(page)["violations"]
            self.assertEqual([(finding["id"], finding["nodes"][0]["html"]) for finding in found], [], path)
