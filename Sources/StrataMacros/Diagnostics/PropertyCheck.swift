import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// Checks the name, the type and the initial value of a property.
struct PropertyCheck<Context: MacroExpansionContext> {
    let context: Context
    let variable: VariableDeclSyntax
    let property: PropertyDeclaration

    func run() {
        checkName()
        if property.relationship != nil || property.type.isToMany || property.type.isOptionalToMany {
            checkRelationship()
        } else {
            checkAttribute()
        }
    }

    private func checkName() {
        guard let identifier = variable.identifiers.first else { return }
        if ReservedName.all.contains(property.name) {
            diagnose(identifier, .reserved(property.name))
        } else if !property.name.isModelName {
            diagnose(identifier, .badName(property.name))
        }
    }

    // MARK: Relationships

    private func checkRelationship() {
        let type = property.type
        if let relationship = property.relationship, let value = type.attributeTypeName {
            return diagnose(relationship, .relationshipOnAttribute(property.name, value))
        }
        if let attribute = property.attribute, property.relationship == nil {
            diagnose(attribute, .attributeOnRelationship(property.name))
        }
        if let element = type.collectionElement {
            diagnoseType(.collection(property.name, element), "ToMany<\(element)>")
        } else if type.isOptionalToMany {
            let bare = type.as(OptionalTypeSyntax.self)?.wrappedType.trimmedDescription
            diagnoseType(.optionalToMany(property.name), bare)
        } else if !type.isToMany, !type.isOptional {
            diagnoseType(.toOneNotOptional(property.name), "\(type)?")
        }
        checkNoInitialValue("a relationship")
    }

    // MARK: Attributes

    private func checkAttribute() {
        switch property.storage {
        case .transformed: checkValueless("transformable")
        case .memory:
            if property.initialValue == nil { checkValueless("transient") }
            if let attribute = property.attribute, attribute.labeledArguments.count > 1 {
                diagnose(attribute, .transientWithOptions(property.name))
            }
        case .row:
            guard let value = variable.bindings.first?.initializer?.value,
                value.isDifferentEachTime(as: property.type)
            else { return }
            diagnose(value, .changingDefault(property.name, value.trimmedDescription))
        }
    }

    /// Checks that a property whose values the model does not know is optional and has no initial value.
    private func checkValueless(_ kind: String) {
        if !property.type.isOptional { diagnoseType(.mustBeOptional(property.name, kind), "\(property.type)?") }
        checkNoInitialValue(kind)
    }

    private func checkNoInitialValue(_ kind: String) {
        guard property.initialValue != nil, let initializer = variable.bindings.first?.initializer else { return }
        diagnose(initializer.value, .noInitialValue(property.name, kind))
    }

    private func diagnoseType(_ message: EntityMessage, _ replacement: String?) {
        guard let written = variable.bindings.first?.typeAnnotation?.type else { return }
        let fixIts = replacement.map { text -> [FixIt] in
            let type = TypeSyntax("\(raw: text)")
                .with(\.leadingTrivia, written.leadingTrivia).with(\.trailingTrivia, written.trailingTrivia)
            let change = FixIt.Change.replace(oldNode: Syntax(written), newNode: Syntax(type))
            return [FixIt(message: .replace(written.trimmedDescription, text), changes: [change])]
        }
        context.diagnose(Diagnostic(node: written, message: message, fixIts: fixIts ?? []))
    }

    private func diagnose(_ node: some SyntaxProtocol, _ message: EntityMessage) {
        context.diagnose(Diagnostic(node: node, message: message))
    }
}

extension TypeSyntax {
    /// The name of the type, optional or not, if every module knows it as the type of an attribute.
    fileprivate var attributeTypeName: String? {
        let bare = self.as(OptionalTypeSyntax.self)?.wrappedType ?? self
        let names: Set = [
            "Bool", "Data", "Date", "Decimal", "Double", "Float", "Int", "Int16", "Int32", "Int64", "String", "URL",
            "UUID",
        ]
        return bare.lastName.flatMap { names.contains($0) ? $0 : nil }
    }

    fileprivate var isOptionalToMany: Bool { self.as(OptionalTypeSyntax.self)?.wrappedType.isToMany == true }
}

extension ExprSyntax {
    /// Whether each evaluation is known to give another value, such as a new identifier or the current time.
    fileprivate func isDifferentEachTime(as type: TypeSyntax) -> Bool {
        let typeName = type.as(OptionalTypeSyntax.self)?.wrappedType.lastName ?? type.lastName ?? ""
        if let call = self.as(FunctionCallExprSyntax.self) {
            guard let made = call.calledExpression.madeType(or: typeName) else { return false }
            if call.arguments.isEmpty { return made == "UUID" || made == "Date" }
            return made == "Date" && call.arguments.first?.label?.text == "timeIntervalSinceNow"
        }
        guard let member = self.as(MemberAccessExprSyntax.self), member.declName.baseName.text == "now" else {
            return false
        }
        return (member.base?.trimmedDescription.split(separator: ".").last.map(String.init) ?? typeName) == "Date"
    }

    /// The last name of the type that a call initializes: `Date`, `Foundation.Date`, `Date.init`, `.init`.
    private func madeType(or expected: String) -> String? {
        if let reference = self.as(DeclReferenceExprSyntax.self) { return reference.baseName.text }
        guard let member = self.as(MemberAccessExprSyntax.self) else { return nil }
        guard member.declName.baseName.text == "init" else { return member.declName.baseName.text }
        return member.base.map { $0.madeType(or: expected) } ?? expected
    }
}

extension String {
    /// Whether a name is a letter or underscore followed by letters, digits and underscores.
    fileprivate var isModelName: Bool {
        guard let first = unicodeScalars.first else { return false }
        return (first == "_" || first.properties.isXIDStart) && unicodeScalars.allSatisfy(\.properties.isXIDContinue)
    }
}
