import Foundation
import StrataModel
import Testing

@testable import StrataInspector

/// What is said of numbers that an attribute does not hold.
@Suite struct NumberBoundsTests {
    @Test(arguments: [
        (AttributeType.integer16, "70000", "whole numbers from -32768 to 32767"),
        (.integer64, "9223372036854775808", "whole numbers from -9223372036854775808 to 9223372036854775807"),
        (.decimal, "1e200", "numbers of up to 38 digits, and no larger than 3.4e165"),
        (.decimal, "-1e400", "numbers of up to 38 digits, and no larger than 3.4e165"),
        (.decimal, String(repeating: "9", count: 40), "numbers of up to 38 digits, and no larger than 3.4e165"),
        (.double, "1e309", "numbers no larger than 1.7976931348623157e+308"),
        (.float, "1e39", "numbers no larger than 3.4028235e+38"),
    ])
    func aNumberThatDoesNotFitIsToldWhatDoes(type: AttributeType, text: String, bounds: String) throws {
        let attribute = AttributeDescription(name: "price", type: type)
        for input in [InputValue.number(text), .text(text)] {
            let error = #expect(throws: InputError.self) { try AttributeInput().value(input, for: attribute) }
            #expect(error?.message == "'\(text)' is not \(type.nameWithArticle); it holds \(bounds).")
        }
    }

    @Test func aNumberThatFitsIsKept() throws {
        let decimal = AttributeDescription(name: "price", type: .decimal)
        for text in ["0", "-12.5", String(repeating: "9", count: 38), "1e100"] {
            let value = try AttributeInput().value(.text(text), for: decimal)
            #expect(value == Decimal(string: text).map(AttributeValue.decimal), "\(text)")
        }
        let error = #expect(throws: InputError.self) { try AttributeInput().value(.text("much"), for: decimal) }
        #expect(error?.message == "'much' is not \(AttributeType.decimal.nameWithArticle).")
    }
}
