import Foundation
import StrataGraph
import StrataModel
import Testing

/// Values at the edge of what attributes, keys and rules take.
@Suite(.verifiesStores) struct ValuePortingTests {
    private func firstEvent(of object: ManagedObject, _ container: PersistentContainer) throws -> EventNumber {
        try #require(container.history(of: object.objectID).last?.eventNumber)
    }

    @Test func longTextsThatDifferAtTheirEndAreDifferent() throws {
        let container = try Porting.container([
            EntityDescription(
                name: "Item",
                properties: [
                    Porting.attribute("key", .string), Porting.attribute("path", .string),
                    Porting.attribute("rank", .integer32),
                ],
                indexes: [Porting.index("byPath", "path", "rank")], uniquenessConstraints: [["key"]])
        ])
        let context = container.newBackgroundContext()
        let heads = [
            String(repeating: "x", count: 490), String(repeating: "ä", count: 260), String(repeating: "🎬", count: 130),
            String(repeating: "y", count: 499), String(repeating: "z", count: 498) + "é",
            String(repeating: "w", count: 5000),
        ]
        var wanted: [String] = []
        for head in heads {
            for (place, tail) in ["c", "a", "b", "", "aa", "\u{10FFFF}"].enumerated() {
                try context.make("Item", ["key": head + tail, "path": head + tail, "rank": 100 - place])
                wanted.append(head + tail)
            }
        }
        try context.save()
        let other = container.newBackgroundContext()
        for text in wanted {
            #expect(try other.find("Item", "key == %@", [text]).count == 1)
            #expect(try other.find("Item", "path == %@", [text]).count == 1)
            #expect(try other.find("Item", "path == %@ AND rank < 1000", [text]).count == 1)
            #expect(try other.find("Item", "path == %@ AND rank > 1000", [text]).isEmpty)
        }
        for (isAscending, limit, offset) in [(true, 0, 0), (false, 0, 0), (true, 5, 3), (false, 7, 1)] {
            let found = try other.find(
                "Item", sortedBy: [SortDescription("path", isAscending: isAscending)], limit: limit, offset: offset
            ).map { try $0.text("path") ?? "" }
            let all = wanted.sorted { left, right in
                isAscending
                    ? left.unicodeScalars.lexicographicallyPrecedes(right.unicodeScalars)
                    : right.unicodeScalars.lexicographicallyPrecedes(left.unicodeScalars)
            }
            let end = limit == 0 ? all.count : min(all.count, offset + limit)
            #expect(found == Array(all[offset..<end]), "\(isAscending) \(limit) \(offset)")
        }
        for head in heads {
            let several = wanted.filter { $0.unicodeScalars.starts(with: head.unicodeScalars) }
            #expect(try other.find("Item", "path BEGINSWITH %@", [head]).count == several.count)
            let greater = wanted.filter { (head + "a").unicodeScalars.lexicographicallyPrecedes($0.unicodeScalars) }
            #expect(try other.find("Item", "path > %@", [head + "a"]).count == greater.count)
            let atMost = wanted.filter { !(head + "a").unicodeScalars.lexicographicallyPrecedes($0.unicodeScalars) }
            #expect(try other.find("Item", "path <= %@", [head + "a"]).count == atMost.count)
        }
        try other.make("Item", ["key": heads[5] + "aa"])
        #expect(thrownError { try other.save() }?.code == .constraintMerge)
        other.rollback()
        // Two long values change places.
        let first = try #require(try other.find("Item", "key == %@", [heads[5] + "a"]).first)
        let second = try #require(try other.find("Item", "key == %@", [heads[5] + "b"]).first)
        try first.setValue(heads[5] + "b", forKey: "key")
        try second.setValue(heads[5] + "a", forKey: "key")
        try other.save()
        other.delete(first)
        try other.make("Item", ["key": heads[5] + "b"])
        try other.save()
        #expect(try other.find("Item", "key == %@", [heads[5] + "b"]).count == 1)
    }

    @Test func farDatesAreKeptAndWrongOnesRefused() throws {
        let container = try Porting.container([
            EntityDescription(
                name: "Item", properties: [Porting.attribute("date", .date)], indexes: [Porting.index("byDate", "date")]
            )
        ])
        let context = container.newBackgroundContext()
        let dates: [Date] = [
            Date(timeIntervalSinceReferenceDate: -1e300), .distantPast, Date(timeIntervalSinceReferenceDate: -0.1),
            Date(timeIntervalSinceReferenceDate: 0), Date(timeIntervalSinceReferenceDate: 1e-9), .distantFuture,
            Date(timeIntervalSinceReferenceDate: 1e300),
        ]
        for date in dates.reversed() { try context.make("Item", ["date": date]) }
        try context.save()
        let other = container.newBackgroundContext()
        let found = try other.find("Item", sortedBy: [SortDescription("date")]).map { try $0.value(forKey: "date") }
        #expect(found as? [Date] == dates)
        for (place, date) in dates.enumerated() {
            #expect(try other.find("Item", "date <= %@", [date]).count == place + 1)
        }
        try context.make("Item", ["date": Date(timeIntervalSinceReferenceDate: .nan)])
        #expect(thrownError { try context.save() }?.code == .validationInvalidDate)
    }

    @Test func emptyValuesAreNotNil() throws {
        let container = try Porting.container([
            EntityDescription(
                name: "Item",
                properties: [
                    Porting.attribute("text", .string), Porting.attribute("data", .binaryData),
                    Porting.attribute("number", .integer64),
                ], indexes: [Porting.index("byText", "text"), Porting.index("byData", "data")],
                uniquenessConstraints: [["text", "number"]])
        ])
        let context = container.newBackgroundContext()
        try context.make("Item", ["text": "", "data": Data(), "number": 1])
        try context.make("Item", ["text": "", "number": 2])
        try context.make("Item", ["number": 1])
        try context.make("Item", ["number": 1])
        try context.make("Item", ["text": ""])
        try context.make("Item", ["text": ""])
        try context.save()
        #expect(try context.find("Item", "text == ''").count == 4)
        #expect(try context.find("Item", "text == nil").count == 2)
        #expect(try context.find("Item", "data == nil").count == 5)
        #expect(try context.find("Item", "data == %@", [Data()]).count == 1)
        try context.make("Item", ["text": "", "number": 1])
        #expect(thrownError { try context.save() }?.code == .constraintMerge)
    }

    @Test func threeHundredAttributesChangeOneByOne() throws {
        let properties = (0..<300).map { Porting.attribute("p\($0)", $0 % 3 == 0 ? .string : .integer32) }
        let container = try Porting.container([
            EntityDescription(name: "Wide", properties: properties, indexes: [Porting.index("last", "p299", "p298")])
        ])
        let context = container.newBackgroundContext()
        context.undoManager = ObjectUndoManager()
        let wide = try context.make("Wide")
        for place in 0..<300 where place % 2 == 0 {
            if place % 3 == 0 {
                try wide.setValue("v\(place)", forKey: "p\(place)")
            } else {
                try wide.setValue(place, forKey: "p\(place)")
            }
        }
        try context.save()
        let other = container.newBackgroundContext()
        let theirs = try other.existingObject(with: wide.objectID)
        try theirs.setValue("theirs", forKey: "p297")
        try other.save()
        try wide.setValue("mine", forKey: "p288")
        try wide.setValue(298, forKey: "p64")
        try wide.setValue(nil, forKey: "p0")
        #expect(Set(wide.changedValues.keys) == ["p288", "p64", "p0"])
        try context.save()
        #expect(try wide.text("p297") == "theirs" && wide.text("p288") == "mine" && wide.value(forKey: "p0") == nil)
        try context.undoManager?.undo()
        #expect(try wide.text("p297") == "theirs" && wide.text("p288") == "v288" && wide.text("p0") == "v0")
        try context.save()
        try wide.setValue("x", forKey: "p294")
        context.rollback()
        #expect(try wide.text("p294") == "v294" && wide.changedValues.isEmpty)
        #expect(try context.find("Wide", "p298 == 298").count == 1)
        let first = try #require(container.transactions().first { try $0.lastEvent >= firstEvent(of: wide, container) })
        let past = try container.context(asOf: .transaction(first.number))
        #expect(try past.existingObject(with: wide.objectID).text("p288") == "v288")
    }

    @Test func anEntityWithoutAttributesIsAnEntity() throws {
        let container = try Porting.container([
            EntityDescription(name: "switch"), EntityDescription(name: "Where"),
            EntityDescription(
                name: "Guard", properties: [Porting.attribute("case", .string), Porting.one("default", "switch", nil)]),
        ])
        let context = container.newBackgroundContext()
        let empty = try context.make("switch")
        try context.make("Where")
        let named = try context.make("Guard", ["case": "in", "default": empty])
        try context.save()
        #expect(try context.find("Guard", "%K == 'in'", ["case"]) == [named])
        #expect(try context.find("Guard", "default == %@", [empty]) == [named])
        #expect(try context.find("switch") == [empty])
        context.delete(empty)
        try context.save()
        #expect(try named.value(forKey: "default") == nil && context.find("switch").isEmpty)
        #expect(try container.history(of: empty.objectID).count == 2)
    }

    @Test func everyRuleHasItsCode() throws {
        let container = try Porting.container([
            EntityDescription(
                name: "Item",
                properties: [
                    Porting.attribute("number", .integer32, .range(minimum: .integer(1), maximum: .integer(5))),
                    Porting.attribute("double", .double, .range(minimum: .double(0), maximum: nil)),
                    Porting.attribute("money", .decimal, .range(minimum: .decimal(1), maximum: .decimal(2))),
                    Porting.attribute(
                        "date", .date,
                        .range(
                            minimum: .date(Date(timeIntervalSinceReferenceDate: 10)),
                            maximum: .date(Date(timeIntervalSinceReferenceDate: 20)))),
                    Porting.attribute("text", .string, .length(minimum: 2, maximum: 3), .pattern("[a-c]*")),
                    Porting.attribute("needed", .string, isOptional: false, default: .string("x")),
                    Porting.many("parts", "Part", "whole"),
                    .relationship(
                        RelationshipDescription(
                            name: "few", destinationEntityName: "Part", inverseName: "few", isToMany: true, minCount: 2,
                            maxCount: 3)),
                ]),
            EntityDescription(
                name: "Part",
                properties: [
                    .relationship(
                        RelationshipDescription(
                            name: "whole", destinationEntityName: "Item", inverseName: "parts", isOptional: false)),
                    Porting.one("few", "Item", "few"),
                ]),
        ])
        let context = container.newBackgroundContext()
        func code(_ values: [String: Any?]) throws -> [Int] {
            let item = try context.make("Item")
            for (key, value) in values { try item.setValue(value, forKey: key) }
            defer { context.rollback() }
            guard let error = thrownError({ try context.save() }) else { return [] }
            return (error.code == .validationMultipleErrors ? error.details : [error]).map(\.code.rawValue).sorted()
        }
        #expect(try code(["number": 6]) == [1610])
        #expect(try code(["number": 0]) == [1620])
        #expect(try code(["double": -1.0]) == [1620])
        #expect(try code(["double": Double.nan]) == [1550])
        #expect(try code(["money": Decimal(3)]) == [1610])
        #expect(try code(["date": Date(timeIntervalSinceReferenceDate: 21)]) == [1630])
        #expect(try code(["date": Date(timeIntervalSinceReferenceDate: 9)]) == [1640])
        #expect(try code(["date": Date(timeIntervalSinceReferenceDate: .infinity)]).contains(1650))
        #expect(try code(["text": "abca"]) == [1660])
        #expect(try code(["text": "a"]) == [1670])
        #expect(try code(["text": "xyz"]) == [1680])
        #expect(try code(["text": "xyzx", "number": 9]) == [1610, 1660, 1680])
        #expect(try code(["needed": nil]) == [1570])
        let item = try context.make("Item")
        try context.save()
        let parts = try (0..<4).map { _ in try context.make("Part", ["whole": item]) }
        try context.save()
        try item.setValue([parts[0]], forKey: "few")
        #expect(thrownError { try context.save() }?.code.rawValue == 1580)
        try item.setValue(parts, forKey: "few")
        #expect(thrownError { try context.save() }?.code.rawValue == 1590)
        context.rollback()
        try parts[0].setValue(nil, forKey: "whole")
        #expect(thrownError { try context.save() }?.code.rawValue == 1570)
        context.rollback()
        context.delete(item)
        let error = thrownError { try context.save() }
        #expect(
            error?.code == .validationMultipleErrors && error?.details.map(\.code.rawValue) == [1570, 1570, 1570, 1570])
    }

    @Test func aTransientAttributeBeginsWithItsDefaultAndTakesItsTypeOnly() throws {
        let container = try Porting.container([
            EntityDescription(
                name: "Item",
                properties: [
                    .attribute(
                        AttributeDescription(
                            name: "count", type: .integer32, isOptional: true, isTransient: true,
                            defaultValue: .integer(7))),
                    Porting.attribute("name", .string),
                ])
        ])
        let context = container.newBackgroundContext()
        let item = try context.make("Item", ["name": "a"])
        #expect(try item.value(forKey: "count") as? Int32 == 7)
        #expect(thrownError { try item.setValue("seven", forKey: "count") }?.code == .wrongType)
        try item.setValue(8, forKey: "count")
        #expect(try item.value(forKey: "count") as? Int32 == 8)
        try context.save()
        #expect(try item.value(forKey: "count") as? Int32 == 8)
        context.refresh(item, mergeChanges: false)
        #expect(try item.value(forKey: "count") as? Int32 == 7)
        try item.setValue(nil, forKey: "count")
        #expect(try item.value(forKey: "count") == nil)
    }

    @Test func urlsAndUUIDsAreOrderedAsTheirTexts() throws {
        let container = try Porting.container([
            EntityDescription(
                name: "Item",
                properties: [
                    Porting.attribute("url", .uri), Porting.attribute("id", .uuid), Porting.attribute("plain", .uuid),
                    Porting.attribute("link", .uri),
                ],
                indexes: [Porting.index("byURL", "url"), Porting.index("byID", "id")])
        ])
        let context = container.newBackgroundContext()
        var ids: [UUID] = []
        for place in 0..<40 {
            let id = UUID()
            ids.append(id)
            let url = try #require(URL(string: "https://example.org/\(id.uuidString)/\(place % 3)?a=ä&b=%20#f"))
            try context.make("Item", ["url": url, "link": url, "id": id, "plain": id])
        }
        try context.save()
        let sorted = ids.sorted { $0.uuidString < $1.uuidString }
        for key in ["id", "plain", "url", "link"] {
            let found = try context.find("Item", sortedBy: [SortDescription(key)]).map { try $0.value(forKey: "id") }
            #expect(found as? [UUID] == sorted, "\(key)")
        }
        for key in ["id", "plain"] {
            #expect(try context.find("Item", "\(key) < %@", [sorted[20]]).count == 20)
            #expect(try context.find("Item", "\(key) IN %@", [[sorted[1], sorted[5]]]).count == 2)
        }
    }

    @Test func anotherSpellingOfATextIsAChange() throws {
        let container = try Porting.container([
            EntityDescription(
                name: "Item",
                properties: [
                    Porting.attribute("name", .string), Porting.attribute("number", .double),
                    .attribute(
                        AttributeDescription(
                            name: "place", type: .composite, isOptional: true,
                            elements: [AttributeDescription(name: "city", type: .string, isOptional: true)])),
                ],
                indexes: [Porting.index("byName", "name")], uniquenessConstraints: [["name"]])
        ])
        let context = container.newBackgroundContext()
        context.undoManager = ObjectUndoManager()
        let (short, long) = ("caf\u{E9}", "cafe\u{301}")
        let item = try context.make("Item", ["name": long, "number": 0.0, "place": ["city": long]])
        try context.save()
        func expect(_ wanted: String, _ context: ManagedObjectContext? = nil) throws {
            let context = context ?? container.newBackgroundContext()
            let found = try context.existingObject(with: item.objectID)
            #expect(try found.text().map { Array($0.utf8) } == Array(wanted.utf8))
            let city = (try found.value(forKey: "place") as? [String: Any?])?["city"] as? String
            #expect(city.map { Array($0.utf8) } == Array(wanted.utf8))
        }
        func spell(_ item: ManagedObject, _ name: String, _ number: Double) throws {
            try item.setValue(name, forKey: "name")
            try item.setValue(["city": name], forKey: "place")
            try item.setValue(number, forKey: "number")
        }
        try spell(item, short, -0.0)
        try context.save()
        try expect(short)
        let number = try container.newBackgroundContext().existingObject(with: item.objectID).value(forKey: "number")
        #expect((number as? Double)?.sign == .minus)
        let child = try context.newChildContext()
        try spell(child.existingObject(with: item.objectID), long, 0.0)
        try child.save()
        try expect(long, context)
        try context.save()
        try expect(long)
        try context.undoManager?.undo()
        try expect(short, context)
        try context.save()
        try expect(short)
        try context.revert(try #require(container.transactions().last?.number))
        try expect(long, context)
        try context.save()
        try expect(long)
        #expect(try context.find("Item", "name == %@", [short]).count == 1)
        #expect(try container.history(of: item.objectID).count == 5)
    }
}
