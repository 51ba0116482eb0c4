"""What a person reads: long and invisible texts, versions, notes, large values of the past, erasures, consequences."""

import os
import re
import shutil

from playwright.sync_api import expect

from studio import CopyTest, Stage, strata

REASON = "because " * 5000
TEXT = "word " * 38


class ReadableTest(CopyTest):
    """Beside what the films have: long titles, a picture that was replaced, an erased film, a view, a long reason."""

    server_options = ["--write"]

    @classmethod
    def prepare(cls):
        shutil.copytree(Stage.shared().store, cls.store)
        second = os.path.join(cls.copies, "second.gif")
        with open(second, "wb") as file:
            file.write(b"GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\x00\x00\x00\x00\x00!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00"
                       b"\x01\x00\x01\x00\x00\x02\x02D\x01\x00;")
        strata("update", cls.store, "Film/p5", f"image=@{second}", "--author", "bob")  # 13
        strata("update", cls.store, "Film/p6", f"title={TEXT}", "--author", "bob", "--reason", REASON)  # 14
        strata("update", cls.store, "Film/p7", "title=\u200bhidden\ufeff", "--author", "bob")  # 15
        strata("update", cls.store, "Film/p8", "title=", "--author", "bob")  # 16
        strata("update", cls.store, "Film/p9", "title=   ", "--author", "bob")  # 17
        strata("update", cls.store, "Film/p10", f"title={TEXT * 3}", "--author", "bob")  # 18
        strata("update", cls.store, "Film/p10", "title=short", "--author", "bob")  # 19
        strata("views", "create", cls.store, "ByYear", "--of", "Film", "--key", "year", "--column", "films = count")  # 20
        strata("erase", cls.store, "Film/p11", "--reason", "asked for it", "--author", "dpo")  # 21, 22

    def test_a_long_text_does_not_make_a_row_tall(self):
        page = self.go("/objects/Film?columns=title,year,rating,studio&where=title+BEGINSWITH+'word'")
        row = page.get_by_role("row").nth(1)
        page.set_viewport_size({"width": 400, "height": 800})
        self.assertLess(row.bounding_box()["height"], 110)
        # A table of few columns shows it whole on a wide window.
        page.set_viewport_size({"width": 1200, "height": 800})
        text = row.locator("bdi.text")
        self.assertLessEqual(*text.evaluate("text => [text.scrollHeight, text.clientHeight + 1]"))

    def test_a_long_reason_keeps_the_page_short(self):
        for path in ["/transactions", "/object/Film/p6", "/objects/Film?at=14"]:
            with self.subTest(path=path):
                page = self.go(path)
                self.assertLess(page.locator("strata-timeline").bounding_box()["height"], 220)
                self.assertLess(max(page.get_by_role("row").evaluate_all("rows => rows.map((row) => row.offsetHeight)")), 300)
        self.assertIn(REASON.strip(), self.go("/transaction/14").locator("dl.facts").inner_text())

    def test_invisible_texts_are_seen(self):
        page = self.go("/object/Film/p7")
        expect(page.locator("#value-title td").first).to_contain_text("\\u{200b}hidden\\u{feff}")
        expect(self.go("/object/Film/p8").locator("#value-title td").first).to_contain_text("empty")
        expect(self.go("/object/Film/p9").locator("#value-title td").first).to_contain_text("only spaces")

    def test_large_values_of_the_past_can_be_seen(self):
        page = self.go("/object/Film/p5")
        change = page.locator("article.change").filter(has_text="t13")
        expect(change).not_to_contain_text("<")
        before, after = change.locator("del a"), change.locator("ins a")
        self.assertEqual(self.kind(before), "image/png")
        self.assertEqual(self.kind(after), "image/gif")
        inserted = page.locator("article.change").filter(has_text="inserted").locator("ins a").last
        self.assertEqual(self.kind(inserted), "image/png")
        was = self.go("/object/Film/p5").locator("#value-image .before a")
        self.assertEqual(self.kind(was), "image/png")

    def test_a_long_text_of_the_past_can_be_read_whole(self):
        page = self.go("/object/Film/p10")
        whole = page.locator("article.change").filter(has_text="t19").locator("del a.more")
        answer = page.request.get(page.url.split("/Films")[0] + whole.get_attribute("href"))
        self.assertEqual(answer.text(), TEXT * 3)

    def kind(self, link):
        answer = self.page.request.get(self.server.origin + link.get_attribute("href"))
        return answer.headers["content-type"]

    def test_pictures_of_both_moments_are_compared(self):
        page = self.go("/object/Film/p5?with=9")
        expect(page.locator("#value-image img")).to_have_count(2)

    def test_versions_say_what_changed(self):
        page = self.go("/model")
        for summary in page.locator("summary").all():
            if "Version 1" in summary.inner_text():
                summary.click()
        expect(page.get_by_text("The view ByYear is new.")).to_be_visible()
        expect(page.get_by_text("the first", exact=True)).to_have_count(1)

    def test_transactions_without_objects_say_what_they_did(self):
        page = self.go("/transactions")
        for name, note in [("t7", "tag first cut"), ("t20", "model version 2"), ("t22", "erased Film/p11")]:
            row = page.get_by_role("row", name=re.compile(f"^{name} "))
            expect(row).to_contain_text(note)
        page = self.go("/transaction/20")
        expect(page.locator(".events .kind")).to_have_text("model")

    def test_health_of_a_past_moment_says_that_it_is_of_now(self):
        expect(self.go("/health?at=5").locator("#present")).to_be_visible()
        expect(self.go("/health").locator("#present")).to_have_count(0)

    def test_erased_values_are_not_taken_for_nil(self):
        page = self.go("/object/Film/p11?at=12")
        expect(page.locator("#erased")).to_contain_text("t22 dpo “asked for it”")
        expect(self.go("/object/Film/p12?at=12").locator("#erased")).to_have_count(0)

    def test_what_is_lost_is_read_first(self):
        page = self.go("/object/Genre/p2")
        page.click("#delete")
        expect(page.locator("#consequences > li").first).to_contain_text("deleted Genre/p2")
        expect(page.locator("#save")).to_have_text("Save: 1 Genre deleted, 1 Film updated")

    def test_the_fields_give_examples_of_the_entity(self):
        page = self.go("/objects/Genre")
        expect(page.locator("#where")).to_have_attribute("placeholder", 'label CONTAINS[cd] "al"')
        page = self.go("/objects/Film")
        expect(page.locator("#where")).to_have_attribute("placeholder", 'rating > 4 AND title CONTAINS[cd] "al"')
        expect(page.locator("#sort")).to_have_attribute("placeholder", "-rating, title")

    def test_a_long_tag_keeps_the_timeline_low(self):
        tag = "t" * 250
        strata("tag", self.store, tag)
        page = self.go(f"/objects/Genre?at={tag}")
        expect(page.locator("#moment .tag")).to_be_visible()
        self.assertLess(page.locator("strata-timeline").bounding_box()["height"], 220)

    def test_a_mistake_leaves_the_other_fields_beside_each_other(self):
        page = self.go("/transactions?since=yesteryear")
        self.assertLess(page.locator("#problem").bounding_box()["y"], page.locator("label[for=until]").bounding_box()["y"])

    def test_words_in_the_filter_are_looked_for(self):
        page = self.go("/objects/Film")
        page.fill("#where", "stalk")
        page.keyboard.press("Enter")
        page.get_by_role("link", name="Find the objects with “stalk” in a text").click()
        expect(page.get_by_role("row")).to_have_count(2)
        expect(page.get_by_role("row").nth(1)).to_contain_text("Stalker")
        page.fill("#where", "stalk >")
        page.keyboard.press("Enter")
        expect(page.locator("#problem")).to_be_visible()
        expect(page.locator("#suggestion")).to_have_count(0)
