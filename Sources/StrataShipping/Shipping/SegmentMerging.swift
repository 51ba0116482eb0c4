import StrataModel
import StrataStore

/// Merges the many small segments that continuous shipping leaves at a target.
///
/// The large segment is written before the small ones are removed, so that nothing is ever missing.
struct SegmentMerging {
    let target: any ShippingTarget
    let position: LogPosition
    /// The number of small segments in a row that are merged into one.
    var fewest = 64
    /// The newest segments stay: standbys that follow the log look for them.
    var newestKept = 16
    /// Segments of more bytes are not small.
    var largest = 1 << 20

    /// The runs of segments to merge, each in the order of the log.
    func runs(of catalog: TargetCatalog) -> [[SegmentName]] {
        var runs: [[SegmentName]] = []
        var run: [SegmentName] = []
        var size = 0
        func close() {
            if run.count >= fewest { runs.append(run) }
            (run, size) = ([], 0)
        }
        for name in catalog.segments.dropLast(newestKept) {
            let bytes = catalog.sizes[name] ?? .max
            let follows = run.last.map { $0.last.rawValue + 1 == name.first.rawValue } ?? true
            if !follows || bytes > largest || size + bytes > LogShipper.segmentSize { close() }
            guard bytes <= largest else { continue }
            run.append(name)
            size += bytes
        }
        close()
        return runs
    }

    /// Merges the segments of a run.
    ///
    /// - Returns: the new segment; nil if one of the run is gone or damaged: then nothing was changed.
    func merge(_ run: [SegmentName]) throws -> Segment? {
        var frames: [LogFrame] = []
        var previousDigest: [UInt8]?
        for name in run {
            guard let data = try target.read(name.text) else { return nil }
            do {
                let segment = try Segment(data)
                guard segment.name == name else { return nil }
                previousDigest = previousDigest ?? segment.previousDigest
                try segment.forEachFrame { frame in
                    frames.append(frame)
                    return true
                }
            } catch is CorruptRecord {
                return nil
            }
        }
        guard let merged = Segment(frames, of: position, previousDigest: previousDigest ?? []) else { return nil }
        _ = try target.write(merged.bytes, to: merged.name.text)
        // An existing file with this name may be damaged.
        guard try target.read(merged.name.text) == merged.bytes else { return nil }
        for name in run { try target.remove(name.text) }
        return merged
    }
}
