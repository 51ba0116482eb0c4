import StrataModel

extension ValueExpression where Value: Numeric & StorableValue {
    public static func + (left: ValueExpression, right: Value) -> ValueExpression { left.made(.add, right) }

    public static func + (left: ValueExpression, right: ValueExpression) -> ValueExpression { left.made(.add, right) }

    public static func - (left: ValueExpression, right: Value) -> ValueExpression { left.made(.subtract, right) }

    public static func - (left: ValueExpression, right: ValueExpression) -> ValueExpression {
        left.made(.subtract, right)
    }

    public static func * (left: ValueExpression, right: Value) -> ValueExpression { left.made(.multiply, right) }

    public static func * (left: ValueExpression, right: ValueExpression) -> ValueExpression {
        left.made(.multiply, right)
    }

    public static func / (left: ValueExpression, right: Value) -> ValueExpression { left.made(.divide, right) }

    public static func / (left: ValueExpression, right: ValueExpression) -> ValueExpression {
        left.made(.divide, right)
    }

    public static prefix func - (term: ValueExpression) -> ValueExpression {
        ValueExpression(.function(.multiply, [term.expression, .constant(.integer(-1))]), mayBeNil: term.mayBeNil)
    }

    /// The distance from zero.
    public var magnitude: ValueExpression { made(.absolute) }

    private func made(_ function: FetchFunction) -> ValueExpression {
        ValueExpression(.function(function, [expression]), mayBeNil: mayBeNil)
    }

    private func made(_ function: FetchFunction, _ right: Value) -> ValueExpression {
        ValueExpression(.function(function, [expression, constant(right)]), mayBeNil: mayBeNil)
    }

    private func made(_ function: FetchFunction, _ right: ValueExpression) -> ValueExpression {
        ValueExpression(.function(function, [expression, right.expression]), mayBeNil: mayBeNil || right.mayBeNil)
    }
}

extension ValueExpression where Value: FixedWidthInteger & StorableValue {
    public static func % (left: ValueExpression, right: Value) -> ValueExpression {
        ValueExpression(.function(.modulus, [left.expression, left.constant(right)]), mayBeNil: left.mayBeNil)
    }

    public static func % (left: ValueExpression, right: ValueExpression) -> ValueExpression {
        ValueExpression(
            .function(.modulus, [left.expression, right.expression]), mayBeNil: left.mayBeNil || right.mayBeNil)
    }
}

extension ValueExpression where Value: FloatingPoint & StorableValue {
    /// The largest whole number that is not larger.
    public var floor: ValueExpression { ValueExpression(.function(.floor, [expression]), mayBeNil: mayBeNil) }

    /// The smallest whole number that is not smaller.
    public var ceiling: ValueExpression { ValueExpression(.function(.ceiling, [expression]), mayBeNil: mayBeNil) }

    /// The number without what stands behind the point.
    public var truncated: ValueExpression { ValueExpression(.function(.truncate, [expression]), mayBeNil: mayBeNil) }

    public var squareRoot: ValueExpression { ValueExpression(.function(.squareRoot, [expression]), mayBeNil: true) }
}
