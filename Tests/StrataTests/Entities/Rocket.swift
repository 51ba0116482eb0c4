import Foundation
import Strata

/// Codable, and no attribute of a model by itself.
struct Nozzle: Codable, Equatable {
    var name: String
    var angles: [Double]
}

/// What is in memory only, what is computed, and what the standard transformer stores.
@Entity final class Rocket: ManagedObject {
    var name: String
    @Attribute(.transient) var speed: Int = 3
    @Attribute(.transient) var height: Double? = 0.5
    @Attribute(.transient) var mood: Mood = .calm
    @Attribute(.transient) var trail: [String] = ["pad"]
    @Attribute(.transformable) var nozzle: Nozzle?
    @Attribute(.transformable) var stages: [String]?
    @Attribute(.transformable(by: "NSSecureUnarchiveFromData")) var names: [String: Int]?
    @Attribute(.transformable(by: "NSSecureUnarchiveFromDataTransformer")) var angles: Set<Double>?
    @Attribute(.transformable(by: "NSSecureUnarchiveFromData")) var manifest: NSDictionary?
    @Transient var crew = 2
    @Transient var builder: String? = "Korolev"
    var title: String { "Rocket \(name)" }
    var nick: String? { name.isEmpty ? nil : String(name.prefix(1)) }
    var weight: Int {
        get { stages?.count ?? 0 }
        set { stages = Array(repeating: "stage", count: newValue) }
    }
    var remote: Int { get throws { 1 } }
    private var secret: Int { 1 }
    static var shared: Int { 1 }
}
