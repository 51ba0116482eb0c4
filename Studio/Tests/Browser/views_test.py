"""Health says what the views of a store do."""

import json

from playwright.sync_api import expect

from studio import CopyTest, strata


class ViewsTest(CopyTest):
    """A store with a view that is kept in saves, and one that catches up."""

    @classmethod
    def prepare(cls):
        super().prepare()
        for name, options in [("Late", ["--catching-up"]), ("Sync", [])]:
            strata("views", "create", cls.store, name, "--of", "Film", "--key", "year", "--column", "n = count", *options)

    def row(self, name):
        return self.page.get_by_role("region", name="Views").locator("tr", has_text=name)

    def test_the_upkeep_of_each_is_said(self):
        self.go("/health")
        expect(self.row("Sync")).to_contain_text("with each save")
        expect(self.row("Sync")).to_contain_text("up to date")
        expect(self.row("Late")).to_contain_text("behind the saves")

    def test_what_is_behind_building_or_failed_is_said(self):
        states = {"lagEvents": 4000, "lagSeconds": 90.2}, {"state": "building", "progress": 0.417}, {
            "state": "failed", "lagEvents": 1, "lagSeconds": 1,
            "failure": {"event": 1200, "object": "Film/p3", "reason": "<b>too large</b>", "attempts": 3}}
        texts = ["4,000 events, 90 seconds behind", "being made, 41 % done",
                 "stopped at event 1,200 (Film/p3): <b>too large</b> Tried 3 times. 1 event, 1 second behind"]
        for state, text in zip(states, texts):
            def answer(route):
                page = route.fetch().json()
                page["views"] = [{**view, **state} if view["name"] == "Late" else view for view in page["views"]]
                route.fulfill(body=json.dumps(page), content_type="application/json")

            def is_asked(url):
                return url.endswith("/health")
            self.page.route(is_asked, lambda route: answer(route) if route.request.resource_type == "fetch" else route.continue_())
            self.go("/health")
            expect(self.row("Late")).to_contain_text(text)
            expect(self.row("Sync")).to_contain_text("up to date")
            self.page.unroute(is_asked)
