public import StrataModel

/// Generates Swift source for the classes of a model.
///
/// Each entity has a file that is generated every time, `Movie+Properties.swift`, and a file that belongs to the app,
/// `Movie.swift`, which is generated only if it does not exist.
public struct ModelCode: Sendable {
    /// The form in which classes declare their properties.
    public enum Form: String, Sendable, CaseIterable {
        /// `@Entity` classes, for targets that import `Strata`. The generated file has the class; the app's file
        /// extends it.
        case macro
        /// Accessors and descriptions as code, for targets that import `StrataGraph`. The generated file has a class
        /// `_Movie`, and the app's class `Movie` inherits from it, so it can override what an object does.
        case plain
    }

    /// The Swift types of optional numbers and booleans that the model marks as scalars.
    public enum Scalars: String, Sendable, CaseIterable {
        /// `Int64?`
        case optional
        /// `Int64`, which reads as zero where the store has nil, as in the classes that Xcode generates.
        case nonOptional = "non-optional"
    }

    /// A generated file.
    public struct File: Sendable, Hashable {
        /// The name of the file.
        public let name: String
        /// Whether the file belongs to the app once it exists, and must not be overwritten.
        public let belongsToApp: Bool
        /// The source.
        public let text: String
    }

    private let model: ManagedObjectModel
    private let modelName: String
    private let form: Form
    private let entities: [EntityCode]
    private let unknownTypes: [String]
    private let names: CodeNames
    private let access: String

    /// The code of a model.
    ///
    /// - Parameters:
    ///   - model: the model.
    ///   - modelName: the name in the headers of files and in the type that lists all classes.
    ///   - form: the form of the classes.
    ///   - scalars: the types of optional scalars.
    ///   - isPublic: whether the classes are public.
    public init(
        _ model: ManagedObjectModel, modelName: String, form: Form, scalars: Scalars = .optional,
        isPublic: Bool = false
    ) {
        self.model = model
        self.modelName = modelName
        self.form = form
        access = isPublic ? "public " : ""
        names = CodeNames(model, form, scalars, typeName: CodeNames.identifier(of: modelName) + "Model")
        var types = TypeTable()
        var entities: [EntityCode] = []
        for entity in model.entities {
            entities.append(EntityCode(entity, of: model, names, access: access, &types))
        }
        self.entities = entities
        unknownTypes = types.unknown.sorted()
    }

    /// All files, including those that belong to the app.
    public var files: [File] {
        var files: [File] = []
        var fileNames = FileNames()
        for entity in entities {
            let text = generated(entity).joined(separator: "\n\n")
            let name = fileNames.take(entity.plainName)
            files.append(file("\(name)+Properties.swift", generated: text))
            files.append(file("\(name).swift", own: own(entity, in: name)))
        }
        func free(_ name: String) -> String {
            fileNames.take(fileNames.isTaken(name) ? "\(name)+Model" : name)
        }
        files.append(file("\(free(typeName)).swift", generated: modelType))
        if !unknownTypes.isEmpty { files.append(file("\(free(typeName + "Types")).swift", own: placeholders)) }
        return files
    }

    /// All code in one file, for a build that generates it every time. Types of the app that attributes name must
    /// exist.
    ///
    /// - Parameters:
    ///   - entityNames: the entities whose properties it has; nil for all.
    ///   - ownEntityNames: the entities whose own class it has too, because the app does not declare it; nil for all.
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

    /// Whether an entity needs the plain form, because macros cannot express it: it has a required transformable, or
    /// its class is named as one of its properties or as a parameter of the code, or not as the entity, or a class
    /// hides a type that expansions name.
    private func isPlain(_ entity: EntityCode) -> Bool {
        form == .plain || names.hidesMacroTypes || entity.attributes.contains(where: \.isRequiredTransformable)
            || entity.hidesItsClass || entity.plainName != entity.entity.name
    }

    private func generated(_ entity: EntityCode) -> [String] {
        var parts = isPlain(entity) ? [entity.baseClass, conformance(entity)].compactMap(\.self) : [entity.macroClass]
        if let alias = entity.alias { parts.append(alias) }
        parts += entity.enumerations
        parts += composites(of: entity)
        if let conveniences = entity.conveniences { parts.append(conveniences) }
        return parts
    }

    /// - Parameter file: the name of the entity's files, without what follows it.
    private func own(_ entity: EntityCode, in file: String) -> String {
        isPlain(entity)
            ? entity.ownClass
            : """
            extension \(entity.className) {
                // Your own members; the class itself is in \(file)+Properties.swift.
            }
            """
    }

    /// The conformance to `ManagedEntity`; nil for a subclass, which inherits it.
    private func conformance(_ entity: EntityCode) -> String? {
        guard entity.entity.superentityName == nil else { return nil }
        return "extension \(entity.className): \(names.type("ManagedEntity", of: "StrataGraph")) {}"
    }

    /// The structs of composites that this entity is the first to have.
    private func composites(of entity: EntityCode) -> [String] {
        names.composites.byName.sorted { $0.key < $1.key }.compactMap { name, elements in
            guard names.composites.entityNames[name] == entity.entity.name else { return nil }
            return CompositeCode(name, elements).text(names.struct(name), names, access)
        }
    }

    private var typeName: String { CodeNames.identifier(of: modelName) + "Model" }

    /// The type that lists all classes, for making a container.
    private var modelType: String {
        let classes = entities.map { "\($0.className).self" }.joined(separator: ", ")
        return """
            /// The model \(CodeLiteral.comment(modelName)).
            \(access)enum \(names.modelType) {
                /// A class for each entity, for `PersistentContainer(name:entities:)`.
                \(access)static var entities: [\(names.type("ManagedObject", of: "StrataGraph")).Type] {
                    [\(classes)]
                }
            }
            """
    }

    private var placeholders: String {
        let lines = unknownTypes.map { "\(access)typealias \(CodeNames.escaped($0)) = Any" }
        return """
            // Types of your app that the model \(CodeLiteral.comment(modelName)) names. Replace them by the real ones, which must be the
            // types that the transformers of the attributes make.

            \(lines.joined(separator: "\n"))
            """
    }

    /// The imports that the text needs, public if public declarations need them.
    private func imports(_ text: String, isGenerated: Bool) -> String {
        func line(_ module: String, isPublic: Bool) -> String {
            (isPublic && isGenerated ? access : "") + "import \(module)\n"
        }
        var lines = line("Foundation", isPublic: usesFoundation(text))
        if form == .macro { return lines + line("Strata", isPublic: true) + "\n" }
        lines += line("StrataGraph", isPublic: true)
        lines += line("StrataModel", isPublic: text.contains(": (any ") || text.contains(": ObjectID"))
        return lines + "\n"
    }

    /// Whether a declaration in the text has a type of Foundation. A class of the model may have the name of one, and
    /// that type is written with its module then.
    private func usesFoundation(_ text: String) -> Bool {
        let classes = Set(entities.map(\.plainName))
        return text.matches(of: /: \[?(?:(Decimal|Date|Data|URL|UUID)\b|NS|Index|Foundation\.)/).contains { match in
            match.1.map { !classes.contains(String($0)) } ?? true
        }
    }

    private func file(_ name: String, generated text: String) -> File {
        File(name: name, belongsToApp: false, text: head(text) + text + "\n")
    }

    private func file(_ name: String, own text: String) -> File {
        File(name: name, belongsToApp: true, text: imports(text, isGenerated: false) + text + "\n")
    }

    private func head(_ text: String) -> String {
        "// Generated by strata from the model \(CodeLiteral.comment(modelName)). Changes are lost when it is generated again.\n"
            + "// swift-format-ignore-file\n\n"
            + imports(text, isGenerated: true)
    }
}

/// The names of files, each once also where the file system ignores case, and not too long for one.
private struct FileNames {
    private var taken: Set<String> = []
    private static let mostBytes = 200

    func isTaken(_ name: String) -> Bool { taken.contains(name.lowercased()) }

    mutating func take(_ name: String) -> String {
        var start = name
        while start.utf8.count > Self.mostBytes { start.removeLast() }
        let wanted = start
        var number = 1
        while isTaken(start) {
            number += 1
            start = "\(wanted)\(number)"
        }
        taken.insert(start.lowercased())
        return start
    }
}
