import StrataModel

/// What a projector does for declared views.
struct ProjectedViews {
    /// Whether they are kept at all; a replay makes them at its end, of the objects.
    var areKept = true
    /// Installing a model leaves new inline views of more objects to a worker, and views that it replaces; nil makes and
    /// drops all of them at once.
    var mostObjectsAtOnce: Int?
    /// Whether a model is installed though a new inline view cannot group an object. A worker tells that then.
    var acceptsFaults = false
    /// The views that a worker is building: events leave them alone.
    var building: Set<ViewID> = []
}
