import StrataModel

/// The type of an expression, as far as it follows from the model.
indirect enum ExpressionType: Sendable {
    case value(ComparedType)
    case object(EntitySchema)
    /// Members of a collection: a to-many, a literal list, or a result of set operations.
    case list(ExpressionType)
    /// The constant `nil`.
    case null
    /// Unknown: elements of composites, values of transformables, results of methods.
    case unknown

    init(_ value: AttributeValue, _ schema: Schema) {
        self =
            switch value {
            case .null: .null
            case .boolean: .value(.boolean)
            case .integer: .value(.integer)
            case .float: .value(.floatingPoint(isFloat: true))
            case .double: .value(.floatingPoint(isFloat: false))
            case .decimal: .value(.decimal)
            case .string: .value(.text)
            case .date: .value(.date)
            case .uuid: .value(.uuid)
            case .url: .value(.url)
            case .data: .value(.data)
            case .blob: .value(.outside)
            case .objectID(let id): schema.entity(id.entityID).map(ExpressionType.object) ?? .value(.object)
            case .composite: .value(.composite)
            case .encrypted: .value(.encrypted)
            }
    }

    static let number = ExpressionType.value(.floatingPoint(isFloat: false))

    var name: String {
        switch self {
        case .value(let type): type.name
        case .object(let entity): "an object of \(entity.name)"
        case .list: "a collection"
        case .null: "nil"
        case .unknown: "a value"
        }
    }

    /// The type of a member; a single value is its own only member.
    var member: ExpressionType { if case .list(let member) = self { member } else { self } }

    var isList: Bool { if case .list = self { true } else { false } }

    /// The type for comparisons of a single value; nil if it is not known.
    var compared: ComparedType? {
        switch self {
        case .value(let type): type
        case .object: .object
        case .list, .null, .unknown: nil
        }
    }

    /// Whether the value may be a number.
    var canBeNumber: Bool { compared?.isNumber ?? !isList }
    var canBeText: Bool { compared?.isText ?? !isList }
}
