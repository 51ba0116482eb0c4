import StrataModel

// Operators and functions of numbers in typed queries.

extension ValueExpression where Value: Numeric & StorableValue {
    /// The sum; nil if an operand is.
    public static func + (left: ValueExpression, right: Value) -> ValueExpression { left.made(.add, right) }

    /// The sum; nil if an operand is.
    public static func + (left: ValueExpression, right: ValueExpression) -> ValueExpression { left.made(.add, right) }

    /// The difference; nil if an operand is.
    public static func - (left: ValueExpression, right: Value) -> ValueExpression { left.made(.subtract, right) }

    /// The difference; nil if an operand is.
    public static func - (left: ValueExpression, right: ValueExpression) -> ValueExpression {
        left.made(.subtract, right)
    }

    /// The product; nil if an operand is.
    public static func * (left: ValueExpression, right: Value) -> ValueExpression { left.made(.multiply, right) }

    /// The product; nil if an operand is.
    public static func * (left: ValueExpression, right: ValueExpression) -> ValueExpression {
        left.made(.multiply, right)
    }

    /// The quotient; nil if an operand is, or the divisor is zero.
    public static func / (left: ValueExpression, right: Value) -> ValueExpression { left.made(.divide, right) }

    /// The quotient; nil if an operand is, or the divisor is zero.
    public static func / (left: ValueExpression, right: ValueExpression) -> ValueExpression {
        left.made(.divide, right)
    }

    /// The number with the opposite sign.
    public static prefix func - (operand: ValueExpression) -> ValueExpression {
        ValueExpression(
            .function(.multiply, [operand.expression, .constant(.integer(-1))]), mayBeNil: operand.mayBeNil)
    }

    /// The absolute value.
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
    /// The remainder of a division; nil if an operand is, or the divisor is zero.
    public static func % (left: ValueExpression, right: Value) -> ValueExpression {
        ValueExpression(.function(.modulus, [left.expression, left.constant(right)]), mayBeNil: left.mayBeNil)
    }

    /// The remainder of a division; nil if an operand is, or the divisor is zero.
    public static func % (left: ValueExpression, right: ValueExpression) -> ValueExpression {
        ValueExpression(
            .function(.modulus, [left.expression, right.expression]), mayBeNil: left.mayBeNil || right.mayBeNil)
    }
}

extension ValueExpression where Value: FloatingPoint & StorableValue {
    /// The number rounded down.
    public var floor: ValueExpression { ValueExpression(.function(.floor, [expression]), mayBeNil: mayBeNil) }

    /// The number rounded up.
    public var ceiling: ValueExpression { ValueExpression(.function(.ceiling, [expression]), mayBeNil: mayBeNil) }

    /// The number rounded toward zero.
    public var truncated: ValueExpression { ValueExpression(.function(.truncate, [expression]), mayBeNil: mayBeNil) }

    /// The square root; nil for a negative number.
    public var squareRoot: ValueExpression { ValueExpression(.function(.squareRoot, [expression]), mayBeNil: true) }
}
