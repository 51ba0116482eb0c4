import StrataModel

/// The declared views that a projector updates, and the treatment of new ones.
struct ProjectedViews {
    /// Whether they are kept at all; a replay makes them at its end, of the objects.
    var areKept = true
    /// Installing a model leaves new inline views of more objects to a worker, and views that it replaces; nil makes and
    /// drops all of them at once.
    var mostObjectsAtOnce: Int?
    /// Whether a model is installed though a new inline view cannot group an object, and views with columns that types of
    /// the app make are left to a worker, which reports the events that they cannot follow.
    var acceptsFaults = false
    /// The views that are left to a worker: events leave them alone.
    var building: Set<ViewID> = []

    func keeps(_ view: PreparedView) -> Bool { building.isEmpty || !building.contains(view.id) }
}
