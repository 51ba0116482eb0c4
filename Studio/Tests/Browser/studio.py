"""What the tests of Studio's pages share: a store, the program, and a browser.

STUDIO_PROGRAM and STRATA_PROGRAM name the built programs, STUDIO_CHROMIUM the browser.
"""

import atexit
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

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


def write_model(folder, name, entities):
    """Writes a model of entities, and returns its path."""
    path = os.path.join(folder, name + ".xcdatamodel")
    os.mkdir(path)
    with open(os.path.join(path, "contents"), "w", encoding="utf-8") as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>'
                   f'<model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">{entities}</model>')
    return path


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

    def __init__(self, *stores, options=()):
        self.process = subprocess.Popen([STUDIO, *stores, *options], stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        self.origin = re.match(r"http://127\.0\.0\.1:\d+", self.address).group(0)

    def close(self):
        self.process.terminate()
        self.process.wait(20)
        self.process.stdout.close()


class Stage:
    """One store, server and browser for all tests of a run, which only read."""

    only = None

    def __init__(self):
        self.folder = tempfile.mkdtemp()
        self.store = make_store(self.folder)
        self.server = Server(self.store)
        self.playwright = sync_playwright().start()
        self.browser = self.playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        self.state = self.enter(self.server)
        atexit.register(self.close)

    @classmethod
    def shared(cls):
        cls.only = cls.only or cls()
        return cls.only

    def enter(self, server):
        """Exchanges the address of a server for its cookie."""
        context = self.browser.new_context()
        context.new_page().goto(server.address)
        state = context.storage_state()
        context.close()
        return state

    def close(self):
        self.browser.close()
        self.playwright.stop()
        self.server.close()
        shutil.rmtree(self.folder)


class StudioTest(unittest.TestCase):
    """A page of its own for each test; whatever the browser reports as an error fails it."""

    @classmethod
    def setUpClass(cls):
        stage = Stage.shared()
        cls.stage, cls.folder, cls.store, cls.server, cls.browser = stage, stage.folder, stage.store, stage.server, stage.browser
        cls.state = stage.state

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
        expect(self.page.locator("[aria-busy]")).to_have_count(0)
        return self.page

    def heading(self, text):
        expect(self.page.locator("h1")).to_have_text(text)

    @property
    def query(self):
        return self.page.evaluate("Object.fromEntries(new URLSearchParams(location.search))")


class CopyTest(StudioTest):
    """A store and a server of its own for the tests of a class."""

    server_options = []

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.copies = tempfile.mkdtemp()
        cls.store = os.path.join(cls.copies, "Films.strata")
        cls.prepare()
        cls.server = Server(cls.store, options=cls.server_options)
        cls.state = cls.stage.enter(cls.server)

    @classmethod
    def prepare(cls):
        """Makes the store: a copy of the one that other tests read."""
        shutil.copytree(Stage.shared().store, cls.store)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()
        shutil.rmtree(cls.copies)
