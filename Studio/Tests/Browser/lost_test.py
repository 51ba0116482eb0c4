"""A server that ends, comes back, or does not know the browser any more, and answers that do not arrive."""

import hashlib
import json
import os
import signal
import subprocess

from axe_core_python.sync_playwright import Axe
from playwright.sync_api import expect

from studio import STUDIO, CopyTest, Server, strata

LOST = ["Failed to load resource", "net::ERR"]


class DamagedTest(CopyTest):
    """A signal as a file raises it that is cut short while it is shown."""

    def test_damage_that_ends_studio_is_named(self):
        self.go("/model")
        before = os.path.getsize(self.store + "/data.mdb")
        server = subprocess.Popen([STUDIO, self.store], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        server.stdout.readline()
        server.send_signal(signal.SIGBUS)
        self.assertEqual(server.wait(20), 1)
        self.assertIn(f"The store at {self.store} is damaged", server.stderr.read())
        server.stdout.close()
        server.stderr.close()
        self.assertEqual(os.path.getsize(self.store + "/data.mdb"), before)


class ReadingTest(CopyTest):
    """A store that is looked at."""

    def digests(self):
        """Of all files but LMDB's table of readers, which is no part of the data."""
        files = [name for name in sorted(os.listdir(self.store)) if name != "lock.mdb"]
        self.assertIn("data.mdb", files)
        return {name: hashlib.sha256(open(os.path.join(self.store, name), "rb").read()).hexdigest() for name in files}

    def test_looking_changes_no_byte(self):
        before = self.digests()
        for path in ["/model", "/model?at=3", "/objects/Film", "/objects/Film?sort=-year&at=5", "/object/Film/p1",
                     "/object/Film/p1?at=4", "/transactions", "/transaction/2", "/health"]:
            self.go(path)
            expect(self.page.locator("#page[aria-busy]")).to_have_count(0)
        self.assertEqual(self.digests(), before)


class LostTest(CopyTest):
    """A server that may write, and that ends in some tests."""

    server_options = ["--write"]

    def setUp(self):
        # Another test may have ended the server.
        if self.server.process.poll() is not None:
            self.server.process.stdout.close()
            type(self).server = Server(self.store, options=self.server_options)
            type(self).state = self.stage.enter(self.server)
        super().setUp()

    def tearDown(self):
        # The browser itself reports each request without an answer.
        self.errors = [error for error in self.errors if not any(text in error for text in LOST)]
        super().tearDown()

    def end(self):
        self.server.process.terminate()
        self.server.process.wait(20)

    def begin_again(self):
        """Another Studio on the same port, and the browser enters it."""
        port = self.server.origin.rsplit(":", 1)[1]
        self.server.process.stdout.close()
        type(self).server = Server(self.store, options=[*self.server_options, "--port", port])
        entry = self.context.new_page()
        entry.goto(self.server.address)
        entry.close()
        type(self).state = self.context.storage_state()

    def check(self):
        """What is there now is accessible, and no wider than the window."""
        found = Axe().run(self.page)["violations"]
        self.assertEqual([(finding["id"], finding["nodes"][0]["html"]) for finding in found], [])
        self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"), self.page.viewport_size["width"])

    def edit(self, name, text):
        self.page.get_by_role("button", name=f"Edit {name}").click()
        self.page.fill(f"#edit-{name}", text)

    # The server ends

    def test_a_page_says_that_it_shows_nothing_new(self):
        page = self.go("/object/Film/p3")
        expect(page.locator("#lost")).to_be_hidden()
        self.end()
        expect(page.locator("#lost")).to_contain_text("shows nothing new")
        expect(page.locator("#moment")).not_to_contain_text("following", use_inner_text=True)
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        expect(page.locator("#lost")).to_be_in_viewport()
        for width, scheme in [(320, "dark"), (1200, "light")]:
            page.set_viewport_size({"width": width, "height": 700})
            page.emulate_media(color_scheme=scheme)
            self.check()
        expect(page.locator("#value-title")).to_contain_text("Stalker")
        self.begin_again()
        strata("update", self.store, "Film/p3", "rating=2")
        page.bring_to_front()
        expect(page.locator("#lost")).to_be_hidden(timeout=20_000)
        expect(page.locator("#value-rating td").first).to_contain_text("2")

    def test_what_was_begun_outlives_the_server(self):
        page = self.go("/object/Film/p3")
        self.edit("title", "my long careful text")
        self.end()
        page.click("#previous")
        expect(page.locator("#lost")).to_be_visible()
        expect(page.locator("#edit-title")).to_have_value("my long careful text")
        self.begin_again()
        page.click("#newest")
        expect(page.locator("#lost")).to_be_hidden()
        expect(page.locator("#edit-title")).to_have_value("my long careful text")

    def test_what_was_begun_outlives_a_look_at_the_past(self):
        page = self.go("/object/Film/p3")
        self.edit("title", "my long careful text")
        page.click("#previous")
        expect(page.locator("#edit-title")).to_have_count(0)
        page.click("#previous")
        page.click("#newest")
        expect(page.locator("#edit-title")).to_have_value("my long careful text")
        page.click("#previous")
        expect(page.locator("#edit-title")).to_have_count(0)
        # Elsewhere it has ended.
        page.click("nav#sections a >> text=Health")
        self.heading("Health")
        self.go("/object/Film/p3")
        expect(page.get_by_role("button", name="Edit title")).to_be_visible()

    def test_a_page_that_does_not_come_is_asked_for_again(self):
        page = self.go("/model")
        # The feed comes back later than the person asks; otherwise the page asks by itself.
        page.route("**/live", lambda route: None)
        self.end()
        page.click("nav#sections a >> text=Health")
        self.heading("Studio does not answer")
        self.check()
        self.begin_again()
        page.click("#again")
        self.heading("Health")
        expect(page.locator("#lost")).to_be_hidden()

    def test_every_part_of_a_page_says_that_nothing_came(self):
        page = self.go("/objects/Film")
        page.click("#facets summary")
        self.end()
        page.locator("#facets").get_by_role("button", name="year").click()
        expect(page.locator("#facets .problem")).to_contain_text("Studio does not answer")

    def test_a_field_does_not_open_without_its_value(self):
        page = self.go("/object/Film/p3")
        page.route("**/value/**", lambda route: route.fulfill(
            status=503, content_type="application/json", body='{"error": {"message": "Too many requests are running."}}'))
        page.get_by_role("button", name="Edit title").click()
        expect(page.locator("[data-kept=edit-title] .problem")).to_contain_text("Too many requests")
        expect(page.locator("#edit-title")).to_have_count(0)
        page.unroute("**/value/**")
        page.get_by_role("button", name="Edit title").click()
        expect(page.locator("#edit-title")).to_have_value("Stalker")
        self.end()
        page.get_by_role("button", name="Edit rating").click()
        expect(page.locator("[data-kept=edit-rating] .problem")).to_contain_text("cannot be read")

    # The session

    def test_two_studios_do_not_take_each_others_session(self):
        other = Server(self.store)
        try:
            entry = self.context.new_page()
            entry.goto(other.address)
            expect(entry.locator("h1")).to_have_text("Model")
            self.go("/object/Film/p3")
            self.heading("Film/p3 (Stalker)")
        finally:
            other.close()

    def test_a_lost_session_keeps_what_was_typed(self):
        page = self.go("/object/Film/p3")
        self.edit("title", "typed")
        self.context.clear_cookies()
        page.get_by_role("button", name="Look").click()
        expect(page.locator("#refusal")).to_contain_text("Open the address that strata-studio printed")
        page.keyboard.press("Escape")
        expect(page.locator("#edit-title")).to_have_value("typed")

    # Saving

    def transactions(self):
        return json.loads(strata("inspect", self.store, "--json"))["log"]["transactions"]

    def test_a_save_without_an_answer_is_saved_once(self):
        page = self.go("/object/Film/p50")
        page.click("#delete")
        expect(page.locator("#save")).to_be_enabled()
        before = self.transactions()

        def lose(route):
            route.fetch()
            route.abort()
        page.route("**/save", lose)
        page.click("#save")
        expect(page.locator("#refusal")).to_contain_text("not known whether this was saved")
        page.unroute("**/save")
        page.click("#save")
        expect(page.locator("#page .events li.deleted")).to_be_visible()
        self.assertEqual(self.transactions(), before + 1)

    def test_a_save_that_did_not_arrive_is_sent_again(self):
        page = self.go("/object/Film/p51")
        page.click("#delete")
        page.route("**/save", lambda route: route.abort())
        page.click("#save")
        expect(page.locator("#refusal")).to_contain_text("not known whether this was saved")
        page.unroute("**/save")
        page.click("#save")
        expect(page.locator("#page .events li.deleted")).to_be_visible()

    def test_an_overtaken_change_is_looked_at_again_with_what_was_typed(self):
        page = self.go("/object/Film/p52")
        self.edit("year", "1990")
        page.get_by_role("button", name="Look").click()
        expect(page.locator("#save")).to_be_enabled()
        page.fill("#reason", "as the poster says")
        strata("update", self.store, "Film/p52", "year=1991", "--author", "bob")
        page.click("#save")
        expect(page.locator("#look-again")).to_be_visible()
        self.check()
        page.click("#look-again")
        expect(page.locator("#consequences del")).to_have_text("1991")
        expect(page.locator("#reason")).to_have_value("as the poster says")
        page.click("#save")
        expect(page.locator("dl.facts")).to_contain_text("as the poster says")
        self.assertIn("1990", strata("show", self.store, "Film/p52"))
