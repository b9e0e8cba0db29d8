/// Whether a condition of `#if` can hold, as far as it is written in constants.
enum Condition {
    /// True, false, or nil where it depends on the build: `os(Linux)`, `DEBUG`.
    static func value(_ text: String) -> Bool? {
        var reader = Reader(words: words(of: text))
        let value = reader.either()
        return reader.words.isEmpty ? value : nil
    }

    private static func words(of text: String) -> [String] {
        var words: [String] = []
        var current = ""
        var previous: Character?
        for character in text {
            if character.isLetter || character.isNumber || character == "_" || character == "." {
                current.append(character)
            } else {
                if !current.isEmpty { words.append(current) }
                current = ""
                if character == previous, character == "&" || character == "|" {
                    words[words.count - 1] += String(character)
                    previous = nil
                    continue
                }
                words.append(String(character))
            }
            previous = character
        }
        if !current.isEmpty { words.append(current) }
        return words
    }

    private struct Reader {
        var words: [String]
        var depth = 0

        mutating func either() -> Bool? {
            var value = both()
            while words.first == "||" {
                words.removeFirst()
                let next = both()
                value = value == true || next == true ? true : (value == false && next == false ? false : nil)
            }
            return value
        }

        mutating func both() -> Bool? {
            var value = one()
            while words.first == "&&" {
                words.removeFirst()
                let next = one()
                value = value == false || next == false ? false : (value == true && next == true ? true : nil)
            }
            return value
        }

        mutating func one() -> Bool? {
            guard let word = words.first, depth < 64 else { return nil }
            words.removeFirst()
            depth += 1
            defer { depth -= 1 }
            switch word {
            case "!": return one().map { !$0 }
            case "true": return true
            case "false": return false
            case "(":
                let value = either()
                if words.first == ")" { words.removeFirst() }
                return value
            default:
                guard words.first == "(" else { return nil }
                var open = 0
                while let next = words.first {
                    words.removeFirst()
                    if next == "(" { open += 1 }
                    if next == ")" { open -= 1 }
                    if open == 0 { break }
                }
                return nil
            }
        }
    }
}
