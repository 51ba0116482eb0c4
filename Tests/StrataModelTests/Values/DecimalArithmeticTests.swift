import Foundation
import StrataTestSupport
import Testing

@testable import StrataModel

/// Products and quotients of decimals up to the ends of their range.
@Suite struct DecimalArithmeticTests {
    private func decimal(_ text: String) throws -> Decimal {
        if text == "NaN" { return .nan }
        return try #require(Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")))
    }

    @Test(
        arguments: [
            ("1e-100", "1e-100", "0"), ("1e-127", "1e-128", "0"), ("-1e-64", "1e-64", "-1e-128"),
            ("1.5e-64", "3e-64", "5e-128"), ("1e100", "1e100", "NaN"), ("-1e100", "1e27", "-1e127"),
            ("0", "1e100", "0"), ("NaN", "1", "NaN"), ("12.5", "-8", "-100"), ("1e127", "1e-127", "1"),
            ("20e126", "1", "20e126"),
        ]) func productsAreRoundedToWhatADecimalHolds(left: String, right: String, product: String) throws
    {
        let found = try decimal(left).multiplied(by: decimal(right))
        #expect(try found == decimal(product) || found.isNaN && product == "NaN", "\(found)")
    }

    @Test(
        arguments: [
            ("1e-100", "4", "2.5e-101"), ("1", "1e100", "1e-100"), ("1e-128", "4", "0"), ("3e-128", "4", "1e-128"),
            ("1e100", "1e-100", "NaN"), ("7", "0", "NaN"), ("0", "0", "NaN"), ("-1", "8", "-0.125"),
            ("1e-100", "0.3e-100", "3.3333333333333333333333333333333333333"), ("1e-100", "3e27", "3e-128"),
            ("2e-100", "3e26", "67e-128"), ("2e-100", "3e28", "1e-128"), ("1", "3e127", "3e-128"),
        ]) func quotientsAreRoundedToWhatADecimalHolds(left: String, right: String, quotient: String) throws
    {
        let found = try decimal(left).divided(by: decimal(right))
        #expect(try found == decimal(quotient) || found.isNaN && quotient == "NaN", "\(found)")
    }

    /// Quotients that Python's module `decimal` gives for 38 digits.
    @Test(
        arguments: [
            ("-21250.919908", "0.0000001", "-212509199080"),
            ("0.000005991", "0.065", "0.000092169230769230769230769230769230769231"),
            ("-0.000011", "3387041212302.4", "-0.0000000000000000032476723223933136747756413023379079186"),
            ("68149772.622318118", "0.0000003658", "186303369661886.59923455440131219245489"),
            ("-1141153371.300629929", "914761360679426.581", "-0.0000012474875091499861295169034116448765756"),
            ("0.71", "18.00188483", "0.039440314539552578617402475627325741535"),
            ("-0.9353", "7862955792377876.96", "-0.00000000000000011895017913068427791036492989396628517"),
            ("0.000009528", "624779.5", "0.000000000015250180263596997020548849634150928448"),
            ("-72390762.004538402", "0.08", "-904884525.056730025"),
            ("9578621805.965652", "7930.9156113", "1207757.3732240945399252176758563715219"),
        ]) func quotientsHaveThirtyEightSoundDigits(left: String, right: String, quotient: String) throws
    {
        let (found, known) = (try decimal(left).divided(by: decimal(right)), try decimal(quotient))
        #expect(abs(found - known) <= abs(known) * Decimal(sign: .plus, exponent: -37, significand: 1), "\(found)")
    }

    @Test(arguments: RandomTesting.seeds) func productsAreThoseOfFoundation(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let numbers = (0..<2).map { _ in
                let mantissa =
                    UInt64.random(in: 1 ... .max, using: &random) >> UInt64.random(in: 0..<60, using: &random)
                return Decimal(
                    sign: Bool.random(using: &random) ? .minus : .plus,
                    exponent: Int.random(in: -30...30, using: &random), significand: Decimal(mantissa | 1))
            }
            #expect(numbers[0].multiplied(by: numbers[1]) == numbers[0] * numbers[1], "\(numbers)")
        }
    }
}
