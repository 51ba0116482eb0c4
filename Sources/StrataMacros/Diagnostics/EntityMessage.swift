import SwiftDiagnostics

/// The messages of the macros: errors, and the descriptions of fixes.
struct EntityMessage: DiagnosticMessage, FixItMessage {
    let message: String
    let name: String

    fileprivate init(_ name: String, _ message: String) {
        self.name = name
        self.message = message
    }

    var diagnosticID: MessageID { MessageID(domain: "Strata", id: name) }
    var fixItID: MessageID { diagnosticID }
    var severity: DiagnosticSeverity { .error }
}

// MARK: Classes

extension DiagnosticMessage where Self == EntityMessage {
    static var notAClass: Self { Self("notAClass", "@Entity applies to a class that inherits from ManagedObject.") }

    static var generic: Self {
        Self("generic", "An entity cannot be generic: the model knows it by one name and one list of properties.")
    }

    static func missingSuperclass(_ name: String) -> Self {
        Self("missingSuperclass", "\(name) must inherit from ManagedObject or from another entity.")
    }

    static var foreignSuperclass: Self {
        Self("foreignSuperclass", "An entity inherits from Strata's ManagedObject, and not from NSManagedObject.")
    }

    static func hiddenClass(_ name: String) -> Self {
        Self(
            "hiddenClass",
            "\(name) cannot be 'private' inside another type, because it gets an extension outside; write 'fileprivate'."
        )
    }

    static var observable: Self {
        Self(
            "observable",
            "@Observable and @Entity cannot both write the accessors. Objects of the view context are observable "
                + "without it, and those of other contexts with 'observesObjects'.")
    }

    static var actorBound: Self {
        Self(
            "actorBound",
            "An entity cannot be bound to an actor: each object belongs to the isolation of its context.")
    }

    static var repeatedEntity: Self { Self("repeatedEntity", "@Entity is written twice.") }

    static var designatedInitializer: Self {
        Self(
            "designatedInitializer",
            "An initializer of an entity must be 'convenience' and call 'self.init(context:)'.")
    }

    static var conditional: Self {
        Self(
            "conditional", "A property of the model cannot depend on '#if': every build must have the same model.")
    }

    static func misplaced(_ marker: Marker) -> Self {
        Self("misplaced", "@\(marker.rawValue) applies to a variable of an @Entity class.")
    }
}

// MARK: Variables

extension DiagnosticMessage where Self == EntityMessage {
    static func missingType(_ name: String) -> Self {
        Self("missingType", "'\(name)' needs a type annotation: a macro cannot see the type of its value.")
    }

    static func constant(_ name: String) -> Self {
        Self("constant", "'\(name)' must be a 'var': the values of a managed object come from the store.")
    }

    static func lazy(_ name: String) -> Self {
        Self("lazy", "'\(name)' cannot be 'lazy' and part of the model; mark it @Transient to keep it outside.")
    }

    static func weak(_ name: String, _ word: String) -> Self {
        Self("weak", "'\(name)' cannot be '\(word)': a relationship never keeps its target alive.")
    }

    static func observers(_ name: String) -> Self {
        Self(
            "observers",
            "'\(name)' cannot have property observers: merges, undo and key-value access do not call them. "
                + "Override willSave(), or wrap it in a computed property.")
    }

    static var severalVariables: Self {
        Self("severalVariables", "Each property of an entity is declared by a 'var' of its own.")
    }

    static var tuplePattern: Self {
        Self("tuplePattern", "A property of an entity is declared by a plain name.")
    }

    static func overridden(_ name: String) -> Self {
        Self("overridden", "'\(name)' is a property of the parent entity and cannot be declared again.")
    }

    static func reserved(_ name: String) -> Self {
        Self("reserved", "'\(name)' is a reserved name: it has a meaning of its own in objects or in predicates.")
    }

    static func badName(_ name: String) -> Self {
        Self("badName", "'\(name)' is no name for a property of a model: use letters, digits and underscores.")
    }

    static func repeated(_ marker: Marker) -> Self {
        Self("repeated", "@\(marker.rawValue) is written twice.")
    }

    static func contradiction(_ first: Marker, _ second: Marker, _ name: String) -> Self {
        Self(
            "contradiction", "'\(name)' cannot be both @\(first.rawValue) and @\(second.rawValue).")
    }

    static func notStored(_ marker: Marker, _ name: String) -> Self {
        Self("notStored", "@\(marker.rawValue) has no meaning here: '\(name)' is not a stored variable of the object.")
    }

    static func uninitialized(_ name: String) -> Self {
        Self("uninitialized", "'\(name)' is @Transient, a plain Swift property, and needs an initial value.")
    }
}

// MARK: Types and values

extension DiagnosticMessage where Self == EntityMessage {
    static func mustBeOptional(_ name: String, _ kind: String) -> Self {
        let orInitial = kind == "transient" ? ", or it must have an initial value" : ""
        return Self(
            "mustBeOptional",
            "'\(name)' is \(kind) and has no value until one is set: its type must be optional\(orInitial).")
    }

    static func noInitialValue(_ name: String, _ kind: String) -> Self {
        Self("noInitialValue", "'\(name)' is \(kind) and cannot have an initial value; set it in awakeFromInsert().")
    }

    static func changingDefault(_ name: String, _ value: String) -> Self {
        Self(
            "changingDefault",
            "The default of '\(name)' is part of the model and evaluated once, so '\(value)' would be the same in "
                + "every object; set it in awakeFromInsert().")
    }

    static func toOneNotOptional(_ name: String) -> Self {
        Self(
            "toOneNotOptional",
            "The to-one relationship '\(name)' must be optional; '.required' makes a save refuse nil.")
    }

    static func relationshipOnAttribute(_ name: String, _ type: String) -> Self {
        Self(
            "relationshipOnAttribute",
            "'\(name)' is an attribute, because its type is \(type): write @Attribute in place of @Relationship.")
    }

    static func collection(_ name: String, _ element: String) -> Self {
        Self("collection", "The to-many relationship '\(name)' must have the type ToMany<\(element)>.")
    }

    static func optionalToMany(_ name: String) -> Self {
        Self("optionalToMany", "The to-many relationship '\(name)' cannot be optional: it may be empty.")
    }

    static func attributeOnRelationship(_ name: String) -> Self {
        Self("attributeOnRelationship", "'\(name)' is a relationship: write @Relationship in place of @Attribute.")
    }

    static func transientWithOptions(_ name: String) -> Self {
        Self("transientWithOptions", "'\(name)' is transient: it is kept in memory only and takes no other option.")
    }
}

// MARK: Fixes

extension FixItMessage where Self == EntityMessage {
    static func insert(_ text: String) -> Self { Self("insert", "insert '\(text)'") }
    static func remove(_ text: String) -> Self { Self("remove", "remove '\(text)'") }
    static func replace(_ old: String, _ new: String) -> Self { Self("replace", "replace '\(old)' with '\(new)'") }
    static var split: Self { Self("split", "write one 'var' for each") }
}

// MARK: Views

extension DiagnosticMessage where Self == EntityMessage {
    static var notAStruct: Self { Self("notAStruct", "@View applies to a struct.") }

    static var genericView: Self {
        Self("genericView", "A view has one source and one name, so its struct cannot be generic.")
    }

    static var missingSource: Self {
        Self("missingSource", "A view needs its objects: 'static let source = ViewSource(Film.self)'.")
    }

    static var noColumns: Self { Self("noColumns", "A view needs a column, such as '@Count var films: Int'.") }

    static var noColumn: Self {
        let markers = ViewMarker.allCases.map { "@\($0.rawValue)" }.joined(separator: ", ")
        return Self(
            "noColumn", "A variable of a view has a type, no initial value, and one of \(markers).")
    }

    static var noPlaceForColumn: Self {
        Self("noPlaceForColumn", "A column is a variable of a struct with @View.")
    }
}
