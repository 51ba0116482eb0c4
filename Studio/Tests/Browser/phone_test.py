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
            region = page.get_by_role("region", name="Values")
            self.assertLessEqual(region.evaluate("region => region.scrollWidth - region.clientWidth"), 0, width)
            row = page.get_by_role("row", name="rating")
            expect(row.get_by_role("cell")).to_have_count(3)
            for part in [row.get_by_text("bob"), row.locator(".before"), row.locator("time")]:
                box = part.bounding_box()
                self.assertLessEqual(box["x"] + box["width"], width)

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
