"""Tests of Strata Studio in a real browser: `make studio-test`.

Needs the packages `playwright` and `axe-core-python` from PyPI, and Chromium; STUDIO_CHROMIUM names it (/usr/bin/chromium by default).
STUDIO_PROGRAM and STRATA_PROGRAM name the built programs, STUDIO_STORE a store of the story BowTies. With
STUDIO_SCREENSHOTS, a folder, pictures of six pages are made there instead.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request

from axe_core_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

CHROMIUM = os.environ.get("STUDIO_CHROMIUM", "/usr/bin/chromium")
STUDIO = os.environ["STUDIO_PROGRAM"]
STRATA = os.environ["STRATA_PROGRAM"]

MODEL = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="1" systemVersion="1"
    minimumToolsVersion="Automatic" sourceLanguage="Swift" userDefinedModelVersionIdentifier="">
    <entity name="Film" representedClassName="Film" syncable="YES">
        <attribute name="image" optional="YES" attributeType="Binary"/>
        <attribute name="rating" optional="YES" attributeType="Double" usesScalarValueType="YES"/>
        <attribute name="title" optional="YES" attributeType="String"/>
        <attribute name="year" optional="YES" attributeType="Integer 64" usesScalarValueType="YES"/>
        <relationship name="genres" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Genre"
            inverseName="films" inverseEntity="Genre"/>
        <relationship name="studio" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Studio"
            inverseName="films" inverseEntity="Studio"/>
    </entity>
    <entity name="Genre" representedClassName="Genre" syncable="YES">
        <attribute name="label" optional="YES" attributeType="String"/>
        <relationship name="films" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Film"
            inverseName="genres" inverseEntity="Film"/>
    </entity>
    <entity name="Studio" representedClassName="Studio" syncable="YES">
        <attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="films" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Film"
            inverseName="studio" inverseEntity="Film"/>
        <uniquenessConstraints><uniquenessConstraint><constraint value="name"/></uniquenessConstraint></uniquenessConstraints>
    </entity>
</model>
"""

HOSTILE = "<script>window.broken = 1</script><img src=x onerror='window.broken = 1'> \u202edlrow"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360606060000000050001a5f6"
    "45400000000049454e44ae426082")


def strata(*arguments):
    return subprocess.run([STRATA, *arguments], check=True, capture_output=True, text=True).stdout


def make_store(folder):
    """A store with films, whose history each test knows: transactions 1 (model) to 66."""
    model = os.path.join(folder, "Films.xcdatamodel")
    os.mkdir(model)
    with open(os.path.join(model, "contents"), "w", encoding="utf-8") as file:
        file.write(MODEL)
    store = os.path.join(folder, "Films.strata")
    strata("create", store, "--model", model)
    strata("insert", store, "Studio", "name=Mosfilm", "--author", "ann")  # 2: p1
    strata("insert", store, "Genre", "label=drama", "--author", "ann")  # 3: p2
    strata("insert", store, "Film", "title=Stalker", "year=1979", "rating=8.1", "studio=Studio/p1", "--author", "ann")  # 4: p3
    strata("link", store, "Film/p3", "genres", "Genre/p2", "--author", "ann")  # 5
    strata("update", store, "Film/p3", "rating=9", "--author", "bob", "--reason", "seen again")  # 6
    strata("tag", store, "first cut", "--author", "ann")  # 7
    strata("insert", store, "Film", f"title={HOSTILE}", "year=1999", "--author", "<b>eve</b>")  # 8: p4
    picture = os.path.join(folder, "picture.png")
    with open(picture, "wb") as file:
        file.write(PNG)
    strata("insert", store, "Film", "title=Picture", f"image=@{picture}", "--author", "bob")  # 9: p5
    rows = os.path.join(folder, "films.ndjson")
    with open(rows, "w", encoding="utf-8") as file:
        for number in range(120):
            file.write(json.dumps({"title": f"Film {number:03}", "year": 1900 + number}) + "\n")
    strata("import", store, "Film", rows, "--author", "import")  # 10
    strata("insert", store, "Film", "title=Gone", "year=1950", "--author", "ann")
    strata("delete", store, "Film/p126", "--author", "bob")
    return store


class Server:
    """The program on a free port."""

    def __init__(self, *stores):
        self.process = subprocess.Popen([STUDIO, *stores], stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        self.origin = re.match(r"http://127\.0\.0\.1:\d+", self.address).group(0)

    def close(self):
        self.process.terminate()
        self.process.wait(20)
        self.process.stdout.close()


class StudioTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.store = make_store(cls.folder)
        cls.server = Server(cls.store)
        cls.playwright = sync_playwright().start()
        cls.browser = cls.playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = cls.browser.new_context()
        page = context.new_page()
        page.goto(cls.server.address)
        cls.state = context.storage_state()
        context.close()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.playwright.stop()
        cls.server.close()
        shutil.rmtree(cls.folder)

    def setUp(self):
        self.context = self.browser.new_context(storage_state=self.state, **self.options())
        self.page = self.context.new_page()
        self.errors = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        self.page.set_default_timeout(10_000)

    def options(self):
        return {"viewport": {"width": 1200, "height": 900}}

    def tearDown(self):
        self.context.close()
        self.assertEqual([error for error in self.errors if "400" not in error and "404" not in error], [])

    def go(self, path):
        self.page.goto(self.server.origin + "/Films" + path)
        expect(self.page.locator("main[aria-busy]")).to_have_count(0)
        return self.page

    def heading(self, text):
        expect(self.page.locator("h1")).to_have_text(text)

    @property
    def query(self):
        return self.page.evaluate("Object.fromEntries(new URLSearchParams(location.search))")

    # Entering

    def test_without_the_cookie_nothing_is_shown(self):
        context = self.browser.new_context()
        page = context.new_page()
        answer = page.goto(self.server.origin + "/Films/model")
        self.assertEqual(answer.status, 401)
        self.assertIn("Open the address that strata-studio printed", page.inner_text("body"))
        context.close()

    def test_the_address_is_good_once(self):
        context = self.browser.new_context()
        page = context.new_page()
        self.assertEqual(page.goto(self.server.address).status, 401)
        context.close()

    def test_one_store_is_shown_at_once_and_the_token_is_gone(self):
        self.page.goto(self.server.origin + "/")
        self.heading("Model")
        self.assertNotIn("token", self.page.url)

    # The model

    def test_the_model_has_counts_and_a_diagram(self):
        page = self.go("/model")
        expect(page.locator(".diagram rect")).to_have_count(3)
        expect(page.locator("tr", has_text="to-one Studio")).to_contain_text("123")

    def test_the_diagram_leads_to_objects(self):
        page = self.go("/model")
        page.locator(".diagram a", has_text="Genre").click()
        self.heading("Genre")

    def test_the_counts_are_those_of_the_moment(self):
        page = self.go("/model?at=5")
        expect(page.locator("tr", has_text="to-one Studio").locator(".number")).to_have_text("1")

    # The timeline

    def test_the_slider_says_the_moment(self):
        page = self.go("/model?at=6")
        slider = page.get_by_role("slider")
        expect(slider).to_have_attribute("aria-valuenow", "6")
        expect(slider).to_have_attribute("aria-valuetext", re.compile("Transaction 6 of 12.*bob.*seen again"))
        expect(page.locator("#moment")).to_contain_text("seen again")

    def test_steps_change_the_address_and_the_page(self):
        page = self.go("/object/Film/p3?at=6")
        expect(page.locator("#value-rating td").first).to_have_text("9")
        page.click("#previous")
        expect(page.locator("#value-rating td").first).to_have_text("8.1")
        self.assertEqual(self.query, {"at": "5"})
        page.go_back()
        expect(page.locator("#value-rating td").first).to_have_text("9")

    def test_arrow_keys_home_and_end_move_the_slider(self):
        page = self.go("/model?at=6")
        slider = page.get_by_role("slider")
        slider.focus()
        for key, now in [("ArrowLeft", "5"), ("ArrowRight", "6"), ("Home", "1"), ("End", "12")]:
            slider.press(key)
            expect(slider).to_have_attribute("aria-valuenow", now)
            expect(slider).to_be_focused()
        self.assertEqual(self.query, {})

    def test_brackets_step_and_zero_goes_to_the_newest(self):
        page = self.go("/transactions?at=6")
        page.keyboard.press("[")
        expect(page.get_by_role("slider")).to_have_attribute("aria-valuenow", "5")
        page.keyboard.press("]")
        expect(page.get_by_role("slider")).to_have_attribute("aria-valuenow", "6")
        page.keyboard.press("0")
        expect(page.locator("#moment")).to_contain_text("following")

    def test_dragging_moves_the_page(self):
        page = self.go("/model")
        box = page.get_by_role("slider").bounding_box()
        page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 20)
        page.mouse.down()
        page.mouse.move(box["x"] + 2, box["y"] + 20, steps=8)
        page.mouse.up()
        expect(page.get_by_role("slider")).to_have_attribute("aria-valuenow", "1")
        expect(page.locator("#moment")).to_contain_text("Transaction 1 of")

    def test_a_tag_or_a_date_can_be_typed(self):
        page = self.go("/model")
        page.fill("#at", "first cut")
        page.press("#at", "Enter")
        expect(page.get_by_role("slider")).to_have_attribute("aria-valuenow", "6")
        expect(page.locator("#moment .tag")).to_have_text("first cut")

    def test_tags_lead_to_their_moment(self):
        page = self.go("/model")
        page.locator("ul.tags a").click()
        expect(page.get_by_role("slider")).to_have_attribute("aria-valuenow", "6")

    def test_playing_goes_on_by_itself(self):
        page = self.go("/model?at=9")
        page.click("#play")
        expect(page.get_by_role("slider")).to_have_attribute("aria-valuenow", "11")
        page.click("#play")

    def test_a_moment_that_is_not_there_is_explained(self):
        page = self.go("/model?at=999")
        expect(page.get_by_role("alert")).to_contain_text("no transaction 999")
        page.click("text=See it in the newest state")
        self.heading("Model")

    def test_authors_are_named_and_lead_to_their_transactions(self):
        page = self.go("/model")
        page.locator("ul.authors a", has_text="bob").click()
        self.heading("Transactions")
        expect(page.locator("tbody tr")).to_have_count(3)

    # Objects

    def test_a_table_is_sorted_by_its_heads(self):
        page = self.go("/objects/Film?where=year < 1910")
        page.click("#sort-year")
        expect(page.locator("tbody tr").first).to_contain_text("1900")
        page.click("#sort-year")
        expect(page.locator("tbody tr").first).to_contain_text("1909")
        expect(page.locator("th[aria-sort=descending]")).to_contain_text("year")
        expect(page.locator("#sort-year")).to_be_focused()

    def test_a_filter_is_in_the_address(self):
        page = self.go("/objects/Film")
        page.fill("#where", "year = 1979")
        page.press("#where", "Enter")
        expect(page.locator("#counts")).to_have_text("1 to 2 of 2 objects, 123 without the filter")
        self.assertEqual(self.query, {"where": "year = 1979"})

    def test_a_mistake_is_shown_under_its_place(self):
        page = self.go("/objects/Film")
        page.fill("#where", "title = 'x' AN year = 1")
        page.press("#where", "Enter")
        expect(page.locator("#problem")).to_contain_text("Character 13")
        expect(page.locator("#where")).to_have_attribute("aria-invalid", "true")
        expect(page.locator("#where")).to_have_value("title = 'x' AN year = 1")
        self.assertEqual(page.evaluate("document.getElementById('where').selectionStart"), 12)
        page.fill("#where", "year = 1979")
        page.press("#where", "Enter")
        expect(page.locator("#problem")).to_have_count(0)

    def test_a_wrong_name_gets_a_suggestion(self):
        page = self.go("/objects/Film?where=titel = 'x'")
        expect(page.locator("#problem")).to_contain_text("title")

    def test_names_of_properties_are_put_into_the_filter(self):
        page = self.go("/objects/Film")
        page.click("text=Properties")
        page.locator("details[open] button", has_text="rating").click()
        expect(page.locator("#where")).to_have_value("rating")
        expect(page.locator("#where")).to_be_focused()

    def test_frequent_values_narrow_the_filter(self):
        page = self.go("/objects/Film?where=year = 1979")
        page.click("#facets summary")
        page.locator("#facets button", has_text="title").click()
        expect(page.locator("#facets .values li")).to_have_count(2)
        page.locator("#facets .values button", has_text="Stalker").click()
        expect(page.locator("#counts")).to_have_text("1 to 1 of 1 object, 123 without the filter")

    def test_pages_of_a_table(self):
        page = self.go("/objects/Film")
        expect(page.locator("tbody tr")).to_have_count(50)
        page.click("#later")
        expect(page.locator("#counts")).to_have_text("51 to 100 of 123 objects")
        page.click("#later")
        expect(page.locator("#counts")).to_have_text("101 to 123 of 123 objects")
        expect(page.locator("#later")).to_have_count(0)
        page.click("#earlier")
        expect(page.locator("#counts")).to_have_text("51 to 100 of 123 objects")

    def test_columns_are_chosen(self):
        page = self.go("/objects/Film?where=SELF = nil OR year = 1979")
        page.fill("#columns", "title, genres.label, genres.@count")
        page.press("#columns", "Enter")
        expect(page.locator("thead th")).to_have_text(["object", "title", "genres.label", "genres.@count"])

    def test_the_plan_is_shown(self):
        page = self.go("/objects/Film?where=year = 1979")
        page.click("text=Explain")
        expect(page.locator(".plan")).to_contain_text("rows")

    def test_a_slash_goes_to_the_filter(self):
        page = self.go("/objects/Film")
        page.keyboard.press("/")
        expect(page.locator("#where")).to_be_focused()

    # One object

    def test_values_say_who_set_them(self):
        page = self.go("/object/Film/p3")
        expect(page.locator("#value-rating")).to_contain_text("bob")
        expect(page.locator("#value-rating")).to_contain_text("seen again")
        expect(page.locator("#value-title")).to_contain_text("ann")
        page.locator("#value-rating").get_by_role("link", name="t6").click()
        self.heading("Transaction 6")

    def test_relationships_are_walked_both_ways(self):
        page = self.go("/object/Film/p3")
        page.locator("#value-studio a", has_text="Mosfilm").click()
        self.heading("Studio/p1 (Mosfilm)")
        page.locator(".relationships a", has_text="Film/p3").click()
        self.heading("Film/p3")
        page.locator(".relationships a", has_text="Genre/p2").click()
        self.heading("Genre/p2")

    def test_two_moments_side_by_side(self):
        page = self.go("/object/Film/p3")
        page.fill("#with", "4")
        page.press("#with", "Enter")
        expect(page.locator("tr.changed")).to_have_count(1)
        expect(page.locator("tr.changed")).to_contain_text("8.1")

    def test_a_deleted_object_says_so_and_keeps_its_history(self):
        page = self.go("/object/Film/p126")
        expect(page.locator("#fate")).to_contain_text("deleted")
        expect(page.locator(".change")).to_have_count(2)
        page.locator(".change").last.get_by_text("see it then").click()
        expect(page.locator("#value-title")).to_contain_text("Gone")

    def test_a_picture_has_a_preview(self):
        page = self.go("/object/Film/p5")
        image = page.locator("#value-image img")
        expect(image).to_be_visible()
        self.assertEqual(image.evaluate("image => image.decode().then(() => image.naturalWidth)"), 1)

    # Transactions

    def test_transactions_are_filtered(self):
        page = self.go("/transactions")
        expect(page.locator("tbody tr")).to_have_count(12)
        page.fill("#text", "seen AGAIN")
        page.press("#text", "Enter")
        expect(page.locator("tbody tr")).to_have_count(1)
        expect(page.locator("tbody tr")).to_contain_text("bob")

    def test_one_transaction_and_its_neighbours(self):
        page = self.go("/transaction/6")
        expect(page.locator(".events")).to_contain_text("rating")
        expect(page.locator(".events del")).to_have_text("8.1")
        expect(page.locator(".events ins")).to_have_text("9")
        page.click("#earlier")
        self.heading("Transaction 5")
        expect(page.locator(".events")).to_contain_text("genres")
        page.click("#then")
        self.assertEqual(self.query, {"at": "5"})

    def test_a_large_transaction_comes_in_parts(self):
        page = self.go("/transaction/10")
        expect(page.locator(".events > li")).to_have_count(100)
        page.get_by_text("Next events (20 more)").click()
        expect(page.locator(".events > li")).to_have_count(20)

    # Live

    def test_new_transactions_come_in_by_themselves(self):
        copy = os.path.join(self.folder, "Live.strata")
        shutil.copytree(self.store, copy)
        server = Server(copy)
        try:
            page = self.context.new_page()
            page.goto(server.address)
            expect(page.locator("#moment")).to_contain_text("of 12")
            strata("update", copy, "Film/p3", "rating=5", "--author", "cy")
            expect(page.locator("#moment")).to_contain_text("Transaction 13 of 13")
            page.goto(server.origin + "/Live/model?at=6")
            expect(page.get_by_role("slider")).to_have_attribute("aria-valuenow", "6")
            strata("update", copy, "Film/p3", "rating=6", "--author", "cy")
            expect(page.get_by_role("slider")).to_have_attribute("aria-valuemax", "14")
            expect(page.get_by_role("slider")).to_have_attribute("aria-valuenow", "6")
        finally:
            server.close()

    # Health

    def test_health_lists_files_and_tables(self):
        page = self.go("/health")
        expect(page.get_by_role("region", name="Files")).to_contain_text("data.mdb")
        expect(page.get_by_role("region", name="Tables")).to_contain_text("objects")

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
                    || element.closest('label')?.textContent.trim())).map((element) => element.outerHTML)""")
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


class PhoneTest(StudioTest):
    """The same pages on a phone, in the dark."""

    def options(self):
        return {"viewport": {"width": 390, "height": 800}, "color_scheme": "dark"}

    def test_no_page_is_wider_than_the_window(self):
        for path in ["/model", "/objects/Film", "/object/Film/p4", "/transactions", "/transaction/8", "/health"]:
            page = self.go(path)
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 390, path)

    def test_the_dark_is_dark(self):
        page = self.go("/model")
        self.assertEqual(page.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(22, 24, 26)")


def load_tests(loader, tests, pattern):
    """On a phone only what differs there."""
    suite = unittest.TestSuite(loader.loadTestsFromTestCase(StudioTest))
    own = [name for name in vars(PhoneTest) if name.startswith("test_")]
    again = ["test_dragging_moves_the_page", "test_a_mistake_is_shown_under_its_place", "test_hostile_values_are_only_text",
             "test_the_accessibility_check_finds_nothing"]
    suite.addTests(PhoneTest(name) for name in own + again)
    return suite


def screenshots(store, folder):
    """Six pages of a store as pictures, for the documents."""
    os.makedirs(folder, exist_ok=True)
    server = Server(store)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 850})
        page.goto(server.address)
        expect(page.locator(".diagram svg")).to_be_visible()
        base = page.url.split("?")[0].rstrip("/")
        pictures = os.environ.get(
            "STUDIO_PAGES",
            "model=/model objects=/objects/BowTie object=/object/BowTie/p1 transactions=/transactions "
            "transaction=/transaction/3 health=/health").split()
        for picture in pictures:
            name, path = picture.split("=", 1)
            page.goto(base + path)
            expect(page.locator("h1")).to_be_visible()
            expect(page.locator("main[aria-busy]")).to_have_count(0)
            page.screenshot(path=os.path.join(folder, name + ".png"))
        browser.close()
    server.close()


if __name__ == "__main__":
    if "STUDIO_SCREENSHOTS" in os.environ:
        screenshots(os.environ["STUDIO_STORE"], os.environ["STUDIO_SCREENSHOTS"])
    else:
        unittest.main(argv=[sys.argv[0], "-v"] if len(sys.argv) == 1 else None)
