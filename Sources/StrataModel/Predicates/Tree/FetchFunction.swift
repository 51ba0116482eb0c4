/// The name of a function in a predicate, with a colon for each argument as in `add:to:`.
///
/// A tree can hold any name; a request with an unknown function is rejected when it is made.
public struct FetchFunction: RawRepresentable, Sendable, Hashable, Codable {
    /// The function's name in the format language.
    public let rawValue: String

    /// The function with this name.
    public init(rawValue: String) { self.rawValue = rawValue }

    // Functions of a list, or of all their arguments as one list.
    /// The sum; 0 for an empty list.
    public static let sum = FetchFunction(rawValue: "sum:")
    /// The number of values.
    public static let count = FetchFunction(rawValue: "count:")
    /// The smallest value.
    public static let min = FetchFunction(rawValue: "min:")
    /// The largest value.
    public static let max = FetchFunction(rawValue: "max:")
    /// The arithmetic mean.
    public static let average = FetchFunction(rawValue: "average:")
    /// The median.
    public static let median = FetchFunction(rawValue: "median:")
    /// The values that occur most often, as a list.
    public static let mode = FetchFunction(rawValue: "mode:")
    /// The standard deviation of the whole population.
    public static let standardDeviation = FetchFunction(rawValue: "stddev:")

    // Operators.
    /// `a + b`
    public static let add = FetchFunction(rawValue: "add:to:")
    /// `a - b`, with the arguments a and b.
    public static let subtract = FetchFunction(rawValue: "from:subtract:")
    /// `a * b`
    public static let multiply = FetchFunction(rawValue: "multiply:by:")
    /// `a / b`
    public static let divide = FetchFunction(rawValue: "divide:by:")
    /// The remainder of `a / b`.
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
    /// The square root.
    public static let squareRoot = FetchFunction(rawValue: "sqrt:")
    /// The logarithm to base 10.
    public static let logarithm = FetchFunction(rawValue: "log:")
    /// The logarithm to base e.
    public static let naturalLogarithm = FetchFunction(rawValue: "ln:")
    /// The exponential function.
    public static let exponential = FetchFunction(rawValue: "exp:")
    /// Rounds down.
    public static let floor = FetchFunction(rawValue: "floor:")
    /// Rounds up.
    public static let ceiling = FetchFunction(rawValue: "ceiling:")
    /// The absolute value.
    public static let absolute = FetchFunction(rawValue: "abs:")
    /// Rounds toward zero.
    public static let truncate = FetchFunction(rawValue: "trunc:")
    /// A random whole number from 0 to 2^31 - 1.
    public static let random = FetchFunction(rawValue: "random")
    /// A random whole number from 0 up to, not including, the argument.
    public static let randomBelow = FetchFunction(rawValue: "randomn:")

    // Text.
    /// The text in upper case.
    public static let uppercase = FetchFunction(rawValue: "uppercase:")
    /// The text in lower case.
    public static let lowercase = FetchFunction(rawValue: "lowercase:")
    /// The text without case and diacritical marks, as `[cd]` compares it.
    public static let canonical = FetchFunction(rawValue: "canonical:")
    /// The number of characters in a text, or of members in a list.
    public static let length = FetchFunction(rawValue: "length:")

    /// `text matchesText: "query"`: whether a text meets a `FullTextQuery`. In the condition of a request it can be asked
    /// of `SELF` too, which is the full text that the entity declares.
    public static let matchesText = FetchFunction(rawValue: "matchesText:")

    // Others.
    /// The time of the request.
    public static let now = FetchFunction(rawValue: "now")
    /// `CAST(a, "type")`: the value converted to a type.
    public static let cast = FetchFunction(rawValue: "castObject:toType:")
    /// The argument itself. The query does not use an index for it.
    public static let noIndex = FetchFunction(rawValue: "noindex:")
    /// An element of a list, as in `list[n]`.
    public static let elementAt = FetchFunction(rawValue: "objectFrom:withIndex:")
    /// `FETCH(request, context, countOnly)`: the objects that a request finds, or their number. The context argument is
    /// ignored: the context that runs the outer request is used.
    public static let fetch = FetchFunction(rawValue: "fetch:context:countOnly:")
    /// The distance of two locations. It is rejected, because attributes cannot hold locations.
    public static let distance = FetchFunction(rawValue: "distanceToLocation:fromLocation:")
}

extension FetchFunction {
    /// The operators between two operands, with their signs.
    package static let infix: [FetchFunction: String] = [
        .add: "+", .subtract: "-", .multiply: "*", .divide: "/", .power: "**", .bitwiseAnd: "&", .bitwiseOr: "|",
        .bitwiseXor: "^", .leftShift: "<<", .rightShift: ">>",
    ]

    /// The functions that take a list, or any number of arguments as one list.
    package static let overLists: Set<FetchFunction> = [
        .sum, .count, .min, .max, .average, .median, .mode, .standardDeviation,
    ]

    /// The functions that can be evaluated, without the methods in `FetchFunction.selectors`.
    package static let predefined: Set<FetchFunction> = overLists.union(infix.keys).union([
        .modulus, .onesComplement, .squareRoot, .logarithm, .naturalLogarithm, .exponential, .floor, .ceiling,
        .absolute, .truncate, .random, .randomBelow, .uppercase, .lowercase, .canonical, .length, .now, .cast,
        .noIndex, .elementAt, .fetch,
    ])

    /// The functions of single values that apply to each member if an argument is a collection.
    package static let perMember: Set<FetchFunction> = Set(infix.keys).union([
        .modulus, .onesComplement, .squareRoot, .logarithm, .naturalLogarithm, .exponential, .floor, .ceiling,
        .absolute, .truncate, .uppercase, .lowercase, .canonical,
    ])

    /// The number of arguments, which is the number of colons in the name.
    package var argumentCount: Int { rawValue.utf8.reduce(0) { $1 == UInt8(ascii: ":") ? $0 + 1 : $0 } }
}
