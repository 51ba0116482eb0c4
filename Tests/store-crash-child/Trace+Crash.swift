import FaultShim
import Foundation
import StrataStore
import StrataTestSupport

extension Trace {
    /// How the changes that are not synced fare.
    enum Manner: CaseIterable {
        /// The end of the process only: all are there.
        case kill
        case noneStays, oneGoes, oneStays, oneIsTorn, someStay, someAreTorn
    }

    /// A state that the end of the process or a power cut may leave: before which operation it comes, the files, and how
    /// those changes have fared that were not durable.
    ///
    /// - Parameter manners: one of these is chosen.
    func crash(
        _ manners: [Manner], _ generator: inout SeededGenerator
    ) -> (cut: Int, image: Image, manner: Manner) {
        var cut = Int.random(in: start...operations.count, using: &generator)
        // Half of them beside a sync or a change of names, which are few among the writes.
        if Bool.random(using: &generator), let step = steps.randomElement(using: &generator) {
            cut = Int.random(in: step...step + 1, using: &generator)
        }
        let manner = manners.randomElement(using: &generator) ?? .kill
        let pending = pending(before: cut)
        var fates: [Int: Image.Fate] = [:]
        let one = pending.randomElement(using: &generator)
        let share = Double.random(in: 0...1, using: &generator)
        for change in pending {
            let isTorn = share < Double.random(in: 0...1, using: &generator)
            switch manner {
            case .kill: break
            case .noneStays: fates[change] = .lost
            case .oneGoes: if change == one { fates[change] = lost(change, &generator) }
            case .oneStays: if change != one { fates[change] = .lost }
            case .oneIsTorn: if change == one { fates[change] = torn(change, &generator) }
            case .someStay: if isTorn { fates[change] = lost(change, &generator) }
            case .someAreTorn:
                if isTorn { fates[change] = Bool.random(using: &generator) ? torn(change, &generator) : .lost }
            }
        }
        return (cut, image(before: cut) { fates[$0] ?? .whole }, manner)
    }

    /// The operations that make changes durable, or change names.
    private var steps: [Int] {
        (start..<operations.count).filter { operations[$0].kind == RECORD_SYNC || operations[$0].isOfName }
    }

    private func lost(_ change: Int, _ generator: inout SeededGenerator) -> Image.Fate {
        operations[change].isOfContent && Bool.random(using: &generator) ? .lengthOnly : .lost
    }

    private func torn(_ change: Int, _ generator: inout SeededGenerator) -> Image.Fate {
        guard operations[change].isOfContent else { return .lost }
        return .torn(unit: Bool.random(using: &generator) ? 512 : 4096, seed: generator.next())
    }
}
