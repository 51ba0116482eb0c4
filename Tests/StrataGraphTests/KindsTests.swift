import Foundation
import StrataGraph
import StrataModel
import Testing

@Suite(.verifiesStores) struct KindsTests {
    let container: PersistentContainer
    let context: ManagedObjectContext

    init() throws {
        ValueTransformer.setValueTransformer(ColorTransformer(), forName: "Color")
        container = try makeContainer([Kinds.self])
        context = container.newBackgroundContext()
    }

    @Test func textOfEveryShortLengthReadsAsItWasWritten() throws {
        let letters = "abcdefghijklmnopqrstu"
        var written: [ObjectID: String] = [:]
        for length in 0...letters.count {
            for tail in ["", "ü", "🎬"] {
                let kinds = try filled()
                kinds.text = letters.prefix(length) + tail
                written[kinds.objectID] = kinds.text
                #expect(
                    kinds.text == letters.prefix(length) + tail && kinds.text.utf8.count == length + tail.utf8.count)
            }
        }
        try context.save()
        let other = container.newBackgroundContext()
        for (id, text) in written { #expect(try other.existingObject(with: id, as: Kinds.self).text == text) }
    }

    /// A value with parts prints as in the history, whatever types the parts have.
    @Test func aPrintedObjectShowsThePartsOfItsValues() throws {
        let kinds = try filled()
        #expect(kinds.description.contains(#"place: (coordinates: "#), "\(kinds)")
        try context.save()
        let event = try #require(try container.history(of: kinds.objectID).first)
        let recorded = try #require(event.changes.first { $0.key == "place" })
        #expect("\(kinds)".contains("place: \(recorded.after)"), "\(kinds)")
        #expect(!"\(kinds)".contains("Optional("), "\(kinds)")
    }

    private func filled() throws -> Kinds {
        let kinds = Kinds(context: context)
        kinds.text = "Grüße 🎬 long enough to be on the heap"
        kinds.textOrNil = ""
        kinds.flag = false
        kinds.flagOrNil = true
        kinds.small = .min
        kinds.medium = .max
        kinds.large = .min
        kinds.plain = 42
        kinds.plainOrNil = -1
        kinds.single = 1.5
        kinds.double = -.pi
        kinds.doubleOrNil = .infinity
        kinds.money = Decimal(string: "12345678901234567890.12345")!
        kinds.moneyOrNil = Decimal(string: "-0.01")!
        kinds.date = Date(timeIntervalSinceReferenceDate: 0.25)
        kinds.id = UUID(uuidString: "12345678-1234-1234-1234-123456789ABC")
        kinds.url = URL(string: "https://example.com/a?b=c#d")
        kinds.data = Data([0, 1, 255])
        kinds.photo = Data(repeating: 7, count: 10)
        kinds.other = kinds.objectID
        kinds.mood = .wild
        kinds.moodOrNil = .calm
        kinds.priority = .high
        kinds.place = Place(street: "Main", coordinates: [1.5, -2], floor: nil)
        kinds.shape = .circle(radius: 2)
        kinds.tags = ["a", "b"]
        kinds.color = Color(red: 1, green: 0.5, blue: 0)
        kinds.note = [1, 2]
        return kinds
    }

    private func expectFilled(_ kinds: Kinds) {
        #expect(kinds.text == "Grüße 🎬 long enough to be on the heap" && kinds.textOrNil == "")
        #expect(kinds.flag == false && kinds.flagOrNil == true)
        #expect(kinds.small == .min && kinds.medium == .max && kinds.large == .min)
        #expect(kinds.plain == 42 && kinds.plainOrNil == -1)
        #expect(kinds.single == 1.5 && kinds.double == -.pi && kinds.doubleOrNil == .infinity)
        #expect(kinds.money == Decimal(string: "12345678901234567890.12345")!)
        #expect(kinds.moneyOrNil == Decimal(string: "-0.01")!)
        #expect(kinds.date == Date(timeIntervalSinceReferenceDate: 0.25))
        #expect(kinds.id == UUID(uuidString: "12345678-1234-1234-1234-123456789ABC"))
        #expect(kinds.url == URL(string: "https://example.com/a?b=c#d"))
        #expect(kinds.data == Data([0, 1, 255]) && kinds.photo == Data(repeating: 7, count: 10))
        #expect(kinds.other == kinds.objectID)
        #expect(kinds.mood == .wild && kinds.moodOrNil == .calm && kinds.priority == .high)
        #expect(kinds.place == Place(street: "Main", coordinates: [1.5, -2], floor: nil))
        #expect(kinds.shape == .circle(radius: 2) && kinds.tags == ["a", "b"])
        #expect(kinds.color == Color(red: 1, green: 0.5, blue: 0))
        #expect("\(kinds)".contains("color: Color(red: 1.0, green: 0.5, blue: 0.0)"), "\(kinds)")
    }

    @Test func everyTypeComesBackInMemoryAndFromTheStore() throws {
        let kinds = try filled()
        expectFilled(kinds)
        #expect(kinds.note == [1, 2])
        try context.save()
        expectFilled(kinds)
        let other = container.newBackgroundContext()
        let again = try other.existingObject(with: kinds.objectID, as: Kinds.self)
        expectFilled(again)
        #expect(again.note == nil)
        kinds.text = "changed"
        try context.save()
        #expect(kinds.text == "changed" && kinds.tags == ["a", "b"])
    }

    @Test func aNewObjectHasItsDefaultsAndNothingElse() throws {
        let kinds = Kinds(context: context)
        #expect(kinds.flag && kinds.small == -7 && kinds.mood == .calm && kinds.priority == .low)
        #expect(kinds.shape == .point && kinds.tags == [])
        #expect(kinds.text == "" && kinds.textOrNil == nil && kinds.double == 0 && kinds.doubleOrNil == nil)
        #expect(kinds.money == 0 && kinds.place == nil && kinds.color == nil && kinds.date == nil && kinds.url == nil)
    }

    @Test func optionalsBecomeNilAgain() throws {
        let kinds = try filled()
        try context.save()
        kinds.textOrNil = nil
        kinds.flagOrNil = nil
        kinds.plainOrNil = nil
        kinds.moneyOrNil = nil
        kinds.date = nil
        kinds.photo = nil
        kinds.moodOrNil = nil
        kinds.place = nil
        kinds.color = nil
        try context.save()
        let other = container.newBackgroundContext()
        let third = try other.existingObject(with: kinds.objectID, as: Kinds.self)
        #expect(third.textOrNil == nil && third.flagOrNil == nil && third.plainOrNil == nil && third.moneyOrNil == nil)
        #expect(third.date == nil && third.photo == nil && third.moodOrNil == nil && third.place == nil)
        #expect(third.color == nil && third.text == kinds.text)
    }

    @Test func missingMandatoryValuesAreToldTogether() throws {
        _ = Kinds(context: context)
        let error = thrownError { try context.save() }
        #expect(error?.code == .validationMultipleErrors)
        let keys = Set(error?.details.compactMap(\.context.key) ?? [])
        #expect(keys == ["text", "medium", "large", "plain", "single", "double", "money"])
        #expect(error?.details.allSatisfy { $0.code == .validationMissingMandatoryProperty } ?? false)
    }

    @Test func largeDataGoesToAFileAndComesBack() throws {
        let kinds = try filled()
        let large = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        kinds.photo = large
        try context.save()
        #expect(kinds.photo == large)
        let other = container.newBackgroundContext()
        let again = try other.existingObject(with: kinds.objectID, as: Kinds.self)
        #expect(again.photo == large)
        #expect(try again.value(forKey: "photo") as? Data == large)
        let committed = try again.committedValues(forKeys: ["photo"])
        guard case .blob(let reference)? = committed["photo"] else {
            Issue.record("The value stands in the row.")
            return
        }
        #expect(reference.sizeInBytes == 200_000)
        again.text = "other"
        try other.save()
        #expect(again.photo == large)
    }

    @Test func aTransformableThatIsOfAnotherTypeIsRefused() throws {
        let kinds = try filled()
        try context.save()
        let other = container.newBackgroundContext()
        let again = try other.existingObject(with: kinds.objectID, as: Kinds.self)
        try again.setValue(AttributeValue.data(Data("intruder".utf8)), forKey: "color")
        #expect(again.color == nil && "\(again)".contains("color: 8 bytes"))
        #expect(thrownError { _ = try again.value(forKey: "color") }?.code == .transformation)
        #expect(thrownError { try other.save() }?.code == .transformation)
        #expect(thrownError { try again.setValue("no color", forKey: "color") }?.code == .transformation)
    }

    @Test func manyWritesOfAStringKeepTheRowSmall() throws {
        let kinds = try filled()
        for number in 0..<10_000 { kinds.text = "text number \(number)" }
        #expect(kinds.text == "text number 9999" && kinds.textOrNil == "" && kinds.tags == ["a", "b"])
        try context.save()
        expectUnchangedBut(kinds)
    }

    /// Short ASCII is made of its bytes by hand; it is the same String as any other, in every way that shows.
    @Test func textsOfEveryLengthComeBackAsTheyWent() throws {
        let kinds = try filled()
        let signs = ["a", "\0", "\u{7F}", "\u{80}", "é", "€", "😀"]
        for length in 0...20 {
            for sign in signs {
                for place in 0...max(0, length - 1) {
                    var characters = (0..<length).map { String(UnicodeScalar(UInt8(97 + $0))) }
                    if length > 0 { characters[place] = sign }
                    let text = characters.joined()
                    kinds.text = text
                    let read = kinds.text
                    guard Array(read.utf8) == Array(text.utf8), read == text, read.hashValue == text.hashValue else {
                        Issue.record("\(text.debugDescription) was read as \(read.debugDescription)")
                        continue
                    }
                    #expect(
                        read.count == text.count && (read + "x") == (text + "x") && read.dropFirst() == text.dropFirst()
                    )
                }
            }
        }
    }

    private func expectUnchangedBut(_ kinds: Kinds) {
        #expect(kinds.url == URL(string: "https://example.com/a?b=c#d") && kinds.mood == .wild)
    }
}
