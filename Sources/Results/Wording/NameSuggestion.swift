/// Which name was probably meant by a misspelt one.
public enum NameSuggestion {
    /// `No workflow is named "cii". Did you mean "ci"? There are: ci, release.`
    public static func sentence(for name: String, among names: [String]) -> String {
        let list = names.isEmpty ? "There is none." : "There are: \(names.joined(separator: ", "))."
        return "No workflow is named \"\(name.prefix(100))\".\(question(for: name, among: names)) \(list)"
    }

    /// ` Did you mean "ci"?`, with the space before it; empty where no name is near.
    public static func question(for name: String, among names: [String]) -> String {
        nearest(to: name, among: names).map { " Did you mean \"\($0)\"?" } ?? ""
    }

    /// The name with the fewest edits; nil where even that is far for its length.
    public static func nearest(to name: String, among names: [String]) -> String? {
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
