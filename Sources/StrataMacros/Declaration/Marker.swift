import SwiftSyntax

/// The attributes that `@Entity` reads.
enum Marker: String, CaseIterable {
    case entity = "Entity"
    case attribute = "Attribute"
    case relationship = "Relationship"
    case transient = "Transient"
}

extension AttributeListSyntax {
    /// The uses of `marker`, with or without its module's name.
    func all(_ marker: Marker) -> [AttributeSyntax] {
        compactMap { element in
            guard case .attribute(let attribute) = element, attribute.attributeName.lastName == marker.rawValue else {
                return nil
            }
            return attribute
        }
    }

    func first(_ marker: Marker) -> AttributeSyntax? { all(marker).first }

    func has(_ marker: Marker) -> Bool { first(marker) != nil }
}

extension AttributeSyntax {
    /// The arguments between the parentheses.
    var labeledArguments: [LabeledExprSyntax] {
        guard case .argumentList(let list) = arguments else { return [] }
        return Array(list)
    }

    /// The argument that is the option `name`, as `.name`, `.name(...)` or with its type before the dot.
    func option(_ name: String) -> LabeledExprSyntax? {
        labeledArguments.first { argument in
            guard argument.label == nil else { return false }
            let callee = argument.expression.as(FunctionCallExprSyntax.self)?.calledExpression ?? argument.expression
            return callee.as(MemberAccessExprSyntax.self)?.declName.baseName.text == name
        }
    }
}

extension LabeledExprSyntax {
    /// The argument as it was written, without the comma.
    var text: String {
        let value = expression.trimmedDescription
        return label.map { "\($0.text): \(value)" } ?? value
    }
}
