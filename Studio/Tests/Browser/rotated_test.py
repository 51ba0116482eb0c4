"""A store whose encrypted values get a new key while Studio shows it."""

import os

from playwright.sync_api import expect

from studio import CopyTest, Server, strata, write_model

MODEL = """<entity name="Note" syncable="YES"><attribute name="title" optional="YES" attributeType="String"/>
    <attribute name="secret" optional="YES" attributeType="String">
        <userInfo><entry key="strata.encrypted" value="YES"/></userInfo></attribute></entity>"""


class RotatedTest(CopyTest):
    """Transaction 3 makes Note/p1, and 4 changes its secret; a rotation adds more."""

    server_options = ["--write", "--key-file"]

    @classmethod
    def prepare(cls):
        cls.keys = [os.path.join(cls.copies, name) for name in ["former.key", "new.key"]]
        for number, path in enumerate(cls.keys):
            with open(path, "wb") as file:
                file.write(bytes([number + 1]) * 32)
        strata("create", cls.store, "--model", write_model(cls.copies, "Notes", MODEL))
        strata("insert", cls.store, "Note", "title=plain", "secret=first", "--key-file", cls.keys[0])
        strata("update", cls.store, "Note/p1", "secret=hidden", "--key-file", cls.keys[0])
        cls.server_options = [*cls.server_options, cls.keys[0]]

    def secret(self):
        return self.page.locator("#value-secret td").first

    def at(self, server, path):
        """The page of a server that was started for a test."""
        self.page = self.context.new_page()
        self.page.goto(server.address)
        self.page.goto(server.origin + "/Films" + path)
        expect(self.page.locator("h1")).to_be_visible()
        return self.page

    def propose(self, name, value):
        self.page.get_by_role("button", name=f"Edit {name}").click()
        self.page.fill(f"#edit-{name}", value)
        self.page.get_by_role("button", name="Look").click()

    def test_pages_go_on_while_the_key_is_rotated(self):
        page = self.go("/object/Note/p1")
        expect(self.secret()).to_contain_text("hidden")
        expect(page.locator("#locked")).to_have_count(0)
        strata("keys", "rotate", self.store, "--key-file", self.keys[0], "--new-key-file", self.keys[1])
        # The page follows the store, which has values now that Studio cannot read.
        expect(self.secret()).to_contain_text("(encrypted)")
        expect(page.locator("#locked")).to_contain_text("--key-file")
        expect(page.locator("#value-title td").first).to_contain_text("plain")
        # What was written before is read with the former key, and searches need none.
        page = self.go("/object/Note/p1?at=4")
        expect(self.secret()).to_contain_text("hidden")
        page = self.go("/objects/Note?where=secret = 'hidden'")
        expect(page.locator("#counts")).to_contain_text("1 object")
        expect(page.locator("tbody tr")).to_contain_text("(encrypted)")
        expect(page.locator("#locked")).to_be_visible()
        for path in ["/transactions", "/transaction/4", "/health", "/model"]:
            expect(self.go(path).locator("div.problem"), path).to_have_count(0)
        # A value under the former key would be lost to those who have the new one.
        self.go("/object/Note/p1")
        self.propose("secret", "other")
        expect(self.page.locator("#refusal")).to_contain_text("--key-file")
        self.errors = [error for error in self.errors if "422" not in error]
        # With the new key all is there again, and with both also what was before.
        for keys, before in [(self.keys[1:], "(encrypted)"), (self.keys[::-1], "first")]:
            server = Server(self.store, options=["--write", *(part for key in keys for part in ["--key-file", key])])
            try:
                self.at(server, "/object/Note/p1")
                expect(self.secret()).to_contain_text("hidden")
                self.page.goto(server.origin + "/Films/object/Note/p1?at=3")
                expect(self.secret()).to_contain_text(before)
                self.page.goto(server.origin + "/Films/object/Note/p1")
                self.propose("secret", "hidden still")
                expect(self.page.locator("#consequences ins")).to_have_text("hidden still")
            finally:
                server.close()
