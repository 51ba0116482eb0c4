"""The same pages on a phone, in the dark; of the tests for a wide window only those whose outcome may differ there."""

from playwright.sync_api import expect

from harm_test import HarmTest
from moments_test import MomentsTest
from pages_test import PagesTest
from studio import StudioTest

PAGES = ["/model", "/objects/Film", "/object/Film/p4", "/transactions", "/transaction/8", "/health"]


class PhoneTest(StudioTest):
    """Small and dark."""

    def options(self):
        return {"viewport": {"width": 390, "height": 800}, "color_scheme": "dark"}

    def check_in_sight(self, width, region, *parts):
        """A region does not scroll to the side, and the parts end within the window."""
        shown = self.page.get_by_role("region", name=region)
        self.assertLessEqual(shown.evaluate("region => region.scrollWidth - region.clientWidth"), 0, width)
        for part in parts:
            box = part.bounding_box()
            self.assertLessEqual(box["x"] + box["width"], width)

    def test_no_page_is_wider_than_the_window(self):
        for path in PAGES:
            page = self.go(path)
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 390, path)

    def test_what_is_typed_and_what_is_read_has_room(self):
        page = self.go("/objects/Film?columns=title, year, rating, studio, genres.@count")
        for width in [320, 390]:
            page.set_viewport_size({"width": width, "height": 800})
            self.assertGreaterEqual(page.locator("#at").bounding_box()["width"], 120, width)
            # A name is not broken into parts of a few letters.
            link = page.locator("td a.object", has_text="Mosfilm")
            self.assertGreaterEqual(link.locator("..").bounding_box()["width"], 120, width)
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)

    def test_who_set_a_value_and_when_needs_no_sideways_scrolling(self):
        for width in [320, 390]:
            self.page.set_viewport_size({"width": width, "height": 800})
            page = self.go("/object/Film/p3")
            row = page.get_by_role("row", name="rating")
            expect(row.get_by_role("cell")).to_have_count(3)
            self.check_in_sight(width, "Values", row.get_by_text("bob"), row.locator(".before"), row.locator("time"))

    def test_what_a_transaction_did_needs_no_sideways_scrolling(self):
        for width in [320, 390]:
            self.page.set_viewport_size({"width": width, "height": 800})
            page = self.go("/transactions?author=bob")
            row = page.get_by_role("row", name="t6")
            self.check_in_sight(width, "Transactions", row.locator("time"), row.get_by_text("bob"), row.get_by_text("seen again"),
                                row.get_by_role("link", name="Film"))
            self.assertLess(row.bounding_box()["height"], 150, width)

    def test_a_column_of_numbers_is_narrow(self):
        page = self.go("/objects/Film?columns=year, rating, title")
        for head in ["year", "rating"]:
            self.assertLess(page.get_by_role("columnheader", name=head).bounding_box()["width"], 110, head)

    def test_two_moments_side_by_side_say_which_is_which(self):
        page = self.go("/object/Film/p3?with=5")
        heads = page.locator("#value-rating td").evaluate_all(
            "cells => cells.slice(0, 2).map((cell) => getComputedStyle(cell, '::before').content)")
        self.assertEqual(heads, ['"value: "', '"at transaction 5: "'])

    def test_a_filter_leaves_room_for_what_it_finds(self):
        for path in ["/transactions", "/objects/Film"]:
            for width in [320, 390]:
                self.page.set_viewport_size({"width": width, "height": 800})
                page = self.go(path)
                self.assertLess(page.locator("tbody tr").first.bounding_box()["y"], 740, (path, width))
                for field in page.locator("form.filter input").all():
                    self.assertGreaterEqual(field.bounding_box()["width"], 120, (path, width))

    def test_sizes_are_not_broken_into_lines(self):
        page = self.go("/health")
        for name in ["Files", "Tables", "Indexes"]:
            cells = page.get_by_role("region", name=name).locator("tbody tr:first-child td:has(.number)")
            for cell in cells.all():
                self.assertLess(cell.locator(".number").bounding_box()["height"], 30, name)
        files = page.get_by_role("region", name="Files")
        expect(files.locator("tbody th").first).to_have_text("data.mdb")
        # The size of a file is seen without scrolling to the side.
        box = files.locator("tbody td").first.bounding_box()
        self.assertLessEqual(box["x"] + box["width"], 390)

    def test_a_long_mistake_does_not_widen_the_page(self):
        page = self.go("/objects/Film?where=" + 7000 * "a")
        expect(page.locator("#problem")).to_be_visible()
        self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 390)

    def test_the_dark_is_dark(self):
        page = self.go("/model")
        self.assertEqual(page.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(22, 24, 26)")

    test_dragging_moves_the_page = MomentsTest.test_dragging_moves_the_page
    test_a_mistake_is_shown_under_its_place = PagesTest.test_a_mistake_is_shown_under_its_place
    test_names_are_completed_while_typing = PagesTest.test_names_are_completed_while_typing
    test_hostile_values_are_only_text = HarmTest.test_hostile_values_are_only_text
    test_the_accessibility_check_finds_nothing = HarmTest.test_the_accessibility_check_finds_nothing


# They run once, as tests of their own modules.
del HarmTest, MomentsTest, PagesTest, StudioTest
