// The progress of a view, and the limits of the steps that update it.

package import StrataModel

/// Whether views that catch up are updated in the background or by hand.
package enum ViewKeeping: Sendable, Hashable {
    /// One of the processes that have the store open, in the background.
    case background
    /// Only those that call `Store.keepViews()`.
    case byHand
}

/// The limits of a step of a view that catches up or is being built.
package struct ViewStepLimits: Sendable, Hashable {
    /// Objects that are grouped in one commit while a view is built. A new view of no more is made with its model.
    package var objects = 20_000
    /// An inline view that is being built is completed under the writer's lock once it is no more than this many events
    /// behind.
    package var eventsInLastStep: UInt64 = 2_000
    /// A view that is more events behind is rebuilt.
    package var events: UInt64 = 500_000

    package init() {}
}

/// The progress of a view.
package struct ViewUpkeepState: Sendable, Hashable {
    package enum Phase: Sendable, Hashable {
        case live
        /// With the part of the objects that are grouped.
        case building(Double)
        case failed(ViewFailure)
    }

    package let phase: Phase
    /// The last event that the groups include.
    package let eventNumber: EventNumber
    package let lagInEvents: UInt64
    /// The time since the first transaction was committed that the groups do not include.
    package let lag: Duration
    /// The objects that were left out of it by request.
    package let leftOut: [ObjectID]
}
