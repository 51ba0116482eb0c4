extension GroupTable {
    /// The numbers of groups in the order of their keys, found as a batch sorts its writes.
    func inWritingOrder() -> [Int] {
        guard count > 0, let start = key(0).baseAddress else { return [] }
        var list: [WriteBatch.PendingWrite] = []
        list.reserveCapacity(count)
        for number in 0..<count {
            let key = key(number)
            guard let own = key.baseAddress, let size = UInt16(exactly: key.count) else { return inKeyOrder() }
            list.append(
                WriteBatch.PendingWrite(
                    prefix: KeySort.word(of: key, at: 0), keyOffset: UInt64(own - start), valueOffset: UInt64(number),
                    valueSize: 0, keySize: size, isRemoval: false))
        }
        var scratch = KeySort.Scratch()
        list.withUnsafeMutableBufferPointer { KeySort($0, keys: start, &scratch).run() }
        return list.map { Int($0.valueOffset) }
    }
}
