public import StrataModel

/// Swift source for the classes of a model.
///
/// For each entity there is a file that is generated anew each time, `Movie+Properties.swift`, and one that is the app's,
/// `Movie.swift`, which is only made when it is not there.
public struct ModelCode: Sendable {
    /// How classes say what their properties are.
    public enum Form: String, Sendable, CaseIterable {
        /// `@Entity` classes, for targets that import `Strata`. The generated file has the class; the app's file extends it.
        case macro
        /// Accessors and descriptions as code, for targets that import `StrataGraph`. The generated file has a class
        /// `_Movie`, and the app's class `Movie` inherits from it, so it can override what an object does.
        case plain
    }

    /// One file.
    public struct File: Sendable, Hashable {
        public let name: String
        /// Whether the file is the app's from now on, and never written again.
        public let belongsToApp: Bool
        public let text: String
    }

    private let model: ManagedObjectModel
    private let modelName: String
    private let form: Form
    private let entities: [EntityCode]
    private let unknownTypes: [String]
    private let names: CodeNames
    private let access: String

    /// - Parameters:
    ///   - model: The model to make classes of.
    ///   - modelName: The name in the heads of files, and of the type that lists all classes.
    ///   - form: Which form the classes have.
    ///   - isPublic: Whether other modules see the classes.
    public init(_ model: ManagedObjectModel, modelName: String, form: Form, isPublic: Bool = false) {
        self.model = model
        self.modelName = modelName
        self.form = form
        access = isPublic ? "public " : ""
        names = CodeNames(model, form)
        var types = TypeTable()
        var entities: [EntityCode] = []
        for entity in model.entities {
            entities.append(EntityCode(entity, of: model, names, access: access, &types))
        }
        self.entities = entities
        unknownTypes = types.unknown.sorted()
    }

    /// Every file; those of the app too.
    public var files: [File] {
        var files: [File] = []
        for entity in entities {
            let text = generated(entity).joined(separator: "\n\n")
            files.append(file("\(entity.plainName)+Properties.swift", generated: text))
            files.append(file("\(entity.plainName).swift", own: own(entity)))
        }
        // Some file systems take names that differ in case for one.
        let taken = Set(files.map { $0.name.lowercased() })
        func free(_ name: String) -> String { taken.contains("\(name).swift".lowercased()) ? "\(name)+Model" : name }
        files.append(file("\(free(typeName)).swift", generated: modelType))
        if !unknownTypes.isEmpty { files.append(file("\(free(typeName + "Types")).swift", own: placeholders)) }
        return files
    }

    /// Everything in one file, for a build that makes it anew each time.
    ///
    /// - Parameters:
    ///   - entityNames: the entities whose properties it has; nil for all.
    ///   - ownEntityNames: those whose own class it has too, since the app writes none; nil for all.
    ///   Types of the app that attributes name are expected to be there.
    public func singleFile(entityNames: Set<String>? = nil, ownEntityNames: Set<String>? = nil) -> String {
        var parts: [String] = []
        for entity in entities where entityNames?.contains(entity.entity.name) ?? true {
            parts += generated(entity)
            let isOwn = ownEntityNames?.contains(entity.entity.name) ?? true
            if isOwn, isPlain(entity) { parts.append(entity.ownClass) }
        }
        parts.append(modelType)
        let text = parts.joined(separator: "\n\n")
        return head(text) + text + "\n"
    }

    // MARK: Parts

    /// A relationship that is its own inverse has no form with macros, and a transformable that is required neither.
    private func isPlain(_ entity: EntityCode) -> Bool {
        form == .plain || entity.relationships.contains(where: \.isOwnInverse)
            || entity.attributes.contains(where: \.isRequiredTransformable)
    }

    private func generated(_ entity: EntityCode) -> [String] {
        var parts = isPlain(entity) ? [entity.baseClass, conformance(entity)].compactMap(\.self) : [entity.macroClass]
        parts += entity.enumerations
        parts += composites(of: entity)
        if let conveniences = entity.conveniences { parts.append(conveniences) }
        return parts
    }

    private func own(_ entity: EntityCode) -> String {
        isPlain(entity)
            ? entity.ownClass
            : """
            extension \(entity.className) {
                // What is yours goes here; the class itself is in \(entity.plainName)+Properties.swift.
            }
            """
    }

    /// A subclass has it from its parent.
    private func conformance(_ entity: EntityCode) -> String? {
        entity.entity.superentityName == nil ? "extension \(entity.className): ManagedEntity {}" : nil
    }

    /// A struct for each composite, with the entity that has it first.
    private func composites(of entity: EntityCode) -> [String] {
        let earlier = CompositeNames(Array(model.entities.prefix { $0.name != entity.entity.name })).byName
        return CompositeNames([entity.entity]).byName.sorted { $0.key < $1.key }.compactMap { name, elements in
            guard earlier[name] == nil, let type = names.composites[name] else { return nil }
            let owner = EntityDescription(name: name)
            var types = TypeTable()
            let lines = elements.map { element in
                let code = AttributeCode(element, of: owner, names, &types)
                let initial = code.initialValue.map { " = \($0)" } ?? ""
                return "    \(access)var \(CodeNames.escaped(element.name)): \(code.type)\(initial)"
            }
            return """
                /// The composite `\(name)`.
                \(access)struct \(CodeNames.escaped(type)): Codable, Hashable, Sendable {
                \(lines.joined(separator: "\n"))
                }
                """
        }
    }

    private var typeName: String { CodeNames.identifier(of: modelName) + "Model" }

    /// What a container is made with.
    private var modelType: String {
        let classes = entities.map { "\($0.className).self" }.joined(separator: ", ")
        return """
            /// The model \(modelName).
            \(access)enum \(names.isTaken(typeName) ? "_\(typeName)" : typeName) {
                /// A class for each entity, for `PersistentContainer(name:entities:)`.
                \(access)static var entities: [ManagedObject.Type] {
                    [\(classes)]
                }
            }
            """
    }

    private var placeholders: String {
        let lines = unknownTypes.map { "\(access)typealias \(CodeNames.escaped($0)) = Any" }
        return """
            // Types of yours that the model \(modelName) names. Put the real ones in their place; each must be what the
            // transformer of its attributes makes.

            \(lines.joined(separator: "\n"))
            """
    }

    /// What the text needs, and publicly what public declarations in it need.
    private func imports(_ text: String, isGenerated: Bool) -> String {
        func line(_ module: String, isPublic: Bool) -> String {
            (isPublic && isGenerated ? access : "") + "import \(module)\n"
        }
        let foundation = ["Decimal", "Date", "Data", "URL", "UUID", "NS", "Index"]
        let usesFoundation = foundation.contains { text.contains(": \($0)") || text.contains(": [\($0)") }
        var lines = line("Foundation", isPublic: usesFoundation)
        if form == .macro { return lines + line("Strata", isPublic: true) + "\n" }
        lines += line("StrataGraph", isPublic: true)
        lines += line("StrataModel", isPublic: text.contains(": (any FetchArgument)") || text.contains(": ObjectID"))
        return lines + "\n"
    }

    private func file(_ name: String, generated text: String) -> File {
        File(name: name, belongsToApp: false, text: head(text) + text + "\n")
    }

    private func file(_ name: String, own text: String) -> File {
        File(name: name, belongsToApp: true, text: imports(text, isGenerated: false) + text + "\n")
    }

    private func head(_ text: String) -> String {
        "// Made by strata from the model \(modelName). What is changed here is lost the next time.\n"
            + "// swift-format-ignore-file\n\n"
            + imports(text, isGenerated: true)
    }
}
