"""Everything can be reached and used with the keyboard alone, and it is seen what has the focus."""

from playwright.sync_api import expect

import clicks_test
from studio import CopyTest, StudioTest

# What can have the focus and is shown, each with a number.
NUMBER = """() => {
    const can = 'a[href], button:not(:disabled), input:not(:disabled), textarea, summary, [tabindex="0"]';
    let count = 0;
    for (const element of document.querySelectorAll(can)) {
        if (!element.checkVisibility({ visibilityProperty: true }) || element.matches('.skip')) continue;
        element.dataset.number = count++;
    }
    return count;
}"""
# The number of what has the focus, and what is wrong with how it is seen.
SEEN = """() => {
    const element = document.activeElement;
    if (!element || element === document.body) return null;
    const box = element.getBoundingClientRect(), style = getComputedStyle(element);
    const drawn = element.matches('svg a') ? getComputedStyle(element.querySelector('rect')) : null;
    const shows = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0 || drawn && drawn.strokeWidth === '2px';
    // A part of it is seen that is not covered: of a large one any part, of another one its middle.
    const within = (low, high, end) => [Math.max(low, 0), Math.min(high, end)];
    const [left, right] = within(box.left, box.right, innerWidth), [over, under] = within(box.top, box.bottom, innerHeight);
    const parts = box.height > 60 ? [0.02, 0.25, 0.5, 0.75, 0.98] : [0.5];
    const hit = (part) => document.elementFromPoint((left + Math.min(right, left + 20)) / 2, over + (under - over) * part);
    const isSeen = (part) => { const top = hit(part); return top && (element.contains(top) || top.contains(element) && top.closest('main, dialog, header')); };
    const covered = left >= right || over >= under || !parts.some(isSeen), top = hit(0.5);
    const name = element.outerHTML.slice(0, 100);
    return { number: element.dataset.number ?? null, problem: !shows ? `no focus is seen on ${name}`
        : covered ? `${name} is covered by ${top?.outerHTML.slice(0, 60)}` : null };
}"""


class Tabs:
    """Walks over a page with Tab."""

    def walk(self, page, key="Tab"):
        """The numbers of what Tab comes to from the beginning of the page, or from its end, and the problems."""
        count = page.evaluate(NUMBER)
        # The first or last thing on the page is where it begins.
        begin = "main [data-number], [data-number]" if key == "Shift+Tab" else ".skip"
        page.evaluate("([selector, isLast]) => { const all = document.querySelectorAll(selector); all[isLast ? all.length - 1 : 0].focus(); }",
                      [begin, key == "Shift+Tab"])
        first = page.evaluate(SEEN)["number"]
        found, problems = {int(first)} if first else set(), []
        for _ in range(count + 20):
            page.keyboard.press(key)
            seen = page.evaluate(SEEN)
            if not seen or seen["number"] == first:
                break
            if seen["number"] is not None:
                found.add(int(seen["number"]))
            if seen["problem"]:
                problems.append(seen["problem"])
        return set(range(count)) - found, problems

    def check(self, page):
        for key in ["Tab", "Shift+Tab"]:
            missing, problems = self.walk(page, key)
            names = page.evaluate("numbers => numbers.map((n) => document.querySelector(`[data-number='${n}']`)?.outerHTML.slice(0, 90))",
                                  sorted(missing))
            self.assertEqual((names, problems), ([], []), (page.url, key))


class KeyboardTest(StudioTest, Tabs):
    """On a wide window."""

    pages = ["/model", "/objects/Film", "/objects/Film?where=rating >&explain=1", "/object/Film/p3", "/object/Film/p3?with=5",
             "/transactions", "/transaction/6", "/transaction/10", "/health"]

    def test_tab_comes_to_everything_and_the_focus_is_seen(self):
        for path in self.pages:
            with self.subTest(path):
                self.check(self.go(path))

    def test_open_parts_of_a_table(self):
        page = self.go("/objects/Film")
        for part in page.locator("summary").all():
            part.focus()
            page.keyboard.press("Enter")
        page.locator("#facets button").first.wait_for()
        page.get_by_role("button", name="year").first.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".histogram li").first).to_be_visible()
        self.check(page)

    def test_the_parts_of_the_diagram_lead_to_objects(self):
        page = self.go("/model")
        expect(page.locator(".diagram svg")).to_be_visible()
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.matches('svg a')"):
                break
        name = page.evaluate("document.activeElement.getAttribute('aria-label')").split(",")[0]
        page.keyboard.press("Enter")
        self.heading(name)


class SmallKeyboardTest(KeyboardTest):
    """On a window like a phone's."""

    def options(self):
        return {"viewport": {"width": 375, "height": 667}}


class DialogKeyboardTest(CopyTest, Tabs):
    """Changes with the keyboard alone."""

    server_options = ["--write"]

    def press_until(self, page, selector, key="Tab"):
        for _ in range(200):
            page.keyboard.press(key)
            if page.evaluate("selector => document.activeElement?.matches(selector) ?? false", selector):
                return
        self.fail(f"{key} does not come to {selector}")

    def test_pages_that_offer_changes(self):
        for path in ["/object/Film/p3", "/object/Film/p3?at=6", "/transaction/6"]:
            self.check(self.go(path))

    def test_a_value_is_changed(self):
        page = self.go("/object/Film/p41")
        self.press_until(page, "[aria-label='Edit year']")
        page.keyboard.press("Enter")
        expect(page.locator("#edit-year")).to_be_focused()
        page.keyboard.press("Control+A")
        page.keyboard.type("1977")
        page.keyboard.press("Enter")
        expect(page.locator("dialog")).to_be_visible()
        self.press_until(page, "#author")
        page.keyboard.type("ann")
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_contain_text("Transaction")
        expect(page.locator("#page .events")).to_contain_text("1977")

    def test_the_focus_stays_in_a_dialog_and_returns(self):
        page = self.go("/object/Film/p42")
        self.press_until(page, "#delete")
        page.keyboard.press("Enter")
        expect(page.locator("dialog")).to_be_visible()
        for _ in range(12):
            page.keyboard.press("Tab")
            inside = page.evaluate("document.activeElement === document.body || !!document.activeElement.closest('dialog')")
            self.assertTrue(inside)
        page.keyboard.press("Escape")
        expect(page.locator("dialog")).to_have_count(0)
        expect(page.locator("#delete")).to_be_focused()


class KeyedQuestionsTest(clicks_test.ClicksTest):
    """The three questions of a person, answered with keys: each click is a walk with Tab and an Enter."""

    def click(self, locator):
        self.clicks += 1
        expect(locator).to_be_visible()
        for _ in range(200):
            self.page.keyboard.press("Tab")
            if locator.evaluate("element => element === document.activeElement"):
                break
        else:
            self.fail(f"Tab does not come to {locator}")
        self.page.keyboard.press("Enter")
        expect(self.page.locator("[aria-busy]")).to_have_count(0)

    def test_what_did_the_store_look_like_last_tuesday(self):
        page = self.page
        self.clicks += 2
        page.locator("#day").focus()
        page.keyboard.type("03142023")
        expect(page.locator("#day")).to_have_value("2023-03-14")
        expect(page.locator("#moment")).to_contain_text("Before the first transaction")
        self.assertIn("2023-03-14", self.query["at"])
        self.click(page.locator("#entity-Film"))
        expect(page.locator("#counts")).to_contain_text("There are no objects")
