import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import Testing

@testable import StrataMacrosParts

/// What `@Entity` writes.
@Suite struct ExpansionTests {
    @Test func aRootEntityGetsAccessorsMembersAndItsConformance() {
        expectExpansion(
            of: """
                @Entity final class Movie: ManagedObject {
                    @Attribute(.range(0...5)) var rating: Double = 0
                    var familyMember: FamilyMember?
                }
                """,
            """
            final class Movie: ManagedObject {
                var rating: Double {
                    get {
                        _get(Movie._propertyBase_Movie + 0)
                    }
                    set {
                        _set(Movie._propertyBase_Movie + 0, newValue)
                    }
                }

                nonisolated private static func _describeProperty_rating<_Leaf: Movie>(
                    _ entity: inout EntityBuilder<_Leaf>
                ) {
                    entity.property(\\_Leaf.rating, "rating", default: 0, .range(0 ... 5))
                }
                var familyMember: FamilyMember? {
                    get {
                        _get(Movie._propertyBase_Movie + 1)
                    }
                    set {
                        _set(Movie._propertyBase_Movie + 1, newValue)
                    }
                }

                nonisolated static var _propertyBase_Movie: Int {
                    ManagedObject._propertyEnd_ManagedObject
                }

                nonisolated static var _propertyEnd_Movie: Int {
                    _propertyBase_Movie + 2
                }

                nonisolated override class var entityName: String {
                    "Movie"
                }

                nonisolated override class var _validatesValues: Bool {
                    false
                }

                nonisolated override class var _observesDeletion: Bool {
                    false
                }

                nonisolated override class var entityDefinition: EntityDefinition {
                    EntityDefinition(Movie.self, superclass: ManagedObject.self) {
                        Movie._describe_Movie(&$0)
                    }
                }

                nonisolated static func _describe_Movie<_Leaf: Movie>(
                    _ entity: inout EntityBuilder<_Leaf>
                ) {
                    ManagedObject._describe_ManagedObject(&entity)
                    entity.beginOwnProperties()
                    _describeProperty_rating(&entity)
                    entity.property(\\_Leaf.familyMember, "familyMember")
                }

                nonisolated override func _visitKeyPath<_Visitor: _KeyPathVisitor>(
                    at index: Int, _ visitor: inout _Visitor
                ) {
                    switch index - Movie._propertyBase_Movie {
                    case 0:
                        visitor.visit(self, \\Movie.rating)
                    case 1:
                        visitor.visit(self, \\Movie.familyMember)
                    default:
                        super._visitKeyPath(at: index, &visitor)
                    }
                }
            }

            extension Movie: ManagedEntity {
            }
            """)
    }

    @Test func anOpenSubclassOfAnotherModuleBeginsWhereItsParentEnds() {
        var macros = entityMacros
        macros["Entity"] = MacroSpec(type: EntityMacro.self)
        expectExpansion(
            of: """
                @Entity(.abstract, .renamed(from: "Worker")) open class Employee: Staff.Person {
                    public private(set) var salary: Int = 1
                    @Transient var cache = 0
                    static let limit = 3
                }
                """,
            """
            open class Employee: Staff.Person {
                public private(set) var salary: Int {
                    @inlinable get {
                        _get(Employee._propertyBase_Employee + 0)
                    }
                    set {
                        _set(Employee._propertyBase_Employee + 0, newValue)
                    }
                }
                var cache = 0
                static let limit = 3

                @inlinable nonisolated public static var _propertyBase_Employee: Int {
                    Staff.Person._propertyEnd_Person
                }

                @inlinable nonisolated public static var _propertyEnd_Employee: Int {
                    _propertyBase_Employee + 1
                }

                nonisolated open override class var entityName: String {
                    "Employee"
                }

                nonisolated open override class var entityDefinition: EntityDefinition {
                    EntityDefinition(Employee.self, superclass: Staff.Person.self, .abstract, .renamed(from: "Worker")) {
                        Employee._describe_Employee(&$0)
                    }
                }

                nonisolated public static func _describe_Employee<_Leaf: Employee>(
                    _ entity: inout EntityBuilder<_Leaf>
                ) {
                    Staff.Person._describe_Person(&entity)
                    entity.beginOwnProperties()
                    entity.property(\\_Leaf.salary, "salary", default: 1)
                }

                nonisolated open override func _visitKeyPath<_Visitor: _KeyPathVisitor>(
                    at index: Int, _ visitor: inout _Visitor
                ) {
                    switch index - Employee._propertyBase_Employee {
                    case 0:
                        visitor.visit(self, \\Employee.salary)
                    default:
                        super._visitKeyPath(at: index, &visitor)
                    }
                }

                nonisolated open override func _ownValue(forKey key: String) -> Any?? {
                    switch key {
                    case "cache":
                        return .some(self.cache)
                    default:
                        return super._ownValue(forKey: key)
                    }
                }
            }
            """, macros: macros)
    }

    @Test(arguments: [
        ("ManagedObject", "var x = 1", "false", "false"),
        ("ManagedObject", "override func willSave() {}", "false", "true"),
        ("Base", "override func validateForDelete() throws {}", nil, "true"),
        ("Base", "#if DEBUG\noverride func validateValue(_ v: inout Any?, forKey: String) {}\n#endif", "true", nil),
        ("Base", "func other() {}", nil, nil),
    ])
    func hooksThatAreNotOverriddenAreNotCalled(
        superclass: String, member: String, validates: String?, observes: String?
    ) throws {
        let source: DeclSyntax = "@Entity class Z: \(raw: superclass) {\n\(raw: member)\n}"
        let declaration = try #require(source.as(ClassDeclSyntax.self))
        let entity = try #require(EntityDeclaration(declaration, in: []))
        let members = EntityExpansion(entity: entity, options: []).members.map { $0.trimmedDescription }
        for (name, value) in [("_validatesValues", validates), ("_observesDeletion", observes)] {
            let text = members.first { $0.contains(name) }?.filter { !$0.isWhitespace }
            #expect(text == value.map { "nonisolatedoverrideclassvar\(name):Bool{\($0)}" })
        }
    }

    @Test(arguments: [
        ("@Attribute(.indexed, .unique) var x: Int = 3", "property(\\_Leaf.x, \"x\", default: 3, .indexed, .unique)"),
        ("@Attribute var x: Int? = nil", "property(\\_Leaf.x, \"x\")"),
        ("@Attribute(.transient) var x: Color?", "transient(\\_Leaf.x, \"x\")"),
        ("@Attribute(.transient) var x: Int = 3", "transient(\\_Leaf.x, \"x\", default: 3)"),
        ("@Attribute(.transformable) var x: Color?", "transformable(\\_Leaf.x, \"x\")"),
        (
            "@Attribute(.indexed, .transformable(by: name)) var x: Color?",
            "transformable(\\_Leaf.x, \"x\", by: name, .indexed)"
        ),
        ("@Attribute(.indexed) var `default`: Int", "property(\\_Leaf.`default`, \"default\", .indexed)"),
        ("@Relationship var x: ToMany<Y>", "relationship(\\_Leaf.x, \"x\")"),
        (
            "@Relationship(.ordered, .maxCount(3), deleteRule: .deny, inverse: \\Y.z) var x: ToMany<Y>",
            "relationship(\\_Leaf.x, \"x\", deleteRule: .deny, inverse: \\Y.z, .ordered, .maxCount(3))"
        ),
        (
            "@Relationship(inverse: \\Y.z, .ordered) var x: ToMany<Y>",
            "relationship(\\_Leaf.x, \"x\", inverse: \\Y.z, .ordered)"
        ),
        (
            "@Relationship(.ordered, .inverse(\\.z), deleteRule: .deny) var x: ToMany<A.Y>",
            "relationship(\\_Leaf.x, \"x\", deleteRule: .deny, inverse: \\A.Y.z, .ordered)"
        ),
        ("@Relationship(.inverse(\\.`in`)) var x: Y?", "relationship(\\_Leaf.x, \"x\", inverse: \\Y.`in`)"),
        (
            "@Relationship(.inverse(\\.z)) var x: Optional<Y>",
            "relationship(\\_Leaf.x, \"x\", inverse: \\Y.z)"
        ),
        // What the class's description cannot take is refused there.
        (
            "@Relationship(.inverse(\\.z), inverse: \\Y.z) var x: Y?",
            "relationship(\\_Leaf.x, \"x\", inverse: \\Y.z, .inverse(\\.z))"
        ),
    ])
    func theDescriptionCopiesTheArguments(declaration: String, call: String) {
        let name = declaration.contains("default") ? "default" : "x"
        let variable = declaration.replacing(#/^@.*(?=var )/#, with: "")
        expectExpansion(
            of: "@Entity class Z: ManagedObject {\n    \(declaration)\n}",
            """
            @Entity class Z: ManagedObject {
                \(variable)

                nonisolated private static func _describeProperty_\(name)<_Leaf: Z>(
                    _ entity: inout EntityBuilder<_Leaf>
                ) {
                    entity.\(call)
                }
            }
            """, macros: entityMacros.filter { $0.key == "Attribute" || $0.key == "Relationship" })
    }

    @Test(
        arguments: [
            ("var x: Int { 1 }", "x"), ("@Transient var x = 1", "x"), ("let x = 1", "x"), ("var `if`: Int { 1 }", "if"),
            ("var x: Int { get { 1 } set {} }", "x"), ("var x: Int { get throws { 1 } }", nil),
            ("private var x: Int { 1 }", nil), ("static var x: Int { 1 }", nil), ("@MainActor var x: Int { 1 }", nil),
            ("override var description: String { \"\" }", nil), ("@Transient lazy var x = 1", nil), ("var x: Int", nil),
        ] as [(String, String?)])
    func variablesBesideTheModelAreReadByName(member: String, name: String?) throws {
        let source: DeclSyntax = "@Entity class Z: ManagedObject {\n\(raw: member)\n}"
        let declaration = try #require(source.as(ClassDeclSyntax.self))
        let entity = try #require(EntityDeclaration(declaration, in: []))
        let members = EntityExpansion(entity: entity, options: []).members.map { $0.trimmedDescription }
        let text = members.first { $0.contains("_ownValue") }
        #expect(name == nil ? text == nil : text?.contains("case \"\(name ?? "")\": return .some(self.") == true)
    }

    @Test func whatCannotHaveAccessorsGetsNoneAndTheRestDoes() {
        expectExpansion(
            of: """
                @Entity class Dog: ManagedObject {
                    let born: Int = 0
                    var name: String
                }
                """,
            """
            class Dog: ManagedObject {
                let born: Int = 0
                @_ManagedProperty(0)
                var name: String
            }
            """,
            macros: ["Entity": MacroSpec(type: AttributingMacro.self)])
    }
}
