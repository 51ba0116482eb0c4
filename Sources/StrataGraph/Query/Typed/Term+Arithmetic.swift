import StrataModel

extension Term where Value: Numeric & StorableValue {
    public static func + (left: Term, right: Value) -> Term { left.made(.add, right) }

    public static func + (left: Term, right: Term) -> Term { left.made(.add, right) }

    public static func - (left: Term, right: Value) -> Term { left.made(.subtract, right) }

    public static func - (left: Term, right: Term) -> Term { left.made(.subtract, right) }

    public static func * (left: Term, right: Value) -> Term { left.made(.multiply, right) }

    public static func * (left: Term, right: Term) -> Term { left.made(.multiply, right) }

    public static func / (left: Term, right: Value) -> Term { left.made(.divide, right) }

    public static func / (left: Term, right: Term) -> Term { left.made(.divide, right) }

    public static prefix func - (term: Term) -> Term {
        Term(.function(.multiply, [term.expression, .constant(.integer(-1))]), mayBeNil: term.mayBeNil)
    }

    /// The distance from zero.
    public var magnitude: Term { made(.absolute) }

    private func made(_ function: FetchFunction) -> Term { Term(.function(function, [expression]), mayBeNil: mayBeNil) }

    private func made(_ function: FetchFunction, _ right: Value) -> Term {
        Term(.function(function, [expression, constant(right)]), mayBeNil: mayBeNil)
    }

    private func made(_ function: FetchFunction, _ right: Term) -> Term {
        Term(.function(function, [expression, right.expression]), mayBeNil: mayBeNil || right.mayBeNil)
    }
}

extension Term where Value: FixedWidthInteger & StorableValue {
    public static func % (left: Term, right: Value) -> Term {
        Term(.function(.modulus, [left.expression, left.constant(right)]), mayBeNil: left.mayBeNil)
    }

    public static func % (left: Term, right: Term) -> Term {
        Term(
            .function(.modulus, [left.expression, right.expression]), mayBeNil: left.mayBeNil || right.mayBeNil)
    }
}

extension Term where Value: FloatingPoint & StorableValue {
    /// The largest whole number that is not larger.
    public var floor: Term { Term(.function(.floor, [expression]), mayBeNil: mayBeNil) }

    /// The smallest whole number that is not smaller.
    public var ceiling: Term { Term(.function(.ceiling, [expression]), mayBeNil: mayBeNil) }

    /// The number without what stands behind the point.
    public var truncated: Term { Term(.function(.truncate, [expression]), mayBeNil: mayBeNil) }

    public var squareRoot: Term { Term(.function(.squareRoot, [expression]), mayBeNil: true) }
}
