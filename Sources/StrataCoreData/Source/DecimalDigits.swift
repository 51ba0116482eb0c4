import Foundation

/// A decimal number as its digits, so that two texts of the same number are equal.
///
/// It takes digits with a sign, a point and an exponent, and nothing else.
struct DecimalDigits: Equatable {
    private let isNegative: Bool
    /// Without zeros at either end; empty for zero.
    private let digits: [UInt8]
    /// The power of ten of the last digit.
    private let exponent: Int

    /// nil if the text is no number in full.
    init?(_ text: String) {
        var rest = Array(text.utf8)[...]
        let sign = rest.first
        if sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest = rest.dropFirst() }
        func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
        let whole = rest.prefix(while: isDigit)
        rest = rest.dropFirst(whole.count)
        var fraction: ArraySlice<UInt8> = []
        if rest.first == UInt8(ascii: ".") {
            fraction = rest.dropFirst().prefix(while: isDigit)
            rest = rest.dropFirst(1 + fraction.count)
        }
        var power = 0
        if let mark = rest.first, mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") {
            guard rest.count < 12, let number = Int(String(decoding: rest.dropFirst(), as: UTF8.self)) else {
                return nil
            }
            power = number
            rest = []
        }
        guard rest.isEmpty, !whole.isEmpty || !fraction.isEmpty else { return nil }
        let all = Array((whole + fraction).drop { $0 == 0x30 })
        let zeros = all.reversed().prefix { $0 == 0x30 }.count
        digits = Array(all.dropLast(zeros))
        exponent = digits.isEmpty ? 0 : power - fraction.count + zeros
        isNegative = sign == UInt8(ascii: "-") && !digits.isEmpty
    }

    /// nil for no number.
    init?(_ value: Decimal) {
        guard !value.isNaN else { return nil }
        self.init("\(value)")
    }
}
