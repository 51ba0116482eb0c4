/// A reason why a store's objects do not fit a new model, with the objects that it concerns.
///
/// `MigrationRule`s solve most: a value for a property that is now required, a conversion, or the deletion of objects
/// that have no place in the model.
public struct MigrationProblem: Sendable, Hashable {
    /// The entity's name in the new model.
    public let entityName: String
    /// The property's name, or names for a uniqueness constraint; nil for the object as a whole.
    public let key: String?
    /// The misfit, as a sentence about one object.
    public let sentence: String
    /// The number of objects that do not fit.
    public private(set) var objectCount = 0
    /// The first of these objects, at most ten.
    public private(set) var examples: [ObjectID] = []

    private static let mostExamples = 10

    /// The problem that an error about one object reports, without objects.
    package init(_ error: StrataError) {
        entityName = error.context.entityName ?? ""
        key = error.context.key
        sentence = error.message
    }

    /// Whether an error reports this problem.
    package func isTold(by error: StrataError) -> Bool {
        error.context.entityName == entityName && error.context.key == key && error.message == sentence
    }

    package mutating func add(_ id: ObjectID) {
        objectCount += 1
        if examples.count < Self.mostExamples { examples.append(id) }
    }
}

extension MigrationProblem: CustomStringConvertible {
    /// The sentence with the entity, the number of objects and the first of them.
    public var description: String {
        let names = examples.prefix(3).map { $0.named(entityName) }.joined(separator: ", ")
        let more = objectCount > 3 ? ", …" : ""
        return "\(entityName): \(sentence) (\(objectCount) \(objectCount == 1 ? "object" : "objects"): \(names)\(more))"
    }
}
