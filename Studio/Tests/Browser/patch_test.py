"""A step in time changes what differs, and leaves the rest of the page where it is."""

from playwright.sync_api import expect

from studio import StudioTest


class PatchTest(StudioTest):
    def mark(self, selector):
        """Marks elements, so that a later look says whether they are the same."""
        self.page.evaluate("(selector) => { for (const element of document.querySelectorAll(selector)) element.isMarked = true; }",
                           selector)

    def marks(self, selector):
        return self.page.evaluate("(selector) => [...document.querySelectorAll(selector)].map((e) => e.isMarked === true)", selector)

    def step(self, key):
        self.page.keyboard.press(key)
        expect(self.page.locator("[aria-busy]")).to_have_count(0)

    def links(self, selector):
        return self.page.evaluate("(selector) => [...document.querySelectorAll(selector)].map((e) => e.getAttribute('href'))", selector)

    def test_changes_of_both_moments_stay_and_lead_to_the_moment(self):
        page = self.go("/object/Film/p3?at=6")
        self.mark("article.change")
        self.step("[")
        expect(page.locator("article.change")).to_have_count(2)
        self.assertEqual(self.marks("article.change"), [True, True])
        self.assertEqual(self.links("article.change h3 > a:first-child"), ["/Films/transaction/5?at=5", "/Films/transaction/4?at=5"])
        self.step("]")
        expect(page.locator("article.change")).to_have_count(3)
        self.assertEqual(self.marks("article.change"), [False, True, True])
        self.assertEqual(self.links("article.change h3 > a:first-child"),
                         [f"/Films/transaction/{number}?at=6" for number in (6, 5, 4)])
        expect(page.locator("#value-rating td").first).to_have_text("9")

    def test_values_change_in_their_places(self):
        page = self.go("/object/Film/p3?at=6")
        self.mark("#value-rating td")
        self.step("[")
        expect(page.locator("#value-rating td").first).to_have_text("8.1")
        self.assertTrue(all(self.marks("#value-rating td")))

    def test_rows_of_both_moments_stay(self):
        page = self.go("/objects/Film?at=9")
        self.mark("tbody tr")
        self.step("[")
        expect(page.locator("tbody tr")).to_have_count(2)
        self.assertEqual(self.marks("tbody tr"), [True, True])
        self.assertEqual(self.links("tbody th a"), ["/Films/object/Film/p3?at=8", "/Films/object/Film/p4?at=8"])
        self.step("]")
        self.assertEqual(self.marks("tbody tr"), [True, True, False])

    def test_a_focused_link_keeps_the_focus(self):
        page = self.go("/object/Film/p3?at=6")
        link = page.locator("article.change", has_text="inserted").locator("a").first
        link.focus()
        self.step("[")
        expect(link).to_be_focused()
        self.step("]")
        expect(link).to_be_focused()

    def test_a_selection_of_text_outlives_a_step(self):
        page = self.go("/object/Film/p3?at=6")
        page.evaluate("""() => {
            const range = document.createRange();
            range.selectNodeContents([...document.querySelectorAll('article.change')].at(-1).querySelector('.kind'));
            getSelection().removeAllRanges();
            getSelection().addRange(range);
        }""")
        self.step("[")
        self.assertEqual(page.evaluate("getSelection().toString()"), "inserted")

    def test_the_diagram_is_there_while_it_is_asked_for(self):
        page = self.go("/model?at=9")
        expect(page.locator(".diagram svg")).to_be_visible()
        page.evaluate("""() => {
            window.missed = 0;
            const diagram = document.querySelector('.diagram');
            new MutationObserver(() => { if (!document.querySelector('.diagram svg')) window.missed += 1; })
                .observe(document.getElementById('page'), { childList: true, subtree: true });
        }""")
        with page.expect_response(lambda answer: "model.svg" in answer.url):
            self.step("[")
        expect(page.locator(".diagram a").first).to_have_attribute("href", "/Films/objects/Film?at=8")
        self.assertEqual(page.evaluate("window.missed"), 0)

    def test_a_whole_value_of_a_table_is_that_of_the_moment(self):
        self.go("/objects/Film?at=9&columns=image")
        self.assertEqual(self.links("tbody a:not(.object)"), ["/Films/value/Film/p5/image?at=9"])


class FirstPageTest(StudioTest):
    def test_what_a_page_needs_is_asked_for_once_and_before_the_program_runs(self):
        asked = []
        self.page.on("request", lambda request: asked.append(request.url.removeprefix(self.server.origin)))
        # A page follows the store once it knows that no other page of the browser does.
        with self.page.expect_request("**/live"):
            page = self.go("/model")
        expect(page.locator(".diagram svg")).to_be_visible()
        data = [path for path in asked if not path.startswith("/-/") and path != "/Films/model"]
        self.assertEqual(sorted(set(data)), ["/Films/live", "/Films/model.svg", "/Films/timeline"])
        self.assertEqual(len(data), 3, asked)
        # The document and its data are the same address.
        self.assertEqual(asked.count("/Films/model"), 2)
        started = page.evaluate("""() => Object.fromEntries(performance.getEntriesByType('resource')
            .map((entry) => [new URL(entry.name).pathname.split('/').at(-1), entry.startTime]))""")
        loaded = page.evaluate("performance.getEntriesByType('resource').filter((e) => e.name.endsWith('/studio.js'))[0].responseEnd")
        self.assertTrue(all(start <= loaded for name, start in started.items() if name.endswith(".js")), started)

    def test_the_files_of_the_program_are_kept_by_the_browser(self):
        page = self.go("/model")
        page.goto(self.server.origin + "/Films/transactions")
        expect(page.locator("h1")).to_be_visible()
        again = page.evaluate("""() => performance.getEntriesByType('resource')
            .filter((entry) => entry.name.endsWith('.js')).map((entry) => entry.transferSize)""")
        self.assertGreater(len(again), 10)
        self.assertEqual(sum(again), 0, again)
