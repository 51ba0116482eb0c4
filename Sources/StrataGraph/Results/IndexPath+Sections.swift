public import Foundation

// Index paths of sections and items.

#if !canImport(UIKit) && !canImport(AppKit)
    /// The members that UIKit and AppKit add to `IndexPath`, for systems that have neither.
    extension IndexPath {
        /// Makes an index path of a section and an item in it.
        public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

        /// Makes an index path of a section and a row in it.
        public init(row: Int, section: Int) { self.init(indexes: [section, row]) }

        /// The index of the section.
        public var section: Int { self[0] }
        /// The index of the item in its section.
        public var item: Int { self[1] }
        /// The index of the row in its section.
        public var row: Int { self[1] }
    }
#endif

extension ResultsState {
    /// The index path of the object at an index of the whole list.
    func indexPath(_ index: Int) -> IndexPath {
        let section = sections.section(of: index)
        return IndexPath(indexes: [section, index - sections.range(section).lowerBound])
    }
}
