import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// Reports every declaration that an entity class cannot have, at its location, with a fix if there is one.
struct EntityCheck<Context: MacroExpansionContext> {
    let context: Context
    /// Whether a refused variable stays stored, with which the class would lose its inherited initializers.
    private(set) var leavesStorage = false

    init(_ context: Context) { self.context = context }

    mutating func check(_ declaration: some DeclGroupSyntax, _ node: AttributeSyntax) {
        guard let entity = declaration.as(ClassDeclSyntax.self) else {
            diagnose(node, .notAClass)
            return
        }
        if declaration.attributes.all(.entity).count > 1 { diagnose(node, .repeatedEntity) }
        let isEntity = checkHead(of: entity)
        if !isEntity { leavesStorage = true }
        for member in declaration.memberBlock.members { check(member.decl) }
    }

    private func checkHead(of entity: ClassDeclSyntax) -> Bool {
        if let generics = entity.genericParameterClause {
            diagnose(generics, .generic)
            return false
        }
        guard let superclass = entity.superclass, let name = superclass.lastName else {
            diagnose(entity.name, .missingSuperclass(entity.name.bareText), insertSuperclass(in: entity))
            return false
        }
        if name == EntityDeclaration.foreignSuperclass {
            diagnose(superclass, .foreignSuperclass, replace(superclass, "ManagedObject"))
            return false
        }
        if let modifier = entity.hidingModifier(in: context.lexicalContext) {
            diagnose(modifier, .hiddenClass(entity.name.bareText), replacePrivate(modifier))
            return false
        }
        if let attribute = entity.attributes.named("MainActor") { diagnose(attribute, .actorBound) }
        guard let attribute = entity.attributes.named("Observable") else { return true }
        diagnose(attribute, .observable)
        return false
    }

    private mutating func check(_ member: DeclSyntax) {
        if let variable = member.as(VariableDeclSyntax.self) {
            check(variable)
        } else if let initializer = member.as(InitializerDeclSyntax.self) {
            check(initializer)
        } else if let conditional = member.as(IfConfigDeclSyntax.self) {
            let stored = conditional.variables.filter { $0.isInstanceStorage && !$0.attributes.has(.transient) }
            for variable in stored {
                diagnose(variable, .conditional)
                noteStorage(of: variable)
            }
        }
    }

    /// Refuses designated initializers: only a context can make an object. `required` ones call `super.init(_:)`.
    private func check(_ initializer: InitializerDeclSyntax) {
        let modifiers = initializer.modifiers
        guard !modifiers.contains(.convenience), !modifiers.contains(.required) else { return }
        diagnose(initializer.initKeyword, .designatedInitializer, insertConvenience(in: initializer))
    }

    // MARK: Variables

    private mutating func check(_ variable: VariableDeclSyntax) {
        checkMarkers(of: variable)
        guard variable.isInstanceStorage else { return }
        let isOutside = variable.attributes.has(.transient)
        if isOutside ? !checkPlain(variable) : !checkForm(variable) { noteStorage(of: variable) }
        guard !isOutside, let property = PropertyDeclaration(variable) else { return }
        PropertyCheck(context: context, variable: variable, property: property).run()
    }

    private mutating func noteStorage(of variable: VariableDeclSyntax) {
        let isInitialized = variable.bindings.allSatisfy { binding in
            binding.initializer != nil || binding.typeAnnotation?.type.hasImplicitNil == true
        }
        if !isInitialized { leavesStorage = true }
    }

    private func checkMarkers(of variable: VariableDeclSyntax) {
        let name = variable.identifiers.first?.bareText ?? ""
        let markers: [Marker] = [.attribute, .relationship, .transient]
        let present = markers.filter(variable.attributes.has)
        for marker in present {
            for extra in variable.attributes.all(marker).dropFirst() {
                diagnose(extra, .repeated(marker), remove(extra, from: variable))
            }
        }
        if present.count > 1, let second = variable.attributes.first(present[1]) {
            diagnose(second, .contradiction(present[0], present[1], name))
        }
        guard !variable.isInstanceStorage else { return }
        for marker in present {
            if let attribute = variable.attributes.first(marker) {
                diagnose(attribute, .notStored(marker, name), remove(attribute, from: variable))
            }
        }
    }

    /// Checks that a plain Swift property has an initial value, because a context makes the object.
    private func checkPlain(_ variable: VariableDeclSyntax) -> Bool {
        let missing = variable.bindings.first { binding in
            binding.initializer == nil && binding.typeAnnotation?.type.hasImplicitNil != true
        }
        guard let missing else { return true }
        diagnose(missing.pattern, .uninitialized(missing.pattern.trimmedDescription))
        return false
    }

    /// Whether the declaration has a form that can get accessors.
    private func checkForm(_ variable: VariableDeclSyntax) -> Bool {
        guard let binding = variable.bindings.first else { return false }
        if variable.bindings.count > 1 {
            diagnose(variable.bindings, .severalVariables, splitting(variable))
            return false
        }
        guard let identifier = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
            diagnose(binding.pattern, .tuplePattern)
            return false
        }
        let name = identifier.bareText
        if variable.bindingSpecifier.tokenKind == .keyword(.let) {
            diagnose(variable.bindingSpecifier, .constant(name), replaceLet(in: variable))
            return false
        }
        return checkModifiers(of: variable, name) && checkBinding(binding, name)
    }

    private func checkModifiers(of variable: VariableDeclSyntax, _ name: String) -> Bool {
        for modifier in variable.modifiers {
            switch modifier.name.tokenKind {
            case .keyword(.lazy): diagnose(modifier, .lazy(name), insertTransient(before: variable))
            case .keyword(.weak), .keyword(.unowned):
                diagnose(modifier, .weak(name, modifier.trimmedDescription), remove(modifier, from: variable))
            case .keyword(.override):
                diagnose(modifier, .overridden(name))
                continue
            default: continue
            }
            return false
        }
        return true
    }

    private func checkBinding(_ binding: PatternBindingSyntax, _ name: String) -> Bool {
        if let observers = binding.observers {
            diagnose(observers, .observers(name), removeObservers(from: binding))
            return false
        }
        guard binding.typeAnnotation == nil else { return true }
        diagnose(binding.pattern, .missingType(name), insertType(in: binding))
        return false
    }

    private func diagnose(_ node: some SyntaxProtocol, _ message: EntityMessage, _ fixIt: FixIt? = nil) {
        context.diagnose(Diagnostic(node: node, message: message, fixIts: fixIt.map { [$0] } ?? []))
    }
}

extension AttributeListSyntax {
    /// The attribute with the name, if there is one.
    func named(_ name: String) -> AttributeSyntax? {
        lazy.compactMap { $0.as(AttributeSyntax.self) }.first { $0.attributeName.lastName == name }
    }
}

extension IfConfigDeclSyntax {
    /// The variables that all its branches together declare.
    fileprivate var variables: [VariableDeclSyntax] {
        clauses.flatMap { clause -> [VariableDeclSyntax] in
            guard case .decls(let members) = clause.elements else { return [] }
            return members.flatMap { member -> [VariableDeclSyntax] in
                if let nested = member.decl.as(IfConfigDeclSyntax.self) { return nested.variables }
                return member.decl.as(VariableDeclSyntax.self).map { [$0] } ?? []
            }
        }
    }
}
