public import Foundation
public import StrataModel

extension ViewSource {
    /// Groups objects by a part of a date.
    ///
    /// - Parameter zone: the store keeps its rules as they are when the view is declared.
    public func grouped(
        by part: CalendarPart, of date: KeyPath<Object, Date>, in zone: TimeZone = .gmt, as name: String
    ) -> ViewSource {
        key(date, name, .calendar(part, timeZone: zone.identifier))
    }

    /// Groups objects by a part of an optional date.
    public func grouped(
        by part: CalendarPart, of date: KeyPath<Object, Date?>, in zone: TimeZone = .gmt, as name: String
    ) -> ViewSource {
        key(date, name, .calendar(part, timeZone: zone.identifier))
    }

    /// Groups objects by buckets of a number. The key is the lower bound of the bucket.
    public func grouped<Value: Numeric & StorableValue>(
        byBucketsOf width: Double, of number: KeyPath<Object, Value>, as name: String
    ) -> ViewSource {
        key(number, name, .bucket(width: width))
    }

    /// Groups objects by buckets of an optional number.
    public func grouped<Value: Numeric & StorableValue>(
        byBucketsOf width: Double, of number: KeyPath<Object, Value?>, as name: String
    ) -> ViewSource {
        key(number, name, .bucket(width: width))
    }

    private func key(
        _ property: PartialKeyPath<Object>, _ name: String, _ function: ViewKeyFunction
    ) -> ViewSource {
        with(key: ViewKey(name, keyPath: PropertyName.ofAny(property), function: function))
    }
}
