"""How fast pages are on a large store: `speed.py [OBJECTS [TRANSACTIONS]]`, 1,000,000 objects in 10,000 transactions.

Imports that many films with the tool, each linked to one of twenty genres, and before them a tenth of the transactions
that each change one studio. Measures in the browser the first page (bytes, and time to its picture) and a step of the
slider (time from the key to the new picture). STUDIO_SPEED_STORE names a folder where the store is kept.
"""

import os
import statistics
import sys
import time

from playwright.sync_api import expect

from studio import MODEL, CHROMIUM, Server, strata, sync_playwright

# Waits until the page shows the answer and is painted, and says how long that took from the key on.
STEP = """(key) => new Promise((done) => {
    const main = document.getElementById('page'), slider = document.getElementById('slider');
    const start = performance.now();
    const watch = new MutationObserver(() => {
        if (main.hasAttribute('aria-busy')) return;
        watch.disconnect();
        requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
    });
    watch.observe(main, { attributeFilter: ['aria-busy'] });
    slider.focus();
    slider.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
})"""


# Notes when the diagram, which comes last, is painted. A test that looks again and again looks late.
DRAWN = """new MutationObserver((changes, watch) => {
    if (!document.querySelector('.diagram svg')) return;
    watch.disconnect();
    requestAnimationFrame(() => setTimeout(() => { window.drawn = performance.timeOrigin + performance.now(); }));
}).observe(document, { childList: true, subtree: true });"""

COUNTED = MODEL.replace('<entity name="Studio" representedClassName="Studio" syncable="YES">',
                        '<entity name="Studio" representedClassName="Studio" syncable="YES">'
                        '<attribute name="visits" optional="YES" attributeType="Integer 64" usesScalarValueType="YES"/>')
GENRES = 20


def make_store(folder, objects, transactions):
    """Genres (p1 to p20), changes of a studio (p21), and films from p22 in transactions of equal size."""
    store = os.path.join(folder, f"Speed-{objects}-{transactions}.strata")
    if os.path.exists(store):
        return store
    model = os.path.join(folder, "Films.xcdatamodel")
    os.makedirs(model, exist_ok=True)
    with open(os.path.join(model, "contents"), "w", encoding="utf-8") as file:
        file.write(COUNTED)
    rows = os.path.join(folder, "rows.csv")

    def load(entity, head, lines, *options):
        with open(rows, "w", encoding="utf-8") as file:
            file.write(head + "\n")
            file.writelines(lines)
        strata("import", store, entity, rows, *options)
        os.remove(rows)

    strata("create", store, "--model", model)
    load("Genre", "label", (f"genre {n}\n" for n in range(GENRES)), "--author", "import")
    load("Studio", "name,visits", (f"Mosfilm,{n}\n" for n in range(transactions // 10)), "--rows", "1", "--on-clash", "merge",
         "--author", "counter")
    load("Film", "title,year,rating,genres", (f"Film {n},{1900 + n % 120},{n % 100 / 10},genre {n % GENRES}\n" for n in range(objects)),
         "--rows", str(objects // (transactions * 9 // 10)), "--map", "genres=genres.label", "--author", "import")
    return store


def show(name, times):
    times = sorted(times)
    print(f"{name:46} median {statistics.median(times):6.1f} ms   p90 {times[len(times) * 9 // 10]:6.1f} ms   "
          f"most {times[-1]:6.1f} ms", flush=True)


def main():
    objects = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    transactions = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    folder = os.environ["STUDIO_SPEED_STORE"]
    os.makedirs(folder, exist_ok=True)
    start = time.monotonic()
    store = make_store(folder, objects, transactions)
    print(f"{objects} objects in {transactions} transactions ({time.monotonic() - start:.0f} s)", flush=True)
    server = Server(store)
    base = server.origin + "/" + os.path.basename(store).removesuffix(".strata")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        # An answer without a page has the browser start what it needs for this origin; nothing of Studio is in its cache.
        page.goto(server.origin + "/none")
        sizes = []
        page.on("response", lambda response: sizes.append(response))
        page.add_init_script(DRAWN)
        begin = time.time()
        page.goto(server.address)
        expect(page.locator(".diagram svg")).to_be_visible()
        seen = time.time() - begin
        page.wait_for_function("window.drawn")
        print(f"first page {page.evaluate('window.drawn') - begin * 1000:.0f} ms, seen by the test after {seen * 1000:.0f} ms,",
              f"{sum(len(answer.body()) for answer in sizes if answer.status == 200 and '/live' not in answer.url)} bytes")
        for path in ["/model", "/objects/Film", "/objects/Film?sort=-year", "/objects/Film?where=year = 1979",
                     "/object/Film/p100", "/object/Genre/p1", "/object/Studio/p21", "/transactions"]:
            begin = time.monotonic()
            page.goto(base + path)
            expect(page.locator("h1")).to_be_visible()
            print(f"{path:46} opened in {(time.monotonic() - begin) * 1000:6.0f} ms", flush=True)
        for path in ["/model", "/objects/Film", "/object/Film/p100", "/object/Genre/p1", "/object/Studio/p21", "/transactions"]:
            for place in [0.99, 0.5, 0.01]:
                at = int(transactions * place)
                page.goto(f"{base}{path}?at={at}")
                expect(page.locator("h1")).to_be_visible()
                page.wait_for_timeout(300)
                steps = [page.evaluate(STEP, key) for key in ["ArrowLeft"] * 10 + ["ArrowRight"] * 10]
                show(f"step of {path} at {at}", steps)
        page.goto(base + "/objects/Film")
        expect(page.locator("h1")).to_be_visible()
        show("jumps over the whole life", [page.evaluate(STEP, "PageDown") for _ in range(19)])
        browser.close()
    server.close()


if __name__ == "__main__":
    main()
