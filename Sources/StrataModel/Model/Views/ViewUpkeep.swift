/// The way in which the rows of a view are kept up to date.
public enum ViewUpkeep: String, Sendable, Hashable, Codable, CaseIterable {
    /// In each commit, all or nothing with it.
    case inline
    /// Behind the commits, by one of the processes that have the store open. A save does nothing for the view, and a
    /// request adds the changes that the view does not include yet.
    case catchingUp
}
