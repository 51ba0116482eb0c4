import Testing

@testable import StrataModel

/// Conditions in other names: `Person.name` becomes `Human.fullName`, `Person.home` leads to `House`, which becomes `Home`.
@Suite struct NameRewriterTests {
    private let rewriter = NameRewriter<String, Never> { name, entity in
        switch (entity, name) {
        case ("Person", "name"): ("fullName", nil)
        case ("Person", "home"): ("place", "House")
        case ("Person", "spot"): ("point", nil)
        case ("House", "people"): ("humans", "Person")
        case ("House", "street"): ("road", nil)
        default: nil
        }
    } named: { name in
        ["Person": ("Human", "Person"), "House": ("Home", "House")][name]
    }

    @Test(arguments: [
        ("name == \"a\"", "fullName == \"a\""), ("home.street == nil", "place.road == nil"),
        ("home.other.street == nil", "place.other.street == nil"), ("SELF.name == nil", "SELF.fullName == nil"),
        ("spot.name == 1", "point.name == 1"), ("home.people.@count == 1", "place.humans.@count == 1"),
        ("home.people.@max.name == 1", "place.humans.@max.fullName == 1"),
        (
            "home.people.@distinctUnionOfObjects.home.street == nil",
            "place.humans.@distinctUnionOfObjects.place.road == nil"
        ),
        ("ANY home.people.name IN {name, home.street}", "ANY place.humans.fullName IN {fullName, place.road}"),
        ("NOT (name == nil OR home == nil)", "NOT (fullName == nil OR place == nil)"),
        (
            "SUBQUERY(home.people, $p, $p.name == name AND $p.home.street == nil).@count > 0",
            "SUBQUERY(place.humans, $p, $p.fullName == fullName AND $p.place.road == nil).@count > 0"
        ),
        (
            "SUBQUERY(home.people, $p, SUBQUERY($p.home.people, $q, $q.name == $p.name).@count > 1).name == nil",
            "SUBQUERY(place.humans, $p, SUBQUERY($p.place.humans, $q, $q.fullName == $p.fullName).@count > 1)"
                + ".fullName == nil"
        ),
        // A variable of the inner subquery hides the outer one.
        (
            "SUBQUERY(home.people, $x, SUBQUERY($x.home, $x, $x.street == nil).@count > 1).@count == 1",
            "SUBQUERY(place.humans, $x, SUBQUERY($x.place, $x, $x.road == nil).@count > 1).@count == 1"
        ),
        (
            "SUBQUERY(home.people UNION home.people, $p, $p.name == nil)[0].home == nil",
            "SUBQUERY(place.humans UNION place.humans, $p, $p.fullName == nil)[0].place == nil"
        ),
        (
            "TERNARY(name == nil, home, home.people[FIRST].home).street == nil",
            "TERNARY(fullName == nil, place, place.humans[FIRST].place).road == nil"
        ),
        ("noindex:(home).street == nil", "noindex:(place).road == nil"), ("$free.name == nil", "$free.name == nil"),
        ("uppercase:(name) == \"A\"", "uppercase:(fullName) == \"A\""),
        (
            "FETCH({: \"entity\": \"House\", \"predicate\": \"ANY people.name == nil\"}, nil, FALSE).street == nil",
            "FETCH({: \"entity\": \"Home\", \"predicate\": \"ANY humans.fullName == nil\"}, nil, FALSE).road == nil"
        ),
        (
            "SELF IN FETCH({: \"entity\": \"Person\", \"sort\": {: \"0\": {: \"key\": \"home.street\"}}}, nil, FALSE)",
            "SELF IN FETCH({: \"entity\": \"Human\", \"sort\": {: \"0\": {: \"key\": \"place.road\"}}}, nil, FALSE)"
        ),
        ("SELF IN FETCH(\"Person\", nil, FALSE)", "SELF IN FETCH({: \"entity\": \"Human\"}, nil, FALSE)"),
        ("SELF IN FETCH(\"Ghost\", nil, FALSE)", "SELF IN FETCH(\"Ghost\", nil, FALSE)"),
    ])
    func everyNameIsThatOfItsEntity(format: String, expected: String) throws {
        let written = try FetchPredicate(format: format), renamed = try FetchPredicate(format: expected)
        let found = rewriter.predicate(written, of: "Person")
        #expect(found == renamed)
    }

    @Test func pathsAndExpressionsAreWrittenAsConditionsAre() throws {
        let path = rewriter.path("home.people.name", of: "Person")
        #expect(path == "place.humans.fullName")
        let written = try FetchExpression(format: "SUBQUERY(people, $p, $p.name != nil).@count + 1")
        let expected = try FetchExpression(format: "SUBQUERY(humans, $p, $p.fullName != nil).@count + 1")
        let found = rewriter.expression(written, of: "House")
        #expect(found == expected)
    }
}
