import Foundation
import StrataGraph
import StrataModel

/// What `@Entity` makes of the MustC movie.
final class Movie: ManagedObject {
    var title: String {
        get { _get(Movie._propertyBase_Movie + 0) }
        set { _set(Movie._propertyBase_Movie + 0, newValue) }
    }
    var rating: Double {
        get { _get(Movie._propertyBase_Movie + 1) }
        set { _set(Movie._propertyBase_Movie + 1, newValue) }
    }
    var familyMember: FamilyMember? {
        get { _get(Movie._propertyBase_Movie + 2) }
        set { _set(Movie._propertyBase_Movie + 2, newValue) }
    }

    nonisolated static var _propertyBase_Movie: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Movie: Int { _propertyBase_Movie + 3 }
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
        entity.property(\Leaf.rating, "rating", default: 0, .range(0...5))
        entity.property(\Leaf.familyMember, "familyMember")
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Movie._propertyBase_Movie {
        case 0: visitor.visit(self, \Movie.title)
        case 1: visitor.visit(self, \Movie.rating)
        case 2: visitor.visit(self, \Movie.familyMember)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Movie: ManagedEntity {}

/// The owner of favorite movies.
final class FamilyMember: ManagedObject {
    var name: String {
        get { _get(FamilyMember._propertyBase_FamilyMember + 0) }
        set { _set(FamilyMember._propertyBase_FamilyMember + 0, newValue) }
    }
    var favoriteMovies: ToMany<Movie> {
        get { _get(FamilyMember._propertyBase_FamilyMember + 1) }
        set { _set(FamilyMember._propertyBase_FamilyMember + 1, newValue) }
    }

    nonisolated static var _propertyBase_FamilyMember: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_FamilyMember: Int { _propertyBase_FamilyMember + 2 }
    nonisolated override class var entityName: String { "FamilyMember" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var _observesDeletion: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(FamilyMember.self, superclass: ManagedObject.self) { FamilyMember._describe_FamilyMember(&$0) }
    }
    nonisolated static func _describe_FamilyMember<Leaf: FamilyMember>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.name, "name")
        entity.relationship(\Leaf.favoriteMovies, "favoriteMovies", deleteRule: .cascade, inverse: \Movie.familyMember)
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - FamilyMember._propertyBase_FamilyMember {
        case 0: visitor.visit(self, \FamilyMember.name)
        case 1: visitor.visit(self, \FamilyMember.favoriteMovies)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension FamilyMember: ManagedEntity {}
