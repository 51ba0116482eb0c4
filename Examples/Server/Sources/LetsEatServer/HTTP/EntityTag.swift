import Strata

/// The revision of an object as HTTP writes it: `"17"`.
struct EntityTag: Hashable, Sendable, CustomStringConvertible {
    let revision: EventNumber

    init(_ revision: EventNumber) { self.revision = revision }

    /// nil for text that is no tag of this service; a weak one (`W/"17"`) never is.
    init?(_ text: some StringProtocol) {
        guard text.count > 2, text.first == "\"", text.last == "\"", let number = UInt64(text.dropFirst().dropLast())
        else { return nil }
        self.init(EventNumber(rawValue: number))
    }

    var description: String { "\"\(revision)\"" }
}

/// What a client demands of an object before it is changed: `If-Match`.
enum Precondition: Hashable, Sendable {
    /// That it is there.
    case exists
    /// That it has one of these revisions.
    case revisions(Set<EventNumber>)

    /// - Parameter header: the values of all `If-Match` fields, with commas between.
    init(_ header: String) {
        let tags = header.split(separator: ",").map { $0.trimmingPrefix { $0 == " " } }
            .map { tag in tag.last == " " ? tag.prefix { $0 != " " } : tag }
        self = tags.contains("*") ? .exists : .revisions(Set(tags.compactMap { EntityTag($0)?.revision }))
    }

    func holds(for revision: EventNumber?) -> Bool {
        switch self {
        case .exists: revision != nil
        case .revisions(let revisions): revision.map(revisions.contains) ?? false
        }
    }
}
