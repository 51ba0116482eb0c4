/// What `count-child` may need for its work.
///
/// A number that fell can be written here; one that rose is a decision, to be explained where it is written.
struct CountThreshold {
    /// The count it was when it was last looked at.
    let allowed: Double
    /// Whether any other count is wrong, or only one that is higher by more than a twentieth.
    let isExact: Bool

    static func exactly(_ count: Double) -> CountThreshold { CountThreshold(allowed: count, isExact: true) }
    static func about(_ count: Double) -> CountThreshold { CountThreshold(allowed: count, isExact: false) }

    func allows(_ count: Double) -> Bool { isExact ? count == allowed : count <= allowed * 1.05 }

    static let all: [String: CountThreshold] = [
        // Objects made and rows read.
        "a child: objects in memory": .exactly(4001),
        "a child's move to one change: faults made": .exactly(1),
        "and its to-one: objects made": .exactly(2),
        "batch insert of 2,000: objects made": .exactly(0),
        "cascade over 40 movies: objects made": .exactly(1),
        "count without index: objects made": .exactly(0),
        "existing object: objects made": .exactly(1),
        "indexed equality: objects found": .exactly(1),
        "indexed equality: objects made": .exactly(1),
        "indexed equality: rows of all steps": .exactly(1),
        "no index: objects found": .exactly(40),
        "no index: objects made": .exactly(40),
        "no index: rows of all steps": .exactly(4041),
        "over a to-one: objects found": .exactly(40),
        "over a to-one: objects made": .exactly(40),
        "over a to-one: rows of all steps": .exactly(141),
        "owner and 40 members: objects made": .exactly(41),
        "range of 100 in order: objects found": .exactly(100),
        "range of 100 in order: objects made": .exactly(100),
        "range of 100 in order: rows of all steps": .exactly(100),
        "two indexes: objects found": .exactly(7),
        "two indexes: objects made": .exactly(7),
        "two indexes: rows of all steps": .exactly(38),
        // Syncs, beside the meta page.
        "batch insert of 2,000: syncs": .exactly(1),
        "save of 2,000 inserts: syncs": .exactly(1),
        "save of a cascade over 40 movies: syncs": .exactly(1),
        "save of nothing: syncs": .exactly(0),
        "save of one deletion: syncs": .exactly(1),
        "save of one insert: syncs": .exactly(1),
        "save of one link: syncs": .exactly(1),
        "save of one update, indexed: syncs": .exactly(1),
        "save of one update, not indexed: syncs": .exactly(1),
        // Pages of four kilobytes written.
        "batch insert of 2,000: pages written": .about(346),
        "save of 2,000 inserts: pages written": .about(242),
        "save of a cascade over 40 movies: pages written": .about(123),
        "save of nothing: pages written": .exactly(0),
        "save of one deletion: pages written": .about(20),
        "save of one insert: pages written": .about(18),
        "save of one link: pages written": .about(12),
        "save of one update, indexed: pages written": .about(13),
        "save of one update, not indexed: pages written": .about(9),
        // Bytes of tables.
        "an insert: bytes of log": .about(151.552),
        "an insert: bytes of views": .about(323.584),
        // Requests for memory, in a debug build. There each row of a list that is read takes two for closures by which
        // references go uncounted; a release build makes none.
        "a child's move to no change: allocations": .about(7),
        "a child's move to one change: allocations": .about(251),
        "a fault by id, one attribute: allocations": .about(5),
        "a hot read: allocations": .exactly(0),
        "a row of a batch insert: allocations": .about(214),
        "an insert, made and saved: allocations": .about(209),
        "indexed equality, again: allocations": .about(49),
        "no index, again: allocations": .about(187),
        "over a to-one, again: allocations": .about(367),
        "range of 100 in order, again: allocations": .about(345),
        "two indexes, again: allocations": .about(545),
    ]
}
