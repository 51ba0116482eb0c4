"""Mistakes in an address or a field: the page says what is wrong, and keeps what was typed and shown."""

from playwright.sync_api import expect

from studio import StudioTest


class MistakeTest(StudioTest):
    def test_a_part_of_the_address_without_a_field_is_named(self):
        for part, message in [("offset=-5", "offset is a number"), ("limit=-1", "limit is a number"),
                              ("limit=1000000", "limit is a number"), ("offset=9999999999999999999999", "offset is a number")]:
            with self.subTest(part=part):
                page = self.go(f"/objects/Film?{part}")
                expect(page.get_by_role("alert").filter(has_text=message)).to_be_visible()

    def test_an_entity_that_is_not_there_is_named(self):
        page = self.go("/objects/Flim")
        expect(page.get_by_role("alert").filter(has_text="The store has no entity 'Flim'")).to_be_visible()
        expect(page.locator("form.filter")).to_have_count(0)
        page.get_by_role("link", name="See the model").click()
        self.heading("Model")

    def test_an_address_that_is_cut_leads_on(self):
        for path in ["/objects", "/objects/", "/object/Film", "/nothing"]:
            with self.subTest(path=path):
                page = self.go(path)
                expect(page.get_by_role("alert").filter(has_text="There is no such page.")).to_be_visible()
                expect(page.locator("form.filter")).to_have_count(0)
                page.get_by_role("link", name="See the model").click()
                self.heading("Model")

    def test_a_wrong_filter_of_transactions_keeps_the_form(self):
        for field, text, message in [("since", "yesteryear", "is not a moment"), ("until", "t999", "no transaction 999"),
                                     ("entity", "Flim", "has no entity")]:
            with self.subTest(field=field):
                page = self.go("/transactions?author=ann")
                page.fill(f"#{field}", text)
                page.keyboard.press("Enter")
                expect(page.locator(f"#{field}[aria-invalid=true]")).to_have_value(text)
                expect(page.locator("#problem")).to_contain_text(message)
                expect(page.locator("#author")).to_have_value("ann")
                page.fill(f"#{field}", "")
                page.keyboard.press("Enter")
                expect(page.get_by_role("row").nth(1)).to_be_visible()
                expect(page.locator("#problem")).to_have_count(0)

    def test_a_wrong_moment_to_compare_with_keeps_the_object(self):
        page = self.go("/object/Film/p3")
        page.fill("#with", "yesteryear")
        page.keyboard.press("Enter")
        expect(page.locator("#with[aria-invalid=true]")).to_have_value("yesteryear")
        expect(page.locator("#problem")).to_contain_text("is not a moment")
        expect(page.locator("#value-title")).to_contain_text("Stalker")
        page.fill("#with", "4")
        page.keyboard.press("Enter")
        expect(page.get_by_role("columnheader", name="at transaction 4")).to_be_visible()
        expect(page.locator("#problem")).to_have_count(0)

    def test_a_wrong_moment_keeps_the_page(self):
        page = self.go("/object/Film/p3?at=5")
        for text, message in [("last week", "is not a moment"), ("999", "no transaction 999"), ("0", "The first transaction is 1")]:
            page.fill("#at", text)
            page.press("#at", "Enter")
            expect(page.locator("#at-problem")).to_contain_text(message)
            expect(page.locator("#at")).to_have_value(text)
            self.heading("Film/p3 (Stalker)")
            self.assertEqual(self.query, {"at": "5"})
        page.fill("#at", "first cut")
        page.press("#at", "Enter")
        expect(page.locator("#moment")).to_contain_text("Transaction 6")
        expect(page.locator("#at-problem")).to_be_empty()
        page.fill("#at", "")
        page.press("#at", "Enter")
        expect(page.locator("#moment")).to_contain_text("newest, following")
