public import Foundation

#if !canImport(UIKit) && !canImport(AppKit)
    /// What Apple's systems add to `IndexPath` for tables.
    extension IndexPath {
        /// An object's place in its section.
        public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

        /// An object's place in its section.
        public init(row: Int, section: Int) { self.init(indexes: [section, row]) }

        public var section: Int { self[0] }
        public var item: Int { self[1] }
        public var row: Int { self[1] }
    }
#endif

extension ResultsState {
    func indexPath(_ place: Int) -> IndexPath {
        let section = sections.section(of: place)
        return IndexPath(indexes: [section, place - sections.range(section).lowerBound])
    }
}
