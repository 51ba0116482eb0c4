/// The end of the log when it has a transaction whose views are not written yet.
struct UnprojectedEnd {
    let head: LogHead
    /// Whether no declared view can refuse the transaction any more.
    let isCertain: Bool
    /// Whether the transaction names large values, which the table of large values may not have yet.
    let namesBlobs: Bool
}
