import Foundation

/// Converts rows written under an older model to the newest layout of the same entity.
///
/// Slots are matched by property id. A property that the older layout lacks gets the default that it had when it was
/// added, a property that the newer layout lacks is omitted, and numbers are widened. Make one converter for each pair
/// of layouts.
package struct RowConverter: Sendable {
    package let source: RowLayout
    package let target: RowLayout
    /// A row with the defaults of the properties that the source lacks, all others nil.
    private let template: RowImage
    private let steps: [Step]

    private struct Step: Sendable {
        let from: Int
        let to: Int
        let fromKind: SlotKind
        let toKind: SlotKind
    }

    /// A converter between two layouts of one entity.
    ///
    /// - Throws: `UnconvertibleSlot` if `SlotKind.canBeRead(as:)` is false, `UnstorableValue` if a default does not fit
    ///   its property.
    package init(
        from source: RowLayout, to target: RowLayout, bornDefaults: [PropertyID: AttributeValue]
    ) throws {
        self.source = source
        self.target = target
        var slotOfProperty: [PropertyID: Int] = [:]
        for (slot, property) in source.slots.enumerated() where property.storage != nil {
            slotOfProperty[property.propertyID] = slot
        }
        var builder = RowBuilder(target)
        var steps: [Step] = []
        for (slot, property) in target.slots.enumerated() where property.storage != nil {
            let toKind = SlotKind(property)
            guard let old = slotOfProperty[property.propertyID] else {
                let value = bornDefaults[property.propertyID] ?? .null
                try builder.set(slot, value.widened(to: toKind))
                continue
            }
            let fromKind = SlotKind(source.slots[old])
            guard fromKind.canBeRead(as: toKind) else {
                throw UnconvertibleSlot(propertyID: property.propertyID, from: fromKind, to: toKind)
            }
            steps.append(Step(from: old, to: slot, fromKind: fromKind, toKind: toKind))
        }
        self.steps = steps
        template = try builder.finish()
    }

    /// The row in the target's layout.
    package func convert(_ bytes: UnsafeRawBufferPointer) throws(CorruptRecord) -> RowImage {
        let reader = try RowReader(bytes, layout: source)
        var builder = try RowBuilder(template, layout: target)
        for step in steps where !reader.isNull(step.from) {
            if step.fromKind.isVariableWidth {
                try copyVariable(step, from: reader, to: &builder)
            } else if step.fromKind == step.toKind {
                copyFixed(step, from: reader, to: &builder)
            } else {
                widen(step, from: reader, to: &builder)
            }
        }
        return try builder.finish()
    }

    private func copyFixed(_ step: Step, from reader: RowReader, to builder: inout RowBuilder) {
        let value = reader.base + Int(reader.entry(step.from).offset)
        builder.storeFixed(step.to) { ($0 + $1).copyMemory(from: value, byteCount: step.toKind.width) }
    }

    private func copyVariable(
        _ step: Step, from reader: RowReader, to builder: inout RowBuilder
    ) throws(CorruptRecord) {
        let entry = reader.entry(step.from)
        let value = try reader.variableBytes(entry)
        do {
            try builder.append(step.to, bytes: value, lead: step.fromKind == step.toKind ? nil : 0)
        } catch {
            throw CorruptRecord("row too long for its layout", at: Int(entry.offset))
        }
    }

    private func widen(_ step: Step, from reader: RowReader, to builder: inout RowBuilder) {
        switch step.toKind {
        case .float, .double:
            let number = step.fromKind == .float ? reader.double(step.from) : reader.integer(step.from).map(Double.init)
            let wide = number ?? 0
            builder.storeFixed(step.to) { base, offset in
                step.toKind == .float ? base.store(Float(wide), at: offset) : base.store(wide, at: offset)
            }
        case .decimal:
            let number = reader.integer(step.from) ?? 0
            let parts = DecimalParts(
                normalizing: UInt128(number.magnitude), exponent: 0, isNegative: number < 0)
            builder.storeFixed(step.to) { parts.store(to: $0, at: $1) }
        default:
            let number = reader.integer(step.from) ?? 0
            builder.storeFixed(step.to) { base, offset in
                switch step.toKind {
                case .integer16: base.storeLittleEndian(Int16(truncatingIfNeeded: number), at: offset)
                case .integer32: base.storeLittleEndian(Int32(truncatingIfNeeded: number), at: offset)
                default: base.storeLittleEndian(number, at: offset)
                }
            }
        }
    }
}

extension AttributeValue {
    /// A number or Boolean converted to the wider type of a slot; any other value unchanged.
    func widened(to kind: SlotKind) -> AttributeValue {
        switch (self, kind) {
        case (.boolean(let value), .integer16), (.boolean(let value), .integer32), (.boolean(let value), .integer64):
            .integer(value ? 1 : 0)
        case (.boolean(let value), .decimal): .decimal(value ? 1 : 0)
        case (.boolean(let value), .float): .float(value ? 1 : 0)
        case (.boolean(let value), .double): .double(value ? 1 : 0)
        case (.integer(let value), .decimal): .decimal(Decimal(value))
        case (.integer(let value), .float): .float(Float(value))
        case (.integer(let value), .double): .double(Double(value))
        case (.float(let value), .double): .double(Double(value))
        default: self
        }
    }
}

/// The error for a slot whose older rows cannot be read in the newer layout, because its type has changed.
package struct UnconvertibleSlot: Error, Sendable, Hashable {
    package let propertyID: PropertyID
    package let from: SlotKind
    package let to: SlotKind
}
