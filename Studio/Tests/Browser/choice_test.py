"""A field that takes an object finds it by words."""

from playwright.sync_api import expect

from studio import CopyTest, strata, write_model


class ChoiceTest(CopyTest):
    server_options = ["--write"]

    @classmethod
    def prepare(cls):
        super().prepare()
        strata("insert", cls.store, "Genre", "label=science fiction")

    def test_a_member_is_found_by_words_and_linked_with_the_keyboard(self):
        page = self.go("/object/Film/p3")
        page.get_by_label("Link to genres").press_sequentially("fiction")
        option = page.get_by_role("option", name="(science fiction)")
        expect(option).to_be_visible()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.get_by_label("Link to genres")).to_have_value("Genre/p127")
        page.keyboard.press("Enter")
        expect(page.locator("#consequences")).to_contain_text("science fiction")

    def test_a_to_one_is_found_by_words(self):
        page = self.go("/object/Film/p5")
        page.get_by_role("button", name="Edit studio").click()
        page.locator("#edit-studio").press_sequentially("mosf")
        page.get_by_role("option", name="(Mosfilm)").click()
        page.get_by_role("button", name="Look").click()
        expect(page.locator("#consequences")).to_contain_text("Mosfilm")

    def test_a_reference_needs_no_list(self):
        page = self.go("/object/Film/p3")
        page.get_by_label("Link to genres").press_sequentially("Genre/p127")
        page.keyboard.press("Enter")
        expect(page.locator("#consequences")).to_contain_text("science fiction")
        expect(page.get_by_role("option")).to_have_count(0)


class DerivedTest(CopyTest):
    server_options = ["--write"]

    @classmethod
    def prepare(cls):
        model = write_model(cls.copies, "Boxes", """
            <entity name="Box"><attribute name="label" optional="YES" attributeType="String"/>
                <attribute name="amount" optional="YES" attributeType="Integer 64" derived="YES" derivationExpression="items.@count"/>
                <relationship name="items" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Item"
                    inverseName="box" inverseEntity="Box"/></entity>
            <entity name="Item"><relationship name="box" optional="YES" maxCount="1" deletionRule="Nullify"
                destinationEntity="Box" inverseName="items" inverseEntity="Box"/></entity>""")
        strata("create", cls.store, "--model", model)
        strata("insert", cls.store, "Box", "label=first")

    def test_what_the_store_computes_has_no_button(self):
        page = self.go("/object/Box/p1")
        expect(page.get_by_role("button", name="Edit label")).to_be_visible()
        expect(page.locator("#value-amount")).to_contain_text("0")
        expect(page.get_by_role("button", name="Edit amount")).to_have_count(0)
