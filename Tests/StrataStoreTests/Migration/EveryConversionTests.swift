import Foundation
import StrataModel
import StrataStore
import Testing

/// Every conversion from one type of attribute to another and back: values that were not changed in between are as they
/// were, byte for byte, and values that were changed are what the types make of them.
struct EveryConversionTests {
    /// What the model does between the conversion and the way back.
    enum Between: CaseIterable { case nothing, hidesAttributes, removesEntity, addsAttribute }

    struct Conversion {
        let name: String
        let from: AttributeType
        let to: AttributeType
        let value: AttributeValue
        /// What the other type makes of it.
        let made: AttributeValue
    }

    static let values: [(type: AttributeType, values: [AttributeValue])] = [
        (.boolean, [.boolean(true), .boolean(false)]),
        (.integer16, [0, 1, -7, 32767, -32768]),
        (.integer32, [0, 1, 65_536, -2_147_483_648, 16_777_217]),
        (.integer64, [0, 1, 9_007_199_254_740_993, .integer(.max), .integer(.min)]),
        (
            .double,
            [0.1, -0.0, 0, 1, 16_777_217, 1e300, .leastNonzeroMagnitude, .infinity, .nan, .pi, Double(Float.pi)]
                .map(AttributeValue.double)
        ),
        (.float, [.float(0.1), .float(-0.0), .float(3), .float(.infinity), .float(.leastNonzeroMagnitude)]),
        (
            .decimal,
            ["0.1", "1.50", "-3", "100", "123456789012345678901234567890", "0.000000000000000000001"].map {
                .decimal(Decimal(string: $0)!)
            }
        ),
        (
            .string,
            [
                "", "007", "+7", "-0", "-0.0", "1.50", "1e3", "0x10", "nan", "inf", "YES", "no", "1", "a b", "ä",
                "a\u{308}",
                "e621e1f8-c36c-495a-93fc-0c247a3e6e5f", "2001-01-01T02:00:00+02:00", "2001-01-01T00:00:00.5Z",
                "https://example.org/ä?q=a b", "0.1", "123456789.123456789",
            ]
        ),
        (
            .date,
            [0, -0.0, 0.1, -63_114_076_800, 1e9 + 0.000_001].map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        ),
        (.uuid, [.uuid(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!)]),
        (.uri, [.url(URL(string: "https://example.org/a%20b")!), .url(URL(string: "relative")!)]),
        (.binaryData, [.data(Data()), .data(Data("text".utf8)), .data(Data([0xFF, 0]))]),
    ]

    static let all: [Conversion] = {
        var all: [Conversion] = []
        for (from, values) in values {
            for (to, _) in Self.values where to != from {
                for value in values {
                    let (old, new) = (attribute("", from), attribute("", to))
                    guard let made = value.converted(from: old, to: new) else { continue }
                    all.append(Conversion(name: "a\(all.count)", from: from, to: to, value: value, made: made))
                }
            }
        }
        return all
    }()

    private static func attribute(_ name: String, _ type: AttributeType) -> AttributeDescription {
        AttributeDescription(name: name, type: type, isOptional: true)
    }

    private func model(
        with extra: [String] = [], hasAttributes: Bool = true, hasEntity: Bool = true,
        _ type: (Conversion) -> AttributeType
    ) throws -> ManagedObjectModel {
        let attributes = hasAttributes ? Self.all.map { Describe.attribute($0.name, type($0), optional: true) } : []
        let others = (extra + ["label"]).map { Describe.attribute($0, optional: true) }
        let page = EntityDescription(name: "Page", properties: attributes + others)
        return try Describe.model(EntityDescription(name: "Other"), page)
            .filtered { hasEntity || $0.name != "Page" }
    }

    /// The values of an object at a moment, through the newest model.
    private func held(
        _ id: ObjectID, _ fixture: StoreFixture, at moment: EventNumber? = nil
    ) throws -> [String: AttributeValue] {
        let dump = try StateDump(fixture.store, at: moment ?? fixture.store.head())
        return (dump.objects[id] ?? [:]).compactMapValues { if case .value(let value) = $0 { value } else { nil } }
    }

    private func expect(
        _ held: [String: AttributeValue], _ expected: (Conversion) -> AttributeValue?, _ comment: String,
        _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(!held.isEmpty, "\(comment)", sourceLocation: location)
        for conversion in Self.all {
            guard let expected = expected(conversion) else { continue }
            let value = held[conversion.name] ?? .null
            #expect(
                value.isIdentical(to: expected),
                "\(comment): \(conversion.from) \(conversion.value) as \(conversion.to): \(value), not \(expected)",
                sourceLocation: location)
        }
    }

    @Test(arguments: Between.allCases) func valuesThatWereNotChangedAreAsTheyWere(between: Between) throws {
        let store = MigratedStore()
        defer { store.remove() }
        let first = try model { $0.from }
        let values = Dictionary(uniqueKeysWithValues: Self.all.map { ($0.name, $0.value) })
        let (id, before, whole) = try store.open(first) { fixture in
            let id = try fixture.insert("Page", values)
            return (id, try held(id, fixture), try fixture.store.head())
        }
        for round in 1...2 {
            let converted = try store.open(model { $0.to }) { fixture in
                try expect(held(id, fixture), { $0.made }, "\(between), round \(round)")
                return try fixture.store.head()
            }
            switch between {
            case .nothing, .addsAttribute: break
            case .hidesAttributes: try store.open(model(hasAttributes: false) { $0.to }) { _ in }
            case .removesEntity: try store.open(model(hasEntity: false) { $0.to }) { _ in }
            }
            let last = between == .addsAttribute ? try model(with: ["extra\(round)"]) { $0.from } : first
            try store.open(last) { fixture in
                for moment in try [whole, converted, fixture.store.head()] {
                    try expect(held(id, fixture, at: moment), { before[$0.name] }, "\(between), as of \(moment)")
                }
                #expect(try fixture.store.convertedState(at: converted)?.problems.isEmpty ?? true)
                #expect(try fixture.store.rebuild().isUnchanged)
            }
        }
    }

    /// Each value is replaced by what the type makes of another one. A value that is the same counts as not changed.
    @Test(arguments: [false, true]) func valuesThatWereChangedAreConverted(isHidden: Bool) throws {
        let store = MigratedStore()
        defer { store.remove() }
        let others = Dictionary(
            uniqueKeysWithValues: Self.all.indices.map { index in
                let conversion = Self.all[index]
                let same = Self.all.filter { $0.from == conversion.from && $0.to == conversion.to }
                let place = same.firstIndex { $0.name == conversion.name } ?? 0
                return (conversion.name, same[(place + 1) % same.count].made)
            })
        let values = Dictionary(uniqueKeysWithValues: Self.all.map { ($0.name, $0.value) })
        let (id, before) = try store.open(model { $0.from }) { fixture in
            let id = try fixture.insert("Page", values)
            return (id, try held(id, fixture))
        }
        let made = try store.open(model { $0.to }) { fixture in
            try fixture.update(id, others)
            return try held(id, fixture)
        }
        if isHidden { try store.open(model(hasAttributes: false) { $0.to }) { _ in } }
        try store.open(model { $0.from }) { fixture in
            try expect(
                held(id, fixture),
                { conversion in
                    let now = made[conversion.name] ?? .null
                    if now.isIdentical(to: conversion.made) { return before[conversion.name] }
                    return now.converted(
                        from: Self.attribute("", conversion.to), to: Self.attribute("", conversion.from))
                }, "changed")
        }
    }

    /// A value that was changed and set back to what the conversion had made counts as not changed.
    @Test func aValueThatWasSetToWhatTheConversionMadeIsAsItWas() throws {
        let store = MigratedStore()
        defer { store.remove() }
        func model(_ type: AttributeType) throws -> ManagedObjectModel {
            try Describe.model(EntityDescription(name: "Page", properties: [Describe.attribute("number", type)]))
        }
        let (id, inserted) = try store.open(model(.string)) { fixture in
            (try fixture.insert("Page", ["number": "007"]), try fixture.insert("Page", ["number": "08"]))
        }
        let new = try store.open(model(.integer32)) { fixture in
            try fixture.update(id, ["number": 8])
            try fixture.update(id, ["number": 7])
            try fixture.update(inserted, ["number": 7])
            return try fixture.insert("Page", ["number": 7])
        }
        try store.open(model(.string)) { fixture in
            try #expect(held(id, fixture)["number"] == "007")
            try #expect(held(inserted, fixture)["number"] == "7")
            try #expect(held(new, fixture)["number"] == "7")
        }
    }

    /// A required number had its default where the optional text was nil.
    @Test func nilReturnsWhereTheOtherTypeWasRequired() throws {
        let store = MigratedStore()
        defer { store.remove() }
        let text = try Describe.model(
            EntityDescription(name: "Page", properties: [Describe.attribute("number", optional: true)]))
        let number = try Describe.model(
            EntityDescription(name: "Page", properties: [Describe.attribute("number", .integer32, default: 5)]))
        let ids = try store.open(text) { fixture in
            try [nil, "5", "05"].map { text in
                try fixture.insert("Page", ["number": text.map(AttributeValue.string) ?? .null])
            }
        }
        try store.open(number) { fixture in
            for id in ids { try #expect(held(id, fixture)["number"] == 5) }
        }
        try store.open(text) { fixture in
            for (id, text) in zip(ids, [nil, "5", "05"]) {
                try #expect(held(id, fixture)["number"] == text.map(AttributeValue.string) ?? .null)
            }
        }
    }

    /// An element of a composite that a model lacked returns, also where another element was changed meanwhile.
    @Test(arguments: [false, true]) func elementsOfCompositesReturn(isConverted: Bool) throws {
        let store = MigratedStore()
        defer { store.remove() }
        func model(_ elements: [AttributeDescription]) throws -> ManagedObjectModel {
            let place = AttributeDescription(name: "place", type: .composite, isOptional: true, elements: elements)
            return try Describe.model(EntityDescription(name: "Page", properties: [.attribute(place)]))
        }
        let (city, code) = (Self.attribute("city", .string), Self.attribute("code", .string))
        let first = try model([city, code])
        let whole = AttributeValue.composite(["city": "Bern", "code": "03000"])
        let ids = try store.open(first) { fixture in
            try (0..<3).map { _ in try fixture.insert("Page", ["place": whole]) }
        }
        try store.open(model([city] + (isConverted ? [Self.attribute("code", .integer64)] : []))) { fixture in
            let code: [String: AttributeValue] = isConverted ? ["code": 3000] : [:]
            try #expect(held(ids[0], fixture)["place"] == .composite(["city": "Bern"].merging(code) { $1 }))
            try fixture.update(ids[1], ["place": .composite(["city": "Thun"].merging(code) { $1 })])
            try fixture.update(ids[2], ["place": .null])
        }
        try store.open(first) { fixture in
            try #expect(held(ids[0], fixture)["place"] == whole)
            try #expect(held(ids[1], fixture)["place"] == .composite(["city": "Thun", "code": "03000"]))
            try #expect(held(ids[2], fixture)["place"] == .null)
        }
    }
}

extension ManagedObjectModel {
    fileprivate func filtered(_ isKept: (EntityDescription) -> Bool) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: entities.filter(isKept))
    }
}
