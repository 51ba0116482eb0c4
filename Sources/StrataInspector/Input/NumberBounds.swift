// The bounds of the numbers that attributes of each type can hold.

import StrataModel

extension AttributeType {
    /// The numbers that a value can be, in words; nil for a type of other values.
    var bounds: String? {
        switch self {
        case .integer16: "whole numbers from \(Int16.min) to \(Int16.max)"
        case .integer32: "whole numbers from \(Int32.min) to \(Int32.max)"
        case .integer64: "whole numbers from \(Int64.min) to \(Int64.max)"
        case .decimal: "numbers of up to 38 digits, and no larger than 3.4e165"
        case .double: "numbers no larger than \(Double.greatestFiniteMagnitude)"
        case .float: "numbers no larger than \(Float.greatestFiniteMagnitude)"
        default: nil
        }
    }
}
