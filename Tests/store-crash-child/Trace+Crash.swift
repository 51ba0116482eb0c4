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
    func crash(
        _ durability: StoreDurability, _ generator: inout SeededGenerator
    ) -> (cut: Int, image: Image, manner: Manner) {
        let cut = Int.random(in: start...operations.count, using: &generator)
        let manners = durability == .disposable ? [.kill] : Manner.allCases
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

    private func lost(_ change: Int, _ generator: inout SeededGenerator) -> Image.Fate {
        operations[change].isOfContent && Bool.random(using: &generator) ? .lengthOnly : .lost
    }

    private func torn(_ change: Int, _ generator: inout SeededGenerator) -> Image.Fate {
        guard operations[change].isOfContent else { return .lost }
        return .torn(unit: Bool.random(using: &generator) ? 512 : 4096, seed: generator.next())
    }
}
