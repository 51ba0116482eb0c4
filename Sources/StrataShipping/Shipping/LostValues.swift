import Foundation
import StrataModel
import StrataStore

/// The large values that the target lacks because the store has lost them.
///
/// A mark at the target names each, so that every shipment reports it, and ships it if the store has it again.
struct LostValues {
    private let store: Store
    private let target: any ShippingTarget
    private var lost: Set<Data> = []

    init(_ store: Store, _ target: any ShippingTarget) {
        self.store = store
        self.target = target
    }

    var count: Int { lost.count }

    mutating func note(_ digest: Data) throws {
        guard lost.insert(digest).inserted else { return }
        _ = try target.write(Data(), to: TargetName.lost(digest))
    }

    /// Reads the marks of earlier shipments, and ships values that the store has again.
    mutating func look(_ report: inout ShippingReport) throws {
        let marks = try target.entries(under: TargetName.lost, after: nil)
        lost = []
        if marks.isEmpty { return }
        let named = Set(try store.blobDigests())
        for mark in marks {
            guard let digest = Hexadecimal.bytes(mark.name.dropFirst(TargetName.lost.count)) else { continue }
            if let data = store.blob(digest: digest) {
                if try target.write(data, to: TargetName.blob(digest)) == .written {
                    report.blobCount += 1
                    report.byteCount += data.count
                }
            } else if named.contains(digest), try target.read(TargetName.blob(digest)) == nil {
                lost.insert(digest)
                continue
            }
            try target.remove(mark.name)
        }
    }
}
