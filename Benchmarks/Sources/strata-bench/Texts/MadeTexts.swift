import Foundation

/// Texts of made-up words, as frequent as words of a language are (Zipf's law), the same for every peer.
struct MadeTexts {
    let titles: [String]
    let plots: [String]
    /// The words, the most frequent first.
    let words: [String]

    /// - Parameter count: how many texts there are, each of about eighty words.
    init(_ count: Int, seed: UInt64 = 17) {
        var random = Random(seed: seed)
        var seen: Set<String> = []
        var words: [String] = []
        let parts = [
            "ka", "lo", "mi", "ren", "tu", "so", "vel", "ni", "ar", "est", "go", "pra", "ti", "um", "dex", "qui",
        ]
        while words.count < 60_000 {
            // Frequent words are short.
            let length = 1 + Int(log2(Double(words.count + 2)) / 4.5)
            let word = (0..<length).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
            let spare = seen.insert(word).inserted ? word : word + String(words.count, radix: 36)
            seen.insert(spare)
            words.append(spare)
        }
        self.words = words
        var sums: [Double] = []
        var sum = 0.0
        for rank in 1...words.count {
            sum += 1 / pow(Double(rank) + 2.7, 1.05)
            sums.append(sum)
        }
        func text(_ length: Int) -> String {
            (0..<length).map { _ in
                let wanted = Double.random(in: 0..<sum, using: &random)
                var (low, high) = (0, sums.count - 1)
                while low < high {
                    let middle = (low + high) / 2
                    if sums[middle] < wanted { low = middle + 1 } else { high = middle }
                }
                return words[low]
            }.joined(separator: " ")
        }
        var titles: [String] = []
        var plots: [String] = []
        for _ in 0..<count {
            titles.append(text(.random(in: 2...6, using: &random)))
            plots.append(text(.random(in: 20...140, using: &random)))
        }
        (self.titles, self.plots) = (titles, plots)
    }
}
