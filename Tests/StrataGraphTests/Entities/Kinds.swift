import Foundation
import StrataGraph
import StrataModel

enum Mood: String, Sendable { case calm, wild }
enum Priority: Int, Sendable { case low = 1, high = 2 }
struct Place: Codable, Sendable, Equatable {
    var street: String
    var coordinates: [Double]
    var floor: Int?
}
enum Shape: Codable, Sendable, Equatable {
    case point
    case circle(radius: Double)
}
/// Neither Codable nor storable: only a transformer knows it.
struct Color: Equatable {
    var red: Double, green: Double, blue: Double
}
final class ColorTransformer: ValueTransformer, SecureValueTransforming, @unchecked Sendable {
    static var allowedTopLevelTypes: [Any.Type] { [Color.self] }
    override func transformedValue(_ value: Any?) -> Any? {
        guard let color = value as? Color else { return nil }
        return Data("\(color.red) \(color.green) \(color.blue)".utf8)
    }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data else { return nil }
        let text = String(decoding: data, as: UTF8.self)
        // Bytes of another type come back as that type, for the tests of what is refused.
        if text.hasPrefix("intruder") { return text }
        let parts = text.split(separator: " ").compactMap { Double($0) }
        return parts.count == 3 ? Color(red: parts[0], green: parts[1], blue: parts[2]) : nil
    }
}

/// One attribute of every type.
final class Kinds: ManagedObject {
    var text: String {
        get { _get(Kinds._propertyBase_Kinds + 0) }
        set { _set(Kinds._propertyBase_Kinds + 0, newValue) }
    }
    var textOrNil: String? {
        get { _get(Kinds._propertyBase_Kinds + 1) }
        set { _set(Kinds._propertyBase_Kinds + 1, newValue) }
    }
    var flag: Bool {
        get { _get(Kinds._propertyBase_Kinds + 2) }
        set { _set(Kinds._propertyBase_Kinds + 2, newValue) }
    }
    var flagOrNil: Bool? {
        get { _get(Kinds._propertyBase_Kinds + 3) }
        set { _set(Kinds._propertyBase_Kinds + 3, newValue) }
    }
    var small: Int16 {
        get { _get(Kinds._propertyBase_Kinds + 4) }
        set { _set(Kinds._propertyBase_Kinds + 4, newValue) }
    }
    var medium: Int32 {
        get { _get(Kinds._propertyBase_Kinds + 5) }
        set { _set(Kinds._propertyBase_Kinds + 5, newValue) }
    }
    var large: Int64 {
        get { _get(Kinds._propertyBase_Kinds + 6) }
        set { _set(Kinds._propertyBase_Kinds + 6, newValue) }
    }
    var plain: Int {
        get { _get(Kinds._propertyBase_Kinds + 7) }
        set { _set(Kinds._propertyBase_Kinds + 7, newValue) }
    }
    var plainOrNil: Int? {
        get { _get(Kinds._propertyBase_Kinds + 8) }
        set { _set(Kinds._propertyBase_Kinds + 8, newValue) }
    }
    var single: Float {
        get { _get(Kinds._propertyBase_Kinds + 9) }
        set { _set(Kinds._propertyBase_Kinds + 9, newValue) }
    }
    var double: Double {
        get { _get(Kinds._propertyBase_Kinds + 10) }
        set { _set(Kinds._propertyBase_Kinds + 10, newValue) }
    }
    var doubleOrNil: Double? {
        get { _get(Kinds._propertyBase_Kinds + 11) }
        set { _set(Kinds._propertyBase_Kinds + 11, newValue) }
    }
    var money: Decimal {
        get { _get(Kinds._propertyBase_Kinds + 12) }
        set { _set(Kinds._propertyBase_Kinds + 12, newValue) }
    }
    var moneyOrNil: Decimal? {
        get { _get(Kinds._propertyBase_Kinds + 13) }
        set { _set(Kinds._propertyBase_Kinds + 13, newValue) }
    }
    var date: Date? {
        get { _get(Kinds._propertyBase_Kinds + 14) }
        set { _set(Kinds._propertyBase_Kinds + 14, newValue) }
    }
    var id: UUID? {
        get { _get(Kinds._propertyBase_Kinds + 15) }
        set { _set(Kinds._propertyBase_Kinds + 15, newValue) }
    }
    var url: URL? {
        get { _get(Kinds._propertyBase_Kinds + 16) }
        set { _set(Kinds._propertyBase_Kinds + 16, newValue) }
    }
    var data: Data? {
        get { _get(Kinds._propertyBase_Kinds + 17) }
        set { _set(Kinds._propertyBase_Kinds + 17, newValue) }
    }
    var photo: Data? {
        get { _get(Kinds._propertyBase_Kinds + 18) }
        set { _set(Kinds._propertyBase_Kinds + 18, newValue) }
    }
    var other: ObjectID? {
        get { _get(Kinds._propertyBase_Kinds + 19) }
        set { _set(Kinds._propertyBase_Kinds + 19, newValue) }
    }
    var mood: Mood {
        get { _get(Kinds._propertyBase_Kinds + 20) }
        set { _set(Kinds._propertyBase_Kinds + 20, newValue) }
    }
    var moodOrNil: Mood? {
        get { _get(Kinds._propertyBase_Kinds + 21) }
        set { _set(Kinds._propertyBase_Kinds + 21, newValue) }
    }
    var priority: Priority {
        get { _get(Kinds._propertyBase_Kinds + 22) }
        set { _set(Kinds._propertyBase_Kinds + 22, newValue) }
    }
    var place: Place? {
        get { _get(Kinds._propertyBase_Kinds + 23) }
        set { _set(Kinds._propertyBase_Kinds + 23, newValue) }
    }
    var shape: Shape {
        get { _get(Kinds._propertyBase_Kinds + 24) }
        set { _set(Kinds._propertyBase_Kinds + 24, newValue) }
    }
    var tags: [String] {
        get { _get(Kinds._propertyBase_Kinds + 25) }
        set { _set(Kinds._propertyBase_Kinds + 25, newValue) }
    }
    var color: Color? {
        get { _getTransformed(Kinds._propertyBase_Kinds + 26) }
        set { _setTransformed(Kinds._propertyBase_Kinds + 26, newValue) }
    }
    var note: [Int]? {
        get { _getTransient(Kinds._propertyBase_Kinds + 27) }
        set { _setTransient(Kinds._propertyBase_Kinds + 27, newValue) }
    }

    nonisolated static var _propertyBase_Kinds: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Kinds: Int { _propertyBase_Kinds + 28 }
    nonisolated override class var entityName: String { "Kinds" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Kinds.self, superclass: ManagedObject.self) { Kinds._describe_Kinds(&$0) }
    }
    nonisolated static func _describe_Kinds<Leaf: Kinds>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.text, "text")
        entity.property(\Leaf.textOrNil, "textOrNil")
        entity.property(\Leaf.flag, "flag", default: true)
        entity.property(\Leaf.flagOrNil, "flagOrNil")
        entity.property(\Leaf.small, "small", default: -7)
        entity.property(\Leaf.medium, "medium")
        entity.property(\Leaf.large, "large")
        entity.property(\Leaf.plain, "plain")
        entity.property(\Leaf.plainOrNil, "plainOrNil")
        entity.property(\Leaf.single, "single")
        entity.property(\Leaf.double, "double")
        entity.property(\Leaf.doubleOrNil, "doubleOrNil")
        entity.property(\Leaf.money, "money")
        entity.property(\Leaf.moneyOrNil, "moneyOrNil")
        entity.property(\Leaf.date, "date")
        entity.property(\Leaf.id, "id")
        entity.property(\Leaf.url, "url")
        entity.property(\Leaf.data, "data")
        entity.property(\Leaf.photo, "photo", .externalStorage)
        entity.property(\Leaf.other, "other")
        entity.property(\Leaf.mood, "mood", default: .calm)
        entity.property(\Leaf.moodOrNil, "moodOrNil")
        entity.property(\Leaf.priority, "priority", default: .low)
        entity.property(\Leaf.place, "place")
        entity.property(\Leaf.shape, "shape", default: .point)
        entity.property(\Leaf.tags, "tags", default: [])
        entity.transformable(\Leaf.color, "color", by: "Color")
        entity.transient(\Leaf.note, "note")
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Kinds._propertyBase_Kinds {
        case 0: visitor.visit(self, \Kinds.text)
        case 1: visitor.visit(self, \Kinds.textOrNil)
        case 2: visitor.visit(self, \Kinds.flag)
        case 3: visitor.visit(self, \Kinds.flagOrNil)
        case 4: visitor.visit(self, \Kinds.small)
        case 5: visitor.visit(self, \Kinds.medium)
        case 6: visitor.visit(self, \Kinds.large)
        case 7: visitor.visit(self, \Kinds.plain)
        case 8: visitor.visit(self, \Kinds.plainOrNil)
        case 9: visitor.visit(self, \Kinds.single)
        case 10: visitor.visit(self, \Kinds.double)
        case 11: visitor.visit(self, \Kinds.doubleOrNil)
        case 12: visitor.visit(self, \Kinds.money)
        case 13: visitor.visit(self, \Kinds.moneyOrNil)
        case 14: visitor.visit(self, \Kinds.date)
        case 15: visitor.visit(self, \Kinds.id)
        case 16: visitor.visit(self, \Kinds.url)
        case 17: visitor.visit(self, \Kinds.data)
        case 18: visitor.visit(self, \Kinds.photo)
        case 19: visitor.visit(self, \Kinds.other)
        case 20: visitor.visit(self, \Kinds.mood)
        case 21: visitor.visit(self, \Kinds.moodOrNil)
        case 22: visitor.visit(self, \Kinds.priority)
        case 23: visitor.visit(self, \Kinds.place)
        case 24: visitor.visit(self, \Kinds.shape)
        case 25: visitor.visit(self, \Kinds.tags)
        case 26: visitor.visit(self, \Kinds.color)
        case 27: visitor.visit(self, \Kinds.note)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Kinds: ManagedEntity {}
