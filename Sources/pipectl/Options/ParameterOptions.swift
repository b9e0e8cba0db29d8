import ArgumentParser

/// `--param name=value`, which may be repeated.
enum ParameterOptions {
    static func values(_ texts: [String]) throws -> [String: String] {
        var values: [String: String] = [:]
        for text in texts {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw ValidationError("--param takes name=value, not \"\(text)\"")
            }
            values[String(parts[0])] = String(parts[1])
        }
        return values
    }
}
