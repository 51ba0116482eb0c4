import Foundation
import Strata

enum Mood: String, Sendable { case calm, wild }
enum Priority: Int16, Sendable { case low = 1, high = 2 }
struct Place: Codable, Sendable, Equatable {
    var street = ""
    var floor: Int?
}
/// Neither storable nor Codable.
final class Scratch { var text = "" }

/// Every kind of attribute, and every way to write one.
@Entity final class Kinds: ManagedObject {
    var text: String = "none"
    var flag: Bool = true
    var small: Int16 = -16
    var medium: Int32 = 32
    var large: Int64 = 64
    var plain: Int = 1_000
    var single: Float = 0.5
    var double: Double = -2
    var money: Decimal = 1.25
    var date: Date = Date(timeIntervalSinceReferenceDate: 86_400)
    var uuid: UUID?
    var url: URL?
    var data: Data = Data([1, 2, 3])
    var reference: ObjectID?
    var mood: Mood = .calm
    var moodOrNil: Mood?
    var priority: Priority? = .high
    var place: Place = Place(street: "Main")
    var placeOrNil: Place?
    var words: [String] = ["a", "b"]
    var spelledOut: Optional<Int> = 3
    var unwrapped: String!
    var `default`: Bool = false
    var `internal`: Int?
    private(set) var counter: Int = 0
    private var secret: String?
    @Attribute(.transient) var scratch: Scratch?
    @Attribute(.renamed(from: "old"), .userInfo(["unit": "m"]), .versionHashModifier("2")) var width: Double?
    @Transient var outside = 7
    @Transient lazy var expensive = "made once"
    var shout: String { text.uppercased() }
    static let limit = 3

    func count() { counter += 1 }
    var hidden: String? {
        get { secret }
        set { secret = newValue }
    }
}
