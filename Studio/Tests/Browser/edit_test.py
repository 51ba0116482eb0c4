"""Editing keeps what was not typed: ends of lines, marks, and every digit."""

import json
import os

from playwright.sync_api import expect

from studio import CopyTest, strata

MODEL = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="1" systemVersion="1"
    minimumToolsVersion="Automatic" sourceLanguage="Swift" userDefinedModelVersionIdentifier="">
    <entity name="Note" representedClassName="Note" syncable="YES">
        <attribute name="number" optional="YES" attributeType="Double" usesScalarValueType="YES"/>
        <attribute name="text" optional="YES" attributeType="String"/>
        <attribute name="time" optional="YES" attributeType="Date" usesScalarValueType="NO"/>
    </entity>
</model>
"""
TEXTS = ["one\r\ntwo\r\nthree", "\ufeffmark", "\nfirst line empty", "\r", "mixed\none\r\ntwo\rthree\n", ""]


class EditTest(CopyTest):
    """Notes p1 to p6, each with a text that a field shows differently."""

    server_options = ["--write"]

    @classmethod
    def prepare(cls):
        model = os.path.join(cls.copies, "Notes.xcdatamodel")
        os.mkdir(model)
        with open(os.path.join(model, "contents"), "w", encoding="utf-8") as file:
            file.write(MODEL)
        rows = os.path.join(cls.copies, "notes.ndjson")
        with open(rows, "w", encoding="utf-8") as file:
            for text in TEXTS:
                file.write(json.dumps({"text": text, "time": "2026-11-21T10:00:00.123456Z", "number": 0.1}) + "\n")
            file.write("{}\n")
        strata("create", cls.store, "--model", model)
        strata("import", cls.store, "Note", rows)

    def open(self, number, name):
        page = self.go(f"/object/Note/p{number}")
        page.get_by_role("button", name=f"Edit {name}").click()
        expect(page.locator(f"#edit-{name}")).to_be_visible()
        return page

    def sent(self):
        """What the next proposal asks for."""
        with self.page.expect_request("**/draft") as request:
            self.page.get_by_role("button", name="Look").click()
        expect(self.page.locator("dialog")).to_be_visible()
        return request.value.post_data_json["values"]

    def test_what_was_not_changed_is_not_sent(self):
        asked = []
        self.page.on("request", lambda request: request.url.endswith("/draft") and asked.append(request.url))
        for number, name in [*((number, "text") for number in range(1, len(TEXTS) + 2)), (1, "time"), (1, "number"), (7, "time")]:
            page = self.open(number, name)
            page.get_by_role("button", name="Look").click()
            expect(page.locator("form.edit [role=status]")).to_have_text("It has not been changed.")
        self.assertEqual(asked, [])

    def test_ends_of_lines_are_kept(self):
        page = self.open(1, "text")
        page.fill("#edit-text", "one\ntwo and a half\nnew\nthree")
        self.assertEqual(self.sent(), {"text": "one\r\ntwo and a half\r\nnew\r\nthree"})
        page = self.open(5, "text")
        page.fill("#edit-text", "mixed\none\n2\nthree\n")
        self.assertEqual(self.sent(), {"text": "mixed\none\r\n2\nthree\n"})
        page = self.open(5, "text")
        page.fill("#edit-text", "mixed\none\ntwo\nthree\nfour")
        self.assertEqual(self.sent(), {"text": "mixed\none\r\ntwo\rthree\nfour"})

    def test_a_mark_at_the_beginning_is_kept(self):
        page = self.open(2, "text")
        page.press("#edit-text", "End")
        page.keyboard.type("ed")
        self.assertEqual(self.sent(), {"text": "\ufeffmarked"})

    def test_a_field_has_every_digit_of_a_date(self):
        page = self.open(1, "time")
        expect(page.locator("#edit-time")).to_have_value("2026-11-21T10:00:00.123456Z")
        page.fill("#edit-time", "2026-11-22T10:00:00.123456Z")
        self.assertEqual(self.sent(), {"time": "2026-11-22T10:00:00.123456Z"})

    def test_an_empty_text_can_be_typed_where_none_was(self):
        page = self.open(len(TEXTS) + 1, "text")
        page.fill("#edit-text", "x")
        page.fill("#edit-text", "")
        self.assertEqual(self.sent(), {"text": ""})
