import Foundation
import StrataGraph
import StrataModel

/// A patient with encrypted attributes among others.
final class Patient: ManagedObject {
    var name: String {
        get { _get(Patient._propertyBase_Patient + 0) }
        set { _set(Patient._propertyBase_Patient + 0, newValue) }
    }
    var ssn: String {
        get { _get(Patient._propertyBase_Patient + 1) }
        set { _set(Patient._propertyBase_Patient + 1, newValue) }
    }
    var diagnosis: String? {
        get { _get(Patient._propertyBase_Patient + 2) }
        set { _set(Patient._propertyBase_Patient + 2, newValue) }
    }
    var weight: Double? {
        get { _get(Patient._propertyBase_Patient + 3) }
        set { _set(Patient._propertyBase_Patient + 3, newValue) }
    }
    var note: String? {
        get { _get(Patient._propertyBase_Patient + 4) }
        set { _set(Patient._propertyBase_Patient + 4, newValue) }
    }
    var doctor: Doctor? {
        get { _get(Patient._propertyBase_Patient + 5) }
        set { _set(Patient._propertyBase_Patient + 5, newValue) }
    }

    nonisolated static var _propertyBase_Patient: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Patient: Int { _propertyBase_Patient + 6 }
    nonisolated override class var entityName: String { "Patient" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Patient.self, superclass: ManagedObject.self) { Patient._describe_Patient(&$0) }
    }
    nonisolated static func _describe_Patient<Leaf: Patient>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.name, "name")
        entity.property(\Leaf.ssn, "ssn", .encrypted, .unique)
        entity.property(\Leaf.diagnosis, "diagnosis", .encrypted)
        entity.property(\Leaf.weight, "weight", .encrypted)
        entity.property(\Leaf.note, "note")
        entity.property(\Leaf.doctor, "doctor")
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Patient._propertyBase_Patient {
        case 0: visitor.visit(self, \Patient.name)
        case 1: visitor.visit(self, \Patient.ssn)
        case 2: visitor.visit(self, \Patient.diagnosis)
        case 3: visitor.visit(self, \Patient.weight)
        case 4: visitor.visit(self, \Patient.note)
        case 5: visitor.visit(self, \Patient.doctor)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Patient: ManagedEntity {}

/// The other end of a link.
final class Doctor: ManagedObject {
    var name: String {
        get { _get(Doctor._propertyBase_Doctor + 0) }
        set { _set(Doctor._propertyBase_Doctor + 0, newValue) }
    }
    var license: String {
        get { _get(Doctor._propertyBase_Doctor + 1) }
        set { _set(Doctor._propertyBase_Doctor + 1, newValue) }
    }
    var patients: ToMany<Patient> {
        get { _get(Doctor._propertyBase_Doctor + 2) }
        set { _set(Doctor._propertyBase_Doctor + 2, newValue) }
    }

    nonisolated static var _propertyBase_Doctor: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Doctor: Int { _propertyBase_Doctor + 3 }
    nonisolated override class var entityName: String { "Doctor" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Doctor.self, superclass: ManagedObject.self) { Doctor._describe_Doctor(&$0) }
    }
    nonisolated static func _describe_Doctor<Leaf: Doctor>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.name, "name")
        entity.property(\Leaf.license, "license", .encrypted, .indexed)
        entity.relationship(\Leaf.patients, "patients", inverse: \Patient.doctor)
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Doctor._propertyBase_Doctor {
        case 0: visitor.visit(self, \Doctor.name)
        case 1: visitor.visit(self, \Doctor.license)
        case 2: visitor.visit(self, \Doctor.patients)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Doctor: ManagedEntity {}

/// An encrypted attribute of every type.
final class Secrets: ManagedObject {
    var label: String {
        get { _get(Secrets._propertyBase_Secrets + 0) }
        set { _set(Secrets._propertyBase_Secrets + 0, newValue) }
    }
    var text: String {
        get { _get(Secrets._propertyBase_Secrets + 1) }
        set { _set(Secrets._propertyBase_Secrets + 1, newValue) }
    }
    var textOrNil: String? {
        get { _get(Secrets._propertyBase_Secrets + 2) }
        set { _set(Secrets._propertyBase_Secrets + 2, newValue) }
    }
    var flag: Bool {
        get { _get(Secrets._propertyBase_Secrets + 3) }
        set { _set(Secrets._propertyBase_Secrets + 3, newValue) }
    }
    var small: Int16 {
        get { _get(Secrets._propertyBase_Secrets + 4) }
        set { _set(Secrets._propertyBase_Secrets + 4, newValue) }
    }
    var medium: Int32? {
        get { _get(Secrets._propertyBase_Secrets + 5) }
        set { _set(Secrets._propertyBase_Secrets + 5, newValue) }
    }
    var large: Int {
        get { _get(Secrets._propertyBase_Secrets + 6) }
        set { _set(Secrets._propertyBase_Secrets + 6, newValue) }
    }
    var single: Float {
        get { _get(Secrets._propertyBase_Secrets + 7) }
        set { _set(Secrets._propertyBase_Secrets + 7, newValue) }
    }
    var double: Double {
        get { _get(Secrets._propertyBase_Secrets + 8) }
        set { _set(Secrets._propertyBase_Secrets + 8, newValue) }
    }
    var doubleOrNil: Double? {
        get { _get(Secrets._propertyBase_Secrets + 9) }
        set { _set(Secrets._propertyBase_Secrets + 9, newValue) }
    }
    var money: Decimal {
        get { _get(Secrets._propertyBase_Secrets + 10) }
        set { _set(Secrets._propertyBase_Secrets + 10, newValue) }
    }
    var date: Date? {
        get { _get(Secrets._propertyBase_Secrets + 11) }
        set { _set(Secrets._propertyBase_Secrets + 11, newValue) }
    }
    var id: UUID? {
        get { _get(Secrets._propertyBase_Secrets + 12) }
        set { _set(Secrets._propertyBase_Secrets + 12, newValue) }
    }
    var url: URL? {
        get { _get(Secrets._propertyBase_Secrets + 13) }
        set { _set(Secrets._propertyBase_Secrets + 13, newValue) }
    }
    var data: Data? {
        get { _get(Secrets._propertyBase_Secrets + 14) }
        set { _set(Secrets._propertyBase_Secrets + 14, newValue) }
    }
    var photo: Data? {
        get { _get(Secrets._propertyBase_Secrets + 15) }
        set { _set(Secrets._propertyBase_Secrets + 15, newValue) }
    }
    var other: ObjectID? {
        get { _get(Secrets._propertyBase_Secrets + 16) }
        set { _set(Secrets._propertyBase_Secrets + 16, newValue) }
    }
    var mood: Mood? {
        get { _get(Secrets._propertyBase_Secrets + 17) }
        set { _set(Secrets._propertyBase_Secrets + 17, newValue) }
    }
    var place: Place? {
        get { _get(Secrets._propertyBase_Secrets + 18) }
        set { _set(Secrets._propertyBase_Secrets + 18, newValue) }
    }
    var color: Color? {
        get { _getTransformed(Secrets._propertyBase_Secrets + 19) }
        set { _setTransformed(Secrets._propertyBase_Secrets + 19, newValue) }
    }

    nonisolated static var _propertyBase_Secrets: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Secrets: Int { _propertyBase_Secrets + 20 }
    nonisolated override class var entityName: String { "Secrets" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Secrets.self, superclass: ManagedObject.self) { Secrets._describe_Secrets(&$0) }
    }
    nonisolated static func _describe_Secrets<Leaf: Secrets>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.label, "label")
        entity.property(\Leaf.text, "text", .encrypted)
        entity.property(\Leaf.textOrNil, "textOrNil", .encrypted)
        entity.property(\Leaf.flag, "flag", .encrypted)
        entity.property(\Leaf.small, "small", .encrypted)
        entity.property(\Leaf.medium, "medium", .encrypted)
        entity.property(\Leaf.large, "large", .encrypted)
        entity.property(\Leaf.single, "single", .encrypted)
        entity.property(\Leaf.double, "double", .encrypted)
        entity.property(\Leaf.doubleOrNil, "doubleOrNil", .encrypted)
        entity.property(\Leaf.money, "money", .encrypted)
        entity.property(\Leaf.date, "date", .encrypted)
        entity.property(\Leaf.id, "id", .encrypted)
        entity.property(\Leaf.url, "url", .encrypted)
        entity.property(\Leaf.data, "data", .encrypted)
        entity.property(\Leaf.photo, "photo", .encrypted, .externalStorage)
        entity.property(\Leaf.other, "other", .encrypted)
        entity.property(\Leaf.mood, "mood", .encrypted)
        entity.property(\Leaf.place, "place", .encrypted)
        entity.transformable(\Leaf.color, "color", by: "Color", .encrypted)
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Secrets._propertyBase_Secrets {
        case 0: visitor.visit(self, \Secrets.label)
        case 1: visitor.visit(self, \Secrets.text)
        case 2: visitor.visit(self, \Secrets.textOrNil)
        case 3: visitor.visit(self, \Secrets.flag)
        case 4: visitor.visit(self, \Secrets.small)
        case 5: visitor.visit(self, \Secrets.medium)
        case 6: visitor.visit(self, \Secrets.large)
        case 7: visitor.visit(self, \Secrets.single)
        case 8: visitor.visit(self, \Secrets.double)
        case 9: visitor.visit(self, \Secrets.doubleOrNil)
        case 10: visitor.visit(self, \Secrets.money)
        case 11: visitor.visit(self, \Secrets.date)
        case 12: visitor.visit(self, \Secrets.id)
        case 13: visitor.visit(self, \Secrets.url)
        case 14: visitor.visit(self, \Secrets.data)
        case 15: visitor.visit(self, \Secrets.photo)
        case 16: visitor.visit(self, \Secrets.other)
        case 17: visitor.visit(self, \Secrets.mood)
        case 18: visitor.visit(self, \Secrets.place)
        case 19: visitor.visit(self, \Secrets.color)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Secrets: ManagedEntity {}
