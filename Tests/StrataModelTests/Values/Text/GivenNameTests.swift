import Testing

@testable import StrataModel

/// Names of tags, subscriptions, shared logs and authors.
@Suite struct GivenNameTests {
    @Test(arguments: ["a", "before import", "v1.2/β", "漢字", "שלום", "👩🏽‍🚀", "a\u{301}", "'quoted' \"name\"", "-x"])
    func textIsAName(name: String) { #expect(GivenName.complaint(about: name) == nil) }

    @Test(arguments: [
        ("", "it is empty"), (" ", "it has no visible character"), ("\u{A0}\u{3000}", "it has no visible character"),
        ("\u{200B}", "it has no visible character"), ("\u{FE0F}\u{301}", "it has no visible character"),
        ("\u{3164}", "it has no visible character"), (" a", "it begins with a blank"),
        ("a\u{A0}", "it ends with a blank"), ("a\nb", "it has the control character U+000A"),
        ("a\u{1B}[2J", "it has the control character U+001B"), ("a\u{202E}b", "it has the control character U+202E"),
        ("a\u{2028}b", "it has the control character U+2028"), ("\u{0}", "it has the control character U+0000"),
    ])
    func whatAListingCannotShowIsNone(name: String, complaint: String) {
        #expect(GivenName.complaint(about: name) == complaint)
    }
}
