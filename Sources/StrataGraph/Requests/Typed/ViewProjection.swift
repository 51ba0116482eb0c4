public import StrataModel
import StrataStore

/// A type of the app that computes a column of a view that no aggregate can: a value of it is the state of a
/// group.
///
/// ```swift
/// struct Middle: ViewProjection {
///     static var inputs: [PartialKeyPath<Film>] { [\.year] }
///     private var counts: [Int: Int] = [:]
///     init() {}
///
///     mutating func add(_ film: ProjectedRow<Film>) throws { count(try film.year, 1) }
///     mutating func remove(_ film: ProjectedRow<Film>) throws { count(try film.year, -1) }
///
///     private mutating func count(_ year: Int, _ sign: Int) {
///         counts[year, default: 0] += sign
///         if counts[year] == 0 { counts[year] = nil }
///     }
/// }
/// ```
///
/// The store adds each object of a group, and removes it with the values that it was added with. What a state says must
/// depend on the objects alone, and not on the order in which they came and went: `remove` undoes `add`.
/// `checkLaws(histories:seed:rows:)` tries that with histories made at random.
///
/// A type that throws fails the view as any object does that a view cannot group. Other code under the same name is
/// another definition: give the view another version then. The store decodes, changes and encodes the whole state of a
/// group with each commit that touches it, so keep states small.
public protocol ViewProjection: Codable, Sendable {
    /// The class whose objects are grouped.
    associatedtype Object: ManagedObject
    /// The attributes and to-ones that `add` and `remove` read, also behind to-ones.
    static var inputs: [PartialKeyPath<Object>] { get }
    /// The name under which the model of a store has the type; the name of module and type if it is not said.
    static var projectionName: String { get }
    /// The state of a group without objects.
    init()
    /// Adds an object to the group.
    mutating func add(_ row: ProjectedRow<Object>) throws
    /// Removes an object that is in the group.
    mutating func remove(_ row: ProjectedRow<Object>) throws
}

extension ViewProjection {
    /// The name of module and type.
    public static var projectionName: String { String(reflecting: Self.self) }

    /// Makes the type known to this process, as the declaration of a view with it does. A process that opens stores whose
    /// views it does not declare itself calls it before.
    public static func register() {
        let name = projectionName
        // Such a name has an address, which is another in the next build.
        precondition(
            !name.contains("(unknown context"),
            "\(Self.self) is private or local, so its name is not the same for ever. Give it a projectionName.")
        code(name).register()
    }

    /// The name of the type in the model, and the properties that it reads.
    static var reference: ProjectionReference {
        ProjectionReference(projectionName, inputs: inputs.map { PropertyName.ofAny($0) })
    }

    static func code(_ name: String) -> ProjectionCode {
        let inputs = ProjectionInputs(Self.inputs)
        return ProjectionCode(name) { before, changes in
            guard let first = changes.first else { return try before ?? AttributeValueEncoder.encode(Self()) }
            var state = Self()
            if let before {
                state = try Self.told(first.object, "its state cannot be read") { try Self(projected: before) }
            }
            for change in changes {
                let row = ProjectedRow(change.object, inputs, change.values)
                try Self.told(change.object, nil) {
                    if change.isRemoval { try state.remove(row) } else { try state.add(row) }
                }
            }
            return try Self.told(first.object, "its state cannot be stored") { try AttributeValueEncoder.encode(state) }
        }
    }

    /// Says of an error which object it was about.
    private static func told<R>(_ object: ObjectID, _ what: String?, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch {
            let reason = (error as? StrataError)?.message ?? "\(error)"
            throw ProjectionFault(object: object, reason: what.map { "\($0): \(reason)" } ?? reason)
        }
    }

    /// Makes the state of the value of a column.
    ///
    /// - Throws: what its `init(from:)` throws for a value of another shape.
    public init(projected value: AttributeValue) throws {
        self = try value.isNull ? Self() : AttributeValueDecoder.decode(Self.self, from: value)
    }
}

/// The inputs of a projection by key path. It may be sent to any task: it never changes after it is made, and only key paths are not
/// marked as sendable.
final class ProjectionInputs<Object: ManagedObject>: @unchecked Sendable {
    let paths: [PartialKeyPath<Object>]
    private let indices: [PartialKeyPath<Object>: Int]

    init(_ paths: [PartialKeyPath<Object>]) {
        self.paths = paths
        indices = Dictionary(zip(paths, paths.indices), uniquingKeysWith: { first, _ in first })
    }

    func index(of path: PartialKeyPath<Object>) -> Int? { indices[path] }
}

/// An object as a projection sees it: its id, and the values of the inputs.
///
/// `try film.year` reads an input. Texts are in their normal form, as in the keys of views.
@dynamicMemberLookup
public struct ProjectedRow<Object: ManagedObject>: Sendable {
    /// The object.
    public let objectID: ObjectID
    private let inputs: ProjectionInputs<Object>
    let values: [AttributeValue]

    init(_ objectID: ObjectID, _ inputs: ProjectionInputs<Object>, _ values: [AttributeValue]) {
        (self.objectID, self.inputs, self.values) = (objectID, inputs, values)
    }

    /// A row for a test of a projection. Inputs that are left out are nil.
    public init(_ values: [PartialKeyPath<Object>: any StorableValue]) {
        let inputs = ProjectionInputs<Object>(Array(values.keys))
        self.init(ObjectID(rawValue: 0), inputs, inputs.paths.map { values[$0]?.attributeValue ?? .null })
    }

    /// The row with other inputs, and the id of an object.
    func with(_ inputs: ProjectionInputs<Object>, _ id: ObjectID) -> ProjectedRow {
        ProjectedRow(id, inputs, inputs.paths.map { path in self.inputs.index(of: path).map { values[$0] } ?? .null })
    }

    // MARK: Values

    /// An attribute.
    ///
    /// - Throws: `unknownKey` for a property that is not among the inputs; `wrongType` for nil.
    public subscript<Value: StorableValue>(dynamicMember path: KeyPath<Object, Value>) -> Value {
        get throws {
            let value = try value(at: path)
            guard let found = Value(attributeValue: value) else { throw misfit(path, value, "\(Value.self)") }
            return found
        }
    }

    /// An attribute that may be nil.
    ///
    /// - Throws: `unknownKey` for a property that is not among the inputs.
    public subscript<Value: StorableValue>(dynamicMember path: KeyPath<Object, Value?>) -> Value? {
        get throws {
            let value = try value(at: path)
            if value.isNull { return nil }
            guard let found = Value(attributeValue: value) else { throw misfit(path, value, "\(Value.self)") }
            return found
        }
    }

    /// An attribute with a raw value.
    ///
    /// - Throws: as for other attributes.
    public subscript<Value: RawRepresentable>(dynamicMember path: KeyPath<Object, Value>) -> Value
    where Value.RawValue: StorableValue {
        get throws {
            let value = try value(at: path)
            guard let found = Value.RawValue(attributeValue: value).flatMap(Value.init(rawValue:)) else {
                throw misfit(path, value, "\(Value.self)")
            }
            return found
        }
    }

    /// A to-one: the id of the object at its end.
    ///
    /// - Throws: `unknownKey` for a property that is not among the inputs.
    public subscript<Target: ManagedObject>(dynamicMember path: KeyPath<Object, Target?>) -> ObjectID? {
        get throws {
            if case .objectID(let id) = try value(at: path) { return id }
            return nil
        }
    }

    private func value(at path: PartialKeyPath<Object>) throws -> AttributeValue {
        if let index = inputs.index(of: path) { return values[index] }
        throw StrataError(
            .unknownKey,
            "\(PropertyName.ofAny(path)) is not among the inputs of the projection. Add its key path to them.",
            context: .init(entityName: Object.entityName, objectID: objectID))
    }

    private func misfit(_ path: PartialKeyPath<Object>, _ value: AttributeValue, _ type: String) -> StrataError {
        let name = PropertyName.ofAny(path)
        return StrataError(
            .wrongType, "\(name) is \(value) here, which is no \(type).",
            context: .init(entityName: Object.entityName, objectID: objectID, key: name, value: value))
    }
}

extension ViewSource {
    /// Adds a column that a type of the app makes of the objects of a group.
    public func projecting<Projection: ViewProjection>(
        _ type: Projection.Type, as name: String
    ) -> ViewSource where Projection.Object == Object {
        type.register()
        return with(aggregate: ViewAggregate(name, type.reference))
    }
}

extension ViewColumns {
    /// The state of a column that a type of the app makes.
    ///
    /// - Throws: `unknownKey` for a column that the view does not have; what `init(from:)` throws for a state of other code.
    public func value<Projection: ViewProjection>(_ column: String) throws -> Projection {
        try Projection(projected: try found(column))
    }
}
