"""Pictures of six pages of a store of films, for the documents."""

import json
import os
import shutil
import tempfile

from playwright.sync_api import expect, sync_playwright

from studio import CHROMIUM, MODEL, Server, strata

FILMS = [
    ("Stalker", 1979, 8.1, "Mosfilm"), ("Mirror", 1975, 8.0, "Mosfilm"), ("Solaris", 1972, 7.9, "Mosfilm"),
    ("Andrei Rublev", 1966, 8.0, "Mosfilm"), ("Ivan's Childhood", 1962, 8.0, "Mosfilm"),
    ("Come and See", 1985, 8.3, "Mosfilm"), ("War and Peace", 1966, 8.3, "Mosfilm"),
    ("Spirited Away", 2001, 8.6, "Ghibli"), ("Ponyo", 2008, 7.6, "Ghibli"), ("My Neighbour Totoro", 1988, 8.1, "Ghibli"),
    ("Princess Mononoke", 1997, 8.3, "Ghibli"), ("Castle in the Sky", 1986, 8.0, "Ghibli"),
    ("Kiki's Delivery Service", 1989, 7.8, "Ghibli"), ("Porco Rosso", 1992, 7.7, "Ghibli"),
    ("Metropolis", 1927, 8.3, "UFA"), ("M", 1931, 8.3, "UFA"), ("The Blue Angel", 1930, 7.6, "UFA"),
    ("Faust", 1926, 8.0, "UFA"), ("Spies", 1928, 7.5, "UFA"), ("Woman in the Moon", 1929, 7.3, "UFA"),
]

PAGES = {
    "model": "/model", "objects": "/objects/Film?where=rating >= 8&sort=-rating", "object": "/object/Film/p6?with=5",
    "transactions": "/transactions", "transaction": "/transaction/8", "health": "/health",
}


def make_store(folder):
    """Films of three studios, with changes by several people."""
    model = os.path.join(folder, "Films.xcdatamodel")
    os.mkdir(model)
    with open(os.path.join(model, "contents"), "w", encoding="utf-8") as file:
        file.write(MODEL)
    store = os.path.join(folder, "Films.strata")
    strata("create", store, "--model", model)
    for name in ["Mosfilm", "Ghibli", "UFA"]:  # 2 to 4: p1 to p3
        strata("insert", store, "Studio", f"name={name}", "--author", "ann")
    rows = os.path.join(folder, "films.ndjson")
    with open(rows, "w", encoding="utf-8") as file:
        for title, year, rating, studio in FILMS:
            file.write(json.dumps({"title": title, "year": year, "rating": rating, "studio": studio}) + "\n")
    strata("import", store, "Film", rows, "--map", "studio=studio.name", "--author", "import", "--reason", "films.ndjson")
    strata("tag", store, "imported", "--author", "import")
    strata("insert", store, "Genre", "label=science fiction", "--author", "bob")
    strata("update", store, "Film/p4", "rating=8.6", "year=1980", "--author", "bob", "--reason", "seen again")  # 8
    strata("update", store, "Film/p6", "rating=8.4", "--author", "ann", "--reason", "restored print")
    strata("link", store, "Film/p6", "genres", "Genre/p24", "--author", "bob")
    for number in range(7, 15):
        strata("update", store, f"Film/p{number}", f"rating={7 + number / 10}", "--author", ["ann", "bob", "cy"][number % 3])
    strata("delete", store, "Film/p23", "--author", "cy", "--reason", "a double")
    return store


def make(folder):
    """Makes a picture of each page in a folder."""
    os.makedirs(folder, exist_ok=True)
    place = tempfile.mkdtemp()
    server = Server(make_store(place))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1120, "height": 720})
        page.goto(server.address)
        expect(page.locator(".diagram svg")).to_be_visible()
        for name, path in PAGES.items():
            page.goto(server.origin + "/Films" + path)
            expect(page.locator("h1")).to_be_visible()
            expect(page.locator("[aria-busy]")).to_have_count(0)
            page.wait_for_timeout(200)
            page.screenshot(path=os.path.join(folder, f"studio-{name}.png"))
        browser.close()
    server.close()
    shutil.rmtree(place)
