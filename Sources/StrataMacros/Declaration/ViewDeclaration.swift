// The columns of a view, as `@View` reads them from the source.

import SwiftSyntax

/// The attributes that make a variable a column of a view.
enum ViewMarker: String, CaseIterable {
    case key = "Key"
    case count = "Count"
    case countDistinct = "CountDistinct"
    case sum = "Sum"
    case average = "Average"
    case min = "Min"
    case max = "Max"
    case first = "First"
    case last = "Last"
    case top = "Top"
    case projected = "Projected"

    /// The method of `ViewSource` that adds the column.
    fileprivate var method: String {
        switch self {
        case .key: "grouped"
        case .count: "counting"
        case .countDistinct: "countingDistinct"
        case .sum: "summing"
        case .average: "averaging"
        case .min: "minimum"
        case .max: "maximum"
        case .first: "first"
        case .last: "last"
        case .top: "top"
        case .projected: "projecting"
        }
    }
}

/// A variable of a struct that is a column of its view.
struct ViewColumn {
    let identifier: String
    let name: String
    let marker: ViewMarker
    private let arguments: [LabeledExprSyntax]

    /// nil if the variable has no marker or several, or a form that is no column.
    init?(_ variable: VariableDeclSyntax) {
        let markers = variable.attributes.viewMarkers
        guard variable.isInstanceStorage, variable.bindings.count == 1, let binding = variable.bindings.first,
            binding.accessorBlock == nil, binding.typeAnnotation != nil, binding.initializer == nil,
            let pattern = binding.pattern.as(IdentifierPatternSyntax.self), markers.count == 1,
            let found = markers.first
        else { return nil }
        identifier = pattern.identifier.text
        name = pattern.identifier.bareText
        (marker, arguments) = (found.marker, found.attribute.labeledArguments)
    }

    /// The call that adds the column to the source.
    var call: String {
        var texts = arguments.map(\.text)
        if marker == .key, let first = arguments.first {
            // `grouped(by:)`, `grouped(by:of:in:)` and `grouped(byBucketsOf:of:)`.
            let value = first.expression.trimmedDescription
            texts[0] = first.label?.text == "bucketsOf" ? "byBucketsOf: \(value)" : "by: \(value)"
        }
        return ".\(marker.method)(\((texts + ["as: \"\(name)\""]).joined(separator: ", ")))"
    }
}

extension AttributeListSyntax {
    /// The attributes that make a column.
    var viewMarkers: [(marker: ViewMarker, attribute: AttributeSyntax)] {
        compactMap { element in
            guard case .attribute(let attribute) = element,
                let marker = ViewMarker(rawValue: attribute.attributeName.lastName ?? "")
            else { return nil }
            return (marker, attribute)
        }
    }
}
