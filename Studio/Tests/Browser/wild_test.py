"""Authors, reasons, tags, names and numbers that try to widen a page or to change what is beside them."""

import re

from playwright.sync_api import expect

from studio import CopyTest, strata, write_model

AUTHOR = "\u202eeve\u2066" + "a" * 300
MODEL = """<entity name="health" syncable="YES">
    <attribute name="__proto__" optional="YES" attributeType="String"/>
    <attribute name="constructor" optional="YES" attributeType="String"/>
    <attribute name="amount" optional="YES" attributeType="Decimal"/></entity>
    <entity name="__proto__" syncable="YES"><attribute name="name" optional="YES" attributeType="String"/></entity>"""
AMOUNT = "1234567890123456789012345678901234567.8"


class WildTest(CopyTest):
    """Transaction 2 makes health/p1, 3 is a tag, 4 makes __proto__/p2."""

    server_options = ["--write"]

    @classmethod
    def prepare(cls):
        strata("create", cls.store, "--model", write_model(cls.copies, "Wild", MODEL))
        strata("insert", cls.store, "health", "__proto__=a\u202eb", "constructor=c", f"amount={AMOUNT}",
               "--author", AUTHOR, "--reason", "<b>why</b> \u202e\u0007")
        strata("tag", cls.store, "t\u202eag" + "b" * 200)
        strata("insert", cls.store, "__proto__", "name=..", "--author", "__proto__")

    PAGES = ["/model", "/objects/health", "/objects/__proto__", "/object/health/p1", "/transactions", "/transaction/2",
             "/health", "/model?at=3", "/model?at=\u202enone"]

    def test_nothing_widens_a_page_or_turns_its_text_around(self):
        for width in [320, 1200]:
            self.page.set_viewport_size({"width": width, "height": 700})
            for path in self.PAGES:
                page = self.go(path)
                expect(page.locator("h1")).to_be_visible()
                self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width, path)
                texts = page.evaluate("""() => [document.body.innerText, document.title,
                    ...[...document.querySelectorAll('*')].flatMap((element) => [element.title ?? '', element.ariaLabel ?? '',
                        element.ariaValueText ?? ''])].join(' ')""")
                self.assertIsNone(re.search("[\u202a-\u202e\u2066-\u2069\u0000-\u0008\u000e-\u001f]", texts), path)
                self.assertIsNone(page.evaluate("window.broken ?? null"))

    def test_what_is_escaped_is_still_found(self):
        page = self.go("/transactions")
        expect(page.locator("tbody tr", has_text="<b>why</b>")).to_contain_text("\\u{202e}eve")
        page.locator("ul.authors a", has_text="eve").click()
        expect(page.locator("tbody tr")).to_have_count(1)

    def test_names_of_a_language_are_only_names(self):
        page = self.go("/object/health/p1")
        expect(page.locator("#value-__proto__")).to_contain_text("a\\u{202e}b")
        page.get_by_role("button", name="Edit __proto__").click()
        page.fill("#edit-__proto__", "changed")
        page.get_by_role("button", name="Look").click()
        expect(page.locator("#consequences ins")).to_have_text("changed")
        page.click("#save")
        expect(page.locator("#page .events")).to_contain_text("changed")
        page = self.go("/objects/__proto__")
        expect(page.locator("#counts")).to_contain_text("1 object")
