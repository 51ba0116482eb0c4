import StrataModel
import StrataStore
import Testing

/// A to-one has a narrower destination in a model in between: what it cannot lead to there stays hidden, and comes back.
struct NarrowDestinationTests {
    enum Kind: CaseIterable { case toOne, toOneWithInverse, ordered, oneToOne }

    /// W has the wide destination, V too, and N the narrow one. X has no relationship, Y not its entity, Z no targets.
    ///
    /// - Parameter isRequired: whether W and V want a target.
    private func model(_ kind: Kind, _ name: Character, isRequired: Bool = false) throws -> ManagedObjectModel {
        let destination = name == "N" ? "Received" : "Message"
        let inverse = kind == .toOne ? nil : "reply"
        let hasReply = !["X", "Y"].contains(name)
        let label = name == "V" ? [Describe.attribute("label", optional: true)] : []
        let back =
            !hasReply || kind == .toOne
            ? []
            : [
                kind == .oneToOne
                    ? Describe.toOne("reply", "Reply", inverse: "message")
                    : Describe.toMany("reply", "Reply", inverse: "message", ordered: kind == .ordered)
            ]
        let reply = EntityDescription(
            name: "Reply",
            properties: [Describe.attribute("text", optional: true)] + label
                + (hasReply
                    ? [
                        Describe.toOne(
                            "message", destination, inverse: inverse,
                            optional: !isRequired || !["W", "V"].contains(name))
                    ] : []))
        return try ManagedObjectModel(
            entities: [
                EntityDescription(name: "Message", isAbstract: true, properties: destination == "Message" ? back : []),
                EntityDescription(
                    name: "Received", superentityName: "Message", properties: destination == "Received" ? back : []),
            ] + (name == "Z" ? [] : [EntityDescription(name: "Sent", superentityName: "Message")])
                + (name == "Y" ? [] : [reply]))
    }

    /// V is new to the store.
    @Test(
        arguments: Kind.allCases,
        [
            "WXNXW", "WXNW", "WXNV", "WXNXV", "WXNWXNW", "WYNYW", "WYNW", "WZNW", "WZNZW",
            "WXNXNW", "NWXNW", "NWXNXNW", "NWXV", "NXWXNV",
        ])
    func aTargetThatDoesNotFitComesBack(kind: Kind, path: String) throws {
        for history in TravelHistory.some("\(kind) \(path)") { try travel(kind, path, over: history) }
    }

    private func travel(_ kind: Kind, _ path: String, over history: TravelHistory, isRequired: Bool = false) throws {
        let models = try Dictionary(
            uniqueKeysWithValues: Set(path).map { ($0, try model(kind, $0, isRequired: isRequired)) })
        var links: [(reply: ObjectID, target: ObjectID)] = []
        try MigratedStore().travel(models, path, over: history) { name, fixture in
            if name == "W" {
                for number in 0..<4 {
                    let target = try fixture.insert(number % 2 == 0 ? "Sent" : "Received", [:])
                    let reply = try fixture.insert("Reply", ["text": .string("\(number)")])
                    var changes = try fixture.changes()
                    var values: [String: AttributeValue] = ["message": .objectID(target)]
                    if kind == .ordered { values["message#position"] = .integer(3) }
                    try fixture.update(reply, values, in: &changes)
                    if kind == .oneToOne { try fixture.update(target, ["reply": .objectID(reply)], in: &changes) }
                    try fixture.save(changes)
                    links.append((reply, target))
                }
            } else if name == "V", !history.isCut {
                let dump = try StateDump(fixture.store, at: fixture.store.head())
                for (reply, target) in links { #expect(dump[reply, "message"] == .value(.objectID(target))) }
            }
        }
        #expect(!links.isEmpty)
    }

    /// The target is known, so that nothing is missing.
    @Test(arguments: Kind.allCases, ["WXNXW", "WXNW", "WXNWXNW", "WYNYW", "WYNW", "WXNXNW"])
    func aRequiredTargetComesBack(kind: Kind, path: String) throws {
        try travel(kind, path, over: .whole, isRequired: true)
    }

    @Test(arguments: Kind.allCases) func anObjectWithoutATargetIsRefused(kind: Kind) throws {
        let store = MigratedStore()
        defer { store.remove() }
        try store.open(model(kind, "W", isRequired: true)) { fixture in
            let target = try fixture.insert("Received", [:])
            var changes = try fixture.changes()
            let reply = try fixture.insert("Reply", ["message": .objectID(target)], into: &changes)
            if kind == .oneToOne { try fixture.update(target, ["reply": .objectID(reply)], in: &changes) }
            try fixture.save(changes)
        }
        try store.open(model(kind, "X")) { _ in }
        let late = try store.open(model(kind, "N", isRequired: true)) { try $0.insert("Reply", [:]) }
        let error = #expect(throws: StrataError.self) { try store.open(model(kind, "W", isRequired: true)) { _ in } }
        #expect(error?.details.map(\.code) == [.validationMissingMandatoryProperty])
        #expect(error?.details.map(\.context.objectID) == [late])
    }
}
