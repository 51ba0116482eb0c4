/// The name of a function in a predicate, with a colon for each argument as in `add:to:`.
///
/// Any name can stand in a tree; those that no constant here names are refused when a request is made.
public struct FetchFunction: RawRepresentable, Sendable, Hashable, Codable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    // Over a list, or over all their arguments.
    public static let sum = FetchFunction(rawValue: "sum:")
    public static let count = FetchFunction(rawValue: "count:")
    public static let min = FetchFunction(rawValue: "min:")
    public static let max = FetchFunction(rawValue: "max:")
    public static let average = FetchFunction(rawValue: "average:")
    public static let median = FetchFunction(rawValue: "median:")
    /// The values that occur most often, as a list.
    public static let mode = FetchFunction(rawValue: "mode:")
    /// The standard deviation of a whole population.
    public static let standardDeviation = FetchFunction(rawValue: "stddev:")

    // Operators.
    /// `a + b`
    public static let add = FetchFunction(rawValue: "add:to:")
    /// `a - b`: the arguments are a and b.
    public static let subtract = FetchFunction(rawValue: "from:subtract:")
    /// `a * b`
    public static let multiply = FetchFunction(rawValue: "multiply:by:")
    /// `a / b`
    public static let divide = FetchFunction(rawValue: "divide:by:")
    public static let modulus = FetchFunction(rawValue: "modulus:by:")
    /// `a ** b`
    public static let power = FetchFunction(rawValue: "raise:toPower:")
    /// `a & b`
    public static let bitwiseAnd = FetchFunction(rawValue: "bitwiseAnd:with:")
    /// `a | b`
    public static let bitwiseOr = FetchFunction(rawValue: "bitwiseOr:with:")
    /// `a ^ b`
    public static let bitwiseXor = FetchFunction(rawValue: "bitwiseXor:with:")
    /// `a << b`
    public static let leftShift = FetchFunction(rawValue: "leftshift:by:")
    /// `a >> b`
    public static let rightShift = FetchFunction(rawValue: "rightshift:by:")
    /// `~a`
    public static let onesComplement = FetchFunction(rawValue: "onesComplement:")

    // Numbers.
    public static let squareRoot = FetchFunction(rawValue: "sqrt:")
    /// To the base 10.
    public static let logarithm = FetchFunction(rawValue: "log:")
    /// To the base e.
    public static let naturalLogarithm = FetchFunction(rawValue: "ln:")
    public static let exponential = FetchFunction(rawValue: "exp:")
    public static let floor = FetchFunction(rawValue: "floor:")
    public static let ceiling = FetchFunction(rawValue: "ceiling:")
    public static let absolute = FetchFunction(rawValue: "abs:")
    public static let truncate = FetchFunction(rawValue: "trunc:")
    /// A whole number from 0 to 2^31 - 1.
    public static let random = FetchFunction(rawValue: "random")
    /// A whole number from 0 up to the argument.
    public static let randomBelow = FetchFunction(rawValue: "randomn:")

    // Text.
    public static let uppercase = FetchFunction(rawValue: "uppercase:")
    public static let lowercase = FetchFunction(rawValue: "lowercase:")
    /// Case and diacritics folded, as `[cd]` compares.
    public static let canonical = FetchFunction(rawValue: "canonical:")
    /// The number of characters.
    public static let length = FetchFunction(rawValue: "length:")

    // Others.
    public static let now = FetchFunction(rawValue: "now")
    /// `CAST(a, "type")`
    public static let cast = FetchFunction(rawValue: "castObject:toType:")
    /// The argument itself, kept from the indexes.
    public static let noIndex = FetchFunction(rawValue: "noindex:")
    /// An element of a list, as `list[n]`.
    public static let elementAt = FetchFunction(rawValue: "objectFrom:withIndex:")
    /// `FETCH(request, context, countOnly)`: the objects that a request finds, or their number. The context is the one
    /// that runs the request around it, whatever is written.
    public static let fetch = FetchFunction(rawValue: "fetch:context:countOnly:")
    public static let distance = FetchFunction(rawValue: "distanceToLocation:fromLocation:")
}

extension FetchFunction {
    /// Those that are written between their two arguments.
    package static let infix: [FetchFunction: String] = [
        .add: "+", .subtract: "-", .multiply: "*", .divide: "/", .power: "**", .bitwiseAnd: "&", .bitwiseOr: "|",
        .bitwiseXor: "^", .leftShift: "<<", .rightShift: ">>",
    ]

    /// Those that take a list, or any number of arguments that they see as one.
    package static let overLists: Set<FetchFunction> = [
        .sum, .count, .min, .max, .average, .median, .mode, .standardDeviation,
    ]

    /// Every function that can be evaluated, but those that `FetchFunction.selectors` adds.
    package static let predefined: Set<FetchFunction> = overLists.union(infix.keys).union([
        .modulus, .onesComplement, .squareRoot, .logarithm, .naturalLogarithm, .exponential, .floor, .ceiling,
        .absolute, .truncate, .random, .randomBelow, .uppercase, .lowercase, .canonical, .length, .now, .cast,
        .noIndex, .elementAt, .fetch,
    ])

    /// Those of single values that are applied to each member where one argument is a collection.
    package static let perMember: Set<FetchFunction> = Set(infix.keys).union([
        .modulus, .onesComplement, .squareRoot, .logarithm, .naturalLogarithm, .exponential, .floor, .ceiling,
        .absolute, .truncate, .uppercase, .lowercase, .canonical,
    ])

    /// The colons in the name.
    package var argumentCount: Int { rawValue.utf8.reduce(0) { $1 == UInt8(ascii: ":") ? $0 + 1 : $0 } }
}
