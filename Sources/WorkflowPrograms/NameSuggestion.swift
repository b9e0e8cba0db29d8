/// Which name was probably meant.
enum NameSuggestion {
    /// `No workflow is named "cii". Did you mean "ci"? There are: ci, release.`
    static func sentence(for name: String, among names: [String]) -> String {
        let guess = nearest(to: name, among: names).map { " Did you mean \"\($0)\"?" } ?? ""
        let list = names.isEmpty ? "There is none." : "There are: \(names.joined(separator: ", "))."
        return "No workflow is named \"\(name.prefix(100))\".\(guess) \(list)"
    }

    /// The name with the fewest edits, when they are few for its length.
    static func nearest(to name: String, among names: [String]) -> String? {
        let wanted = Array(name.lowercased().prefix(200))
        let ranked = names.map { (name: $0, distance: distance(wanted, Array($0.lowercased()))) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= max(1, min(wanted.count, best.name.count) / 3) ? best.name : nil
    }

    /// Edits (insert, delete, replace, swap of neighbours) between two texts: Damerau's optimal string alignment.
    static func distance(_ first: [Character], _ second: [Character]) -> Int {
        var older: [Int] = []
        var last = Array(0...second.count)
        for (row, a) in first.enumerated() {
            var current = [row + 1]
            for (column, b) in second.enumerated() {
                var best = min(last[column + 1] + 1, current[column] + 1, last[column] + (a == b ? 0 : 1))
                if row > 0, column > 0, a == second[column - 1], first[row - 1] == b {
                    best = min(best, older[column - 1] + 1)
                }
                current.append(best)
            }
            older = last
            last = current
        }
        return last[second.count]
    }
}
