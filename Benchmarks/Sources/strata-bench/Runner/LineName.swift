/// The lines of the table, by the name that `--filter` looks in.
enum LineName: String, Codable, CaseIterable {
    case insertObjects = "bulk insert through objects"
    case insertBatch = "batch insert"
    case commit = "one durable commit"
    case commitOfEight = "durable commit of eight writers"
    case fault = "random fault by id, one attribute"
    case membersCold = "owner to 10 movies, cold"
    case membersHot = "owner to 10 movies, hot, per hop"
    case hop = "one hop over a to-one, hot"
    case scalar = "hot scalar read"
    case text = "hot String read, 12 bytes"
    case set = "set a scalar of a changed object"
    case range = "indexed range of 100, as objects"
    case count = "unindexed count, per object"
    case update = "update of an indexed attribute"
    case cascade = "delete with cascade, per object"
    case coldOpen = "cold open, 100 objects read"
    case rebuild = "rebuild, per event"
    case verify = "verify, per event"
    case behindFirst = "first fetch, 10,000 commits behind"
    case behind = "fetch of 100, 10,000 commits behind"
    case history = "history of an object, per change"
    case difference = "difference of two moments, per change"

    /// Whether the design says that an operation costs the same in a store of any size; the growth table has these
    /// lines.
    var isPerOperation: Bool {
        switch self {
        case .membersHot, .hop, .scalar, .text, .set: false
        default: true
        }
    }
}
