import StrataGraph
import StrataModel

// Written by hand in the shape that `@Entity` expands to, so that a release build needs no swift-syntax.

/// A movie: three indexed attributes, two without an index, and a to-one with an inverse.
final class Movie: ManagedObject {
    var title: String {
        get { _get(Movie._propertyBase_Movie + 0) }
        set { _set(Movie._propertyBase_Movie + 0, newValue) }
    }
    var year: Int32 {
        get { _get(Movie._propertyBase_Movie + 1) }
        set { _set(Movie._propertyBase_Movie + 1, newValue) }
    }
    var rating: Double {
        get { _get(Movie._propertyBase_Movie + 2) }
        set { _set(Movie._propertyBase_Movie + 2, newValue) }
    }
    var genre: String {
        get { _get(Movie._propertyBase_Movie + 3) }
        set { _set(Movie._propertyBase_Movie + 3, newValue) }
    }
    var votes: Int32 {
        get { _get(Movie._propertyBase_Movie + 4) }
        set { _set(Movie._propertyBase_Movie + 4, newValue) }
    }
    var owner: Owner? {
        get { _get(Movie._propertyBase_Movie + 5) }
        set { _set(Movie._propertyBase_Movie + 5, newValue) }
    }

    nonisolated static var _propertyBase_Movie: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Movie: Int { _propertyBase_Movie + 6 }
    nonisolated override class var entityName: String { "Movie" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Movie.self, superclass: ManagedObject.self) { Movie._describe_Movie(&$0) }
    }
    nonisolated static func _describe_Movie<Leaf: Movie>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.title, "title", .indexed)
        entity.property(\Leaf.year, "year", default: 0, .indexed)
        entity.property(\Leaf.rating, "rating", default: 0, .indexed)
        entity.property(\Leaf.genre, "genre", default: "")
        entity.property(\Leaf.votes, "votes", default: 0)
        entity.relationship(\Leaf.owner, "owner", inverse: \Owner.movies)
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Movie._propertyBase_Movie {
        case 0: visitor.visit(self, \Movie.title)
        case 1: visitor.visit(self, \Movie.year)
        case 2: visitor.visit(self, \Movie.rating)
        case 3: visitor.visit(self, \Movie.genre)
        case 4: visitor.visit(self, \Movie.votes)
        case 5: visitor.visit(self, \Movie.owner)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Movie: ManagedEntity {}

/// An owner of movies, ten on average.
final class Owner: ManagedObject {
    var name: String {
        get { _get(Owner._propertyBase_Owner + 0) }
        set { _set(Owner._propertyBase_Owner + 0, newValue) }
    }
    var movies: ToMany<Movie> {
        get { _get(Owner._propertyBase_Owner + 1) }
        set { _set(Owner._propertyBase_Owner + 1, newValue) }
    }

    nonisolated static var _propertyBase_Owner: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Owner: Int { _propertyBase_Owner + 2 }
    nonisolated override class var entityName: String { "Owner" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Owner.self, superclass: ManagedObject.self) { Owner._describe_Owner(&$0) }
    }
    nonisolated static func _describe_Owner<Leaf: Owner>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.name, "name", .indexed)
        entity.relationship(\Leaf.movies, "movies", deleteRule: .cascade)
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Owner._propertyBase_Owner {
        case 0: visitor.visit(self, \Owner.name)
        case 1: visitor.visit(self, \Owner.movies)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Owner: ManagedEntity {}
