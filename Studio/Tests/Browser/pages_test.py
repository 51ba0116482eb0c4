"""Tables, objects, transactions and health."""

import json

from playwright.sync_api import expect

from studio import StudioTest


class PagesTest(StudioTest):
    """Tables, objects, transactions and health."""

    # Objects

    def test_a_table_is_sorted_by_its_heads(self):
        page = self.go("/objects/Film?where=year < 1910")
        page.click("#sort-year")
        expect(page.locator("tbody tr").first).to_contain_text("1900")
        # The same film is first without an order.
        expect(page.locator("th[aria-sort=ascending]")).to_contain_text("year")
        page.click("#sort-year")
        expect(page.locator("tbody tr").first).to_contain_text("1909")
        expect(page.locator("th[aria-sort=descending]")).to_contain_text("year")
        expect(page.locator("#sort-year")).to_be_focused()

    def test_a_head_is_on_the_side_of_its_numbers(self):
        for path, head in [("/objects/Film", "year"), ("/objects/Film", "title"), ("/model", "objects"), ("/health", "entries")]:
            page = self.go(path)
            shown = page.get_by_role("columnheader", name=head).first
            side = shown.evaluate("head => getComputedStyle(head).textAlign")
            cells = shown.evaluate("""head => [...head.closest('table').tBodies[0].rows]
                .map(row => row.cells[head.cellIndex]).filter(cell => cell.querySelector('bdi, .number'))
                .map(cell => getComputedStyle(cell).textAlign)""")
            self.assertEqual(set(cells), {side}, head)
            self.assertEqual(side, "left" if head == "title" else "right")

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

    def test_names_are_completed_while_typing(self):
        page = self.go("/objects/Film")
        page.locator("#where").press_sequentially("ra")
        option = page.get_by_role("option", name="rating")
        expect(option).to_be_visible()
        expect(page.locator("#where")).to_have_attribute("aria-expanded", "true")
        page.keyboard.press("ArrowDown")
        expect(option).to_have_attribute("aria-selected", "true")
        page.keyboard.press("Enter")
        expect(page.locator("#where")).to_have_value("rating")
        expect(page.get_by_role("option")).to_have_count(0)
        page.locator("#where").press_sequentially(" > 1 AND studio.na")
        page.get_by_role("option", name="studio.name").click()
        expect(page.locator("#where")).to_have_value("rating > 1 AND studio.name")
        page.locator("#where").press_sequentially(" = 'ti")
        expect(page.get_by_role("option")).to_have_count(0)

    def test_escape_closes_the_names_and_enter_shows_the_table(self):
        page = self.go("/objects/Film")
        page.locator("#sort").press_sequentially("-ye")
        expect(page.get_by_role("option")).to_have_count(1)
        page.keyboard.press("Escape")
        expect(page.get_by_role("option")).to_have_count(0)
        page.locator("#sort").press_sequentially("ar")
        page.keyboard.press("Enter")
        expect(page.locator("tbody tr").first).to_contain_text("2019")

    def test_ranges_of_numbers_narrow_the_filter(self):
        page = self.go("/objects/Film")
        page.click("#facets summary")
        page.locator("#facets button", has_text="year").click()
        expect(page.locator(".histogram li")).to_have_count(12)
        page.locator(".histogram button", has_text="1950 –").click()
        expect(page.locator("#where")).to_have_value("year >= 1950 AND year < 1960")
        expect(page.locator("#counts")).to_contain_text("1 to 10 of 10")

    def test_what_is_shown_is_saved_as_a_file(self):
        page = self.go("/objects/Film?where=year = 1979&columns=title, year")
        with page.expect_download() as started:
            page.click("#csv")
        with open(started.value.path(), encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertEqual(started.value.suggested_filename, "Film.csv")
        self.assertEqual(lines, ["object,title,year", "Film/p3,Stalker,1979", "Film/p85,Film 079,1979"])
        with page.expect_download() as started:
            page.click("#json")
        with open(started.value.path(), encoding="utf-8") as file:
            self.assertEqual([row["title"] for row in json.load(file)], ["Stalker", "Film 079"])

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
        self.heading("Film/p3 (Stalker)")
        page.locator(".relationships a", has_text="Genre/p2").click()
        self.heading("Genre/p2 (drama)")

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

    def test_going_back_returns_to_the_place_on_the_page(self):
        page = self.go("/objects/Film?sort=year")
        page.evaluate("scrollTo(0, 900)")
        link = page.locator("tbody tr").nth(30).get_by_role("link").first
        link.evaluate("link => link.click()")
        expect(page.locator("#value-title")).to_be_visible()
        self.assertEqual(page.evaluate("scrollY"), 0)
        page.go_back()
        expect(page.locator("#counts")).to_be_visible()
        page.wait_for_function("scrollY === 900")

    def test_objects_are_filtered_by_what_they_are_linked_to(self):
        page = self.go("/objects/Film")
        page.click("#facets summary")
        page.locator("#facets button", has_text="studio").click()
        page.locator("#facets .values button", has_text="Mosfilm").click()
        expect(page.locator("#where")).to_have_value("studio == Studio/p1")
        expect(page.locator("#counts")).to_contain_text("1 to 1 of 1")

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

    # Health

    def test_health_lists_files_and_tables(self):
        page = self.go("/health")
        expect(page.get_by_role("region", name="Files")).to_contain_text("data.mdb")
        expect(page.get_by_role("region", name="Tables")).to_contain_text("objects")

    def test_a_verification_says_that_the_store_is_sound(self):
        page = self.go("/health")
        page.click("#verify-quick")
        expect(page.locator("#verified")).to_contain_text("Sound: 12 transactions")
        expect(page.locator("#verify")).to_be_enabled()

    def test_transactions_are_chosen_by_time(self):
        page = self.go("/transactions?since=4&until=first cut")
        expect(page.locator("tbody tr")).to_have_count(3)
        page.fill("#since", "never")
        page.press("#since", "Enter")
        expect(page.get_by_role("alert")).to_contain_text("not a moment")

    def test_a_value_says_what_it_was_before(self):
        page = self.go("/object/Film/p3")
        expect(page.locator("#value-rating .before")).to_have_text(" was 8.1")
