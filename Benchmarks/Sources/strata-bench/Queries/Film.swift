import StrataGraph
import StrataModel

// Written by hand in the shape that `@Entity` expands to, so that a release build needs no swift-syntax.

/// A film of the query workload: four indexes, and a number without one.
final class Film: ManagedObject {
    var title: String {
        get { _get(Film._propertyBase_Film + 0) }
        set { _set(Film._propertyBase_Film + 0, newValue) }
    }
    var year: Int32 {
        get { _get(Film._propertyBase_Film + 1) }
        set { _set(Film._propertyBase_Film + 1, newValue) }
    }
    var rating: Double {
        get { _get(Film._propertyBase_Film + 2) }
        set { _set(Film._propertyBase_Film + 2, newValue) }
    }
    var votes: Int32 {
        get { _get(Film._propertyBase_Film + 3) }
        set { _set(Film._propertyBase_Film + 3, newValue) }
    }
    var director: Director? {
        get { _get(Film._propertyBase_Film + 4) }
        set { _set(Film._propertyBase_Film + 4, newValue) }
    }

    nonisolated static var _propertyBase_Film: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Film: Int { _propertyBase_Film + 5 }
    nonisolated override class var entityName: String { "Film" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Film.self, superclass: ManagedObject.self) { Film._describe_Film(&$0) }
    }
    nonisolated static func _describe_Film<Leaf: Film>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.title, "title", .indexed)
        entity.property(\Leaf.year, "year", default: 0, .indexed)
        entity.property(\Leaf.rating, "rating", default: 0, .indexed)
        entity.property(\Leaf.votes, "votes", default: 0)
        entity.relationship(\Leaf.director, "director", inverse: \Director.films)
    }
    override func _visitKeyPath<Visitor: KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Film._propertyBase_Film {
        case 0: visitor.visit(self, \Film.title)
        case 1: visitor.visit(self, \Film.year)
        case 2: visitor.visit(self, \Film.rating)
        case 3: visitor.visit(self, \Film.votes)
        case 4: visitor.visit(self, \Film.director)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Film: ManagedEntity {}

/// Who made films, ten on average.
final class Director: ManagedObject {
    var name: String {
        get { _get(Director._propertyBase_Director + 0) }
        set { _set(Director._propertyBase_Director + 0, newValue) }
    }
    var films: ToMany<Film> {
        get { _get(Director._propertyBase_Director + 1) }
        set { _set(Director._propertyBase_Director + 1, newValue) }
    }

    nonisolated static var _propertyBase_Director: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Director: Int { _propertyBase_Director + 2 }
    nonisolated override class var entityName: String { "Director" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Director.self, superclass: ManagedObject.self) { Director._describe_Director(&$0) }
    }
    nonisolated static func _describe_Director<Leaf: Director>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.name, "name", .indexed)
        entity.property(\Leaf.films, "films")
    }
    override func _visitKeyPath<Visitor: KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Director._propertyBase_Director {
        case 0: visitor.visit(self, \Director.name)
        case 1: visitor.visit(self, \Director.films)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Director: ManagedEntity {}
