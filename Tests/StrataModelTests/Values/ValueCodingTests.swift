import Foundation
import StrataModel
import Testing

/// Values in models, predicates and requests that are written as JSON or as a property list.
@Suite struct ValueCodingTests {
    @Test(arguments: [Decimal(0), Decimal(-1), Decimal(sign: .minus, exponent: -20, significand: 12345), .nan])
    func aDecimalComesBack(value: Decimal) throws {
        let json = try JSONEncoder().encode(AttributeValue.decimal(value))
        #expect(try JSONDecoder().decode(AttributeValue.self, from: json) == .decimal(value))
        let list = try PropertyListEncoder().encode(AttributeValue.decimal(value))
        #expect(try PropertyListDecoder().decode(AttributeValue.self, from: list) == .decimal(value))
    }

    /// Decoding accepts only the text that encoding writes.
    @Test(arguments: [#""1.5""#, #""nan""#, #""NaN ""#, #""""#, "true", "null", "[]", "{}"])
    func textThatIsNoDecimalIsRefusedWithItsKey(text: String) {
        let json = Data(#"[{"decimal": 1}, {"decimal": \#(text)}]"#.utf8)
        let error = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([AttributeValue].self, from: json)
        }
        let context: DecodingError.Context? =
            switch error {
            case .dataCorrupted(let context)?, .typeMismatch(_, let context)?, .valueNotFound(_, let context)?: context
            default: nil
            }
        #expect(context?.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue } == ["1", "decimal"])
    }
}
