import Foundation
import StrataGraph
import StrataModel

/// Self-referencing, its own inverse, one-to-one, many-to-many.
class Person: ManagedObject {
    var name: String {
        get { _get(Person._propertyBase_Person + 0) }
        set { _set(Person._propertyBase_Person + 0, newValue) }
    }
    var friends: ToMany<Person> {
        get { _get(Person._propertyBase_Person + 1) }
        set { _set(Person._propertyBase_Person + 1, newValue) }
    }
    var passport: Passport? {
        get { _get(Person._propertyBase_Person + 2) }
        set { _set(Person._propertyBase_Person + 2, newValue) }
    }
    var boss: Person? {
        get { _get(Person._propertyBase_Person + 3) }
        set { _set(Person._propertyBase_Person + 3, newValue) }
    }
    var reports: ToMany<Person> {
        get { _get(Person._propertyBase_Person + 4) }
        set { _set(Person._propertyBase_Person + 4, newValue) }
    }
    var clubs: ToMany<Club> {
        get { _get(Person._propertyBase_Person + 5) }
        set { _set(Person._propertyBase_Person + 5, newValue) }
    }

    nonisolated static var _propertyBase_Person: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Person: Int { _propertyBase_Person + 6 }
    nonisolated override class var entityName: String { "Person" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Person.self, superclass: ManagedObject.self) { Person._describe_Person(&$0) }
    }
    nonisolated static func _describe_Person<Leaf: Person>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.name, "name")
        entity.relationship(\Leaf.friends, "friends", inverse: \Person.friends)
        entity.relationship(\Leaf.passport, "passport", inverse: \Passport.holder)
        entity.relationship(\Leaf.boss, "boss", inverse: \Person.reports)
        entity.property(\Leaf.reports, "reports")
        entity.relationship(\Leaf.clubs, "clubs", inverse: \Club.members)
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Person._propertyBase_Person {
        case 0: visitor.visit(self, \Person.name)
        case 1: visitor.visit(self, \Person.friends)
        case 2: visitor.visit(self, \Person.passport)
        case 3: visitor.visit(self, \Person.boss)
        case 4: visitor.visit(self, \Person.reports)
        case 5: visitor.visit(self, \Person.clubs)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Person: ManagedEntity {}

/// A subentity.
final class Employee: Person {
    var salary: Decimal? {
        get { _get(Employee._propertyBase_Employee + 0) }
        set { _set(Employee._propertyBase_Employee + 0, newValue) }
    }

    nonisolated static var _propertyBase_Employee: Int { Person._propertyEnd_Person }
    nonisolated static var _propertyEnd_Employee: Int { _propertyBase_Employee + 1 }
    nonisolated override class var entityName: String { "Employee" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Employee.self, superclass: Person.self) { Employee._describe_Employee(&$0) }
    }
    nonisolated static func _describe_Employee<Leaf: Employee>(_ entity: inout EntityBuilder<Leaf>) {
        Person._describe_Person(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.salary, "salary")
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Employee._propertyBase_Employee {
        case 0: visitor.visit(self, \Employee.salary)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}

final class Passport: ManagedObject {
    var number: String {
        get { _get(Passport._propertyBase_Passport + 0) }
        set { _set(Passport._propertyBase_Passport + 0, newValue) }
    }
    var holder: Person? {
        get { _get(Passport._propertyBase_Passport + 1) }
        set { _set(Passport._propertyBase_Passport + 1, newValue) }
    }

    nonisolated static var _propertyBase_Passport: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Passport: Int { _propertyBase_Passport + 2 }
    nonisolated override class var entityName: String { "Passport" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Passport.self, superclass: ManagedObject.self) { Passport._describe_Passport(&$0) }
    }
    nonisolated static func _describe_Passport<Leaf: Passport>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.number, "number", .unique)
        entity.property(\Leaf.holder, "holder")
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Passport._propertyBase_Passport {
        case 0: visitor.visit(self, \Passport.number)
        case 1: visitor.visit(self, \Passport.holder)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Passport: ManagedEntity {}

final class Club: ManagedObject {
    var title: String {
        get { _get(Club._propertyBase_Club + 0) }
        set { _set(Club._propertyBase_Club + 0, newValue) }
    }
    var members: ToMany<Person> {
        get { _get(Club._propertyBase_Club + 1) }
        set { _set(Club._propertyBase_Club + 1, newValue) }
    }
    var rules: ToMany<Rule> {
        get { _get(Club._propertyBase_Club + 2) }
        set { _set(Club._propertyBase_Club + 2, newValue) }
    }
    var guests: ToMany<Person> {
        get { _get(Club._propertyBase_Club + 3) }
        set { _set(Club._propertyBase_Club + 3, newValue) }
    }

    nonisolated static var _propertyBase_Club: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Club: Int { _propertyBase_Club + 4 }
    nonisolated override class var entityName: String { "Club" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Club.self, superclass: ManagedObject.self) { Club._describe_Club(&$0) }
    }
    nonisolated static func _describe_Club<Leaf: Club>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.title, "title")
        entity.property(\Leaf.members, "members")
        entity.relationship(\Leaf.rules, "rules", deleteRule: .deny, inverse: \Rule.club)
        entity.relationship(\Leaf.guests, "guests", .noInverse)
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Club._propertyBase_Club {
        case 0: visitor.visit(self, \Club.title)
        case 1: visitor.visit(self, \Club.members)
        case 2: visitor.visit(self, \Club.rules)
        case 3: visitor.visit(self, \Club.guests)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Club: ManagedEntity {}

final class Rule: ManagedObject {
    var text: String {
        get { _get(Rule._propertyBase_Rule + 0) }
        set { _set(Rule._propertyBase_Rule + 0, newValue) }
    }
    var club: Club? {
        get { _get(Rule._propertyBase_Rule + 1) }
        set { _set(Rule._propertyBase_Rule + 1, newValue) }
    }
    var author: Person? {
        get { _get(Rule._propertyBase_Rule + 2) }
        set { _set(Rule._propertyBase_Rule + 2, newValue) }
    }

    nonisolated static var _propertyBase_Rule: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Rule: Int { _propertyBase_Rule + 3 }
    nonisolated override class var entityName: String { "Rule" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Rule.self, superclass: ManagedObject.self) { Rule._describe_Rule(&$0) }
    }
    nonisolated static func _describe_Rule<Leaf: Rule>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.text, "text")
        entity.property(\Leaf.club, "club")
        entity.relationship(\Leaf.author, "author", .noInverse)
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Rule._propertyBase_Rule {
        case 0: visitor.visit(self, \Rule.text)
        case 1: visitor.visit(self, \Rule.club)
        case 2: visitor.visit(self, \Rule.author)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Rule: ManagedEntity {}

final class Playlist: ManagedObject {
    var name: String {
        get { _get(Playlist._propertyBase_Playlist + 0) }
        set { _set(Playlist._propertyBase_Playlist + 0, newValue) }
    }
    var songs: ToMany<Song> {
        get { _get(Playlist._propertyBase_Playlist + 1) }
        set { _set(Playlist._propertyBase_Playlist + 1, newValue) }
    }
    var tracks: ToMany<Track> {
        get { _get(Playlist._propertyBase_Playlist + 2) }
        set { _set(Playlist._propertyBase_Playlist + 2, newValue) }
    }

    nonisolated static var _propertyBase_Playlist: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Playlist: Int { _propertyBase_Playlist + 3 }
    nonisolated override class var entityName: String { "Playlist" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Playlist.self, superclass: ManagedObject.self) { Playlist._describe_Playlist(&$0) }
    }
    nonisolated static func _describe_Playlist<Leaf: Playlist>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.name, "name")
        entity.relationship(\Leaf.songs, "songs", inverse: \Song.playlists, .ordered)
        entity.relationship(\Leaf.tracks, "tracks", deleteRule: .cascade, inverse: \Track.playlist, .ordered)
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Playlist._propertyBase_Playlist {
        case 0: visitor.visit(self, \Playlist.name)
        case 1: visitor.visit(self, \Playlist.songs)
        case 2: visitor.visit(self, \Playlist.tracks)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Playlist: ManagedEntity {}

final class Song: ManagedObject {
    var title: String {
        get { _get(Song._propertyBase_Song + 0) }
        set { _set(Song._propertyBase_Song + 0, newValue) }
    }
    var playlists: ToMany<Playlist> {
        get { _get(Song._propertyBase_Song + 1) }
        set { _set(Song._propertyBase_Song + 1, newValue) }
    }

    nonisolated static var _propertyBase_Song: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Song: Int { _propertyBase_Song + 2 }
    nonisolated override class var entityName: String { "Song" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Song.self, superclass: ManagedObject.self) { Song._describe_Song(&$0) }
    }
    nonisolated static func _describe_Song<Leaf: Song>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.title, "title")
        entity.property(\Leaf.playlists, "playlists")
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Song._propertyBase_Song {
        case 0: visitor.visit(self, \Song.title)
        case 1: visitor.visit(self, \Song.playlists)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Song: ManagedEntity {}

final class Track: ManagedObject {
    var title: String {
        get { _get(Track._propertyBase_Track + 0) }
        set { _set(Track._propertyBase_Track + 0, newValue) }
    }
    var playlist: Playlist? {
        get { _get(Track._propertyBase_Track + 1) }
        set { _set(Track._propertyBase_Track + 1, newValue) }
    }

    nonisolated static var _propertyBase_Track: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Track: Int { _propertyBase_Track + 2 }
    nonisolated override class var entityName: String { "Track" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Track.self, superclass: ManagedObject.self) { Track._describe_Track(&$0) }
    }
    nonisolated static func _describe_Track<Leaf: Track>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.title, "title")
        entity.property(\Leaf.playlist, "playlist")
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Track._propertyBase_Track {
        case 0: visitor.visit(self, \Track.title)
        case 1: visitor.visit(self, \Track.playlist)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Track: ManagedEntity {}
