"""Stores of unusual shape: many entities with long names, composites, orders, odd tags, encrypted and erased values."""

import os
import re

from axe_core_python.sync_playwright import Axe
from playwright.sync_api import expect

from studio import CopyTest, Server, strata, write_model

LONG = "CustomerRelationshipManagementRecordOfTheYear{}ForTheDepartmentOfSundries"
MANY = "".join(
    f'<entity name="{LONG.format(number)}" syncable="YES"><relationship name="linkTo{number}" optional="YES" maxCount="1" '
    f'deletionRule="Nullify" destinationEntity="{LONG.format(number * 7 % 110)}"/>'
    + "".join(f'<attribute name="anAttributeThatGoesOnAndOnAndOn{index}" optional="YES" attributeType="String"/>'
              for index in range(12)) + "</entity>" for number in range(110))
SHAPES = """
    <entity name="Base" isAbstract="YES" syncable="YES"><attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="box" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Box"
            inverseName="items" inverseEntity="Box"/></entity>
    <entity name="Ball" parentEntity="Base" syncable="YES">
        <attribute name="size" optional="YES" attributeType="Composite" composite="Size"/>
        <attribute name="made" optional="YES" attributeType="Date"/>
        <attribute name="secret" optional="YES" attributeType="String">
            <userInfo><entry key="strata.encrypted" value="YES"/></userInfo></attribute></entity>
    <entity name="Box" syncable="YES"><attribute name="label" optional="YES" attributeType="String"/>
        <relationship name="items" optional="YES" toMany="YES" ordered="YES" deletionRule="Cascade" destinationEntity="Base"
            inverseName="box" inverseEntity="Base"/></entity>
    <composite name="Size"><attribute name="width" optional="YES" attributeType="Double"/>
        <attribute name="made" optional="YES" attributeType="Date"/></composite>"""
TAGS = ["a b", "ü/ö?#&", "<b>x</b>", "..", "'quoted\"", "v1.0+beta", "%41"]


class StrangeTest(CopyTest):
    """Transactions 2 to 4 make the box p1 and the ball p2, 5 and following are tags; the ball p3 was erased."""

    server_options = ["--write"]

    @classmethod
    def prepare(cls):
        key = os.path.join(cls.copies, "key")
        with open(key, "wb") as file:
            file.write(bytes(range(32)))
        cls.many = os.path.join(cls.copies, "Many.strata")
        strata("create", cls.many, "--model", write_model(cls.copies, "Many", MANY))
        strata("insert", cls.many, LONG.format(0), "anAttributeThatGoesOnAndOnAndOn0=x")
        strata("create", cls.store, "--model", write_model(cls.copies, "Shapes", SHAPES))
        strata("insert", cls.store, "Box", "label=first")
        strata("insert", cls.store, "Ball", "name=red", "secret=hidden", "made=2026-11-21T00:00:00Z", "box=Box/p1", "--key-file", key,
               'size={"width":1.5,"made":"2026-11-21T10:00:00.123456Z"}')
        for tag in TAGS:
            strata("tag", cls.store, tag)
        strata("insert", cls.store, "Ball", "name=gone")
        strata("erase", cls.store, "Ball/p3", "--reason", "asked for it")
        cls.server_key = key

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.close()
        cls.server = Server(cls.store, cls.many, options=cls.server_options)
        cls.state = cls.stage.enter(cls.server)

    PAGES = ["/Films/model", "/Films/objects/Base", "/Films/object/Ball/p2", "/Films/object/Box/p1", "/Films/object/Ball/p3",
             "/Films/transactions", "/Films/transaction/4", "/Films/health", "/Many/model", "/Many/transaction/2",
             f"/Many/objects/{LONG.format(0)}", f"/Many/object/{LONG.format(0)}/p1"]

    def show(self, path):
        self.page.goto(self.server.origin + path)
        expect(self.page.locator("[aria-busy]")).to_have_count(0)
        return self.page

    def test_pages_are_accessible_and_as_wide_as_a_small_phone(self):
        for width, path in [(width, path) for width in (320, 1200) for path in self.PAGES]:
            self.page.set_viewport_size({"width": width, "height": 700})
            page = self.show(path)
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width, path)
            found = Axe().run(page)["violations"]
            self.assertEqual([(finding["id"], finding["nodes"][0]["html"]) for finding in found], [], path)

    def test_every_tag_leads_to_its_moment(self):
        page = self.show("/Films/model")
        for tag in TAGS:
            page.fill("#at", tag)
            page.press("#at", "Enter")
            expect(page.locator("#moment bdi.tag", has_text=tag)).to_be_visible()
            page.reload()
            expect(page.locator("#moment bdi.tag", has_text=tag)).to_be_visible()

    def test_an_encrypted_value_without_a_key_is_said_to_be_encrypted(self):
        page = self.show("/Films/object/Ball/p2")
        expect(page.locator("#value-secret td").first).to_contain_text("(encrypted)")
        expect(page.locator("#value-secret img")).to_have_count(0)
        page.get_by_role("button", name="Edit secret").click()
        expect(page.locator("#edit-secret")).to_have_value("")
        page.fill("#edit-secret", "new")
        page.get_by_role("button", name="Look").click()
        expect(page.locator("#refusal")).to_contain_text("--key-file")
        self.errors = [error for error in self.errors if "422" not in error]

    def test_a_composite_is_edited_as_it_is_written(self):
        page = self.show("/Films/object/Ball/p2")
        page.get_by_role("button", name="Edit size").click()
        expect(page.locator("#edit-size")).to_have_value('{"made":"2026-11-21T10:00:00.123456Z","width":1.5}')
        page.fill("#edit-size", '{"made":"2026-11-21T10:00:00.123456Z","width":2}')
        page.get_by_role("button", name="Look").click()
        expect(page.locator("#consequences ins")).to_have_text("(made: 2026-11-21T10:00:00.123456Z, width: 2)")

    def test_a_date_is_shown_without_zeros_at_its_end(self):
        page = self.show("/Films/objects/Ball?columns=size.made, made&sort=name")
        expect(page.locator("tbody tr").first.locator("time")).to_have_text(
            ["2026-11-21 10:00:00.123456", "2026-11-21"])
        self.assertEqual(page.locator("tbody time").last.get_attribute("title"), "2026-11-21T00:00:00.000Z")

    def test_an_erased_object_says_so(self):
        page = self.show("/Films/object/Ball/p3")
        expect(page.locator("#fate")).to_contain_text("asked for it")
        expect(page.locator(".events").last).to_contain_text("values were erased")

    def test_with_the_key_everything_is_read(self):
        server = Server(self.store, options=["--key-file", self.server_key])
        try:
            page = self.context.new_page()
            page.goto(server.address)
            page.goto(server.origin + "/Films/objects/Ball?where=secret = 'hidden'")
            expect(page.locator("#counts")).to_have_text(re.compile("1 to 1 of 1 object"))
            page.goto(server.origin + "/Films/transaction/4")
            expect(page.locator(".events")).to_contain_text("hidden")
        finally:
            server.close()
