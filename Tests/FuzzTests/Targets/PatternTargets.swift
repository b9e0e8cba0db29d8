import Engine
import Foundation
import Pipeline
import TestBasics
import TestSupport

extension FuzzTarget {
    static let patterns: [FuzzTarget] = [
        .pure(
            "glob", words: ["**/", "*", "?", "{a,b}", "[!a-z]", "[]-a]", "\\", "/", ",", "\n", "{{,}", "*a*a*a*a*"],
            limit: 64 << 10,
            corpus: {
                Corpus.texts(
                    "Sources/**/*.swift\nSources/Engine/Run/Runner.swift", "release/[0-9]*\nrelease/1.2",
                    "{docs,Tests/{a,b}}/**\nTests/a/x", "**\na/b/c/d/e", "\\*\\[\n*[", "*a*a*a*a*b\naaaaaaaaaaaaaaaa")
            },
            check: checkGlob),
        .pure(
            "message", words: ["*", "^", "\\", "[skip ci]", "\n", "\r\n", "*a*a*a*a*", "\u{301}"], limit: 64 << 10,
            corpus: {
                Corpus.texts(
                    "[skip *]\nAdd it [skip ci]\n\nBody", "^docs:\nFix\n\ndocs: say it", "\\*\\^\n*^",
                    "*a*a*a*a*b\naaaaaaaaaaaaaaaa", "🚀\nShip 🚀 it")
            },
            check: checkMessage),
        .pure(
            "cron", words: ["*/", "-", ",", "0-59", "*", " ", "7", "31", "30 2"], limit: 4 << 10,
            corpus: {
                Corpus.texts(
                    "0 3 * * 1-5", "*/10 * * * *", "0 0 29 2 *", "1,2,3-7/2 0-23/5 1,15 */2 7", "59 23 31 12 0",
                    "* * 30 2 *")
            },
            check: checkCron),
    ]

    /// The first line is a pattern, the others are paths.
    @Sendable private static func checkGlob(_ bytes: [UInt8], _ random: inout SplitMix64) throws {
        let lines = String(decoding: bytes, as: UTF8.self).unicodeScalars.split(
            separator: "\n", omittingEmptySubsequences: false
        ).map(String.init)
        let paths = lines.dropFirst().prefix(50)
        if let glob = try? Glob(lines.first ?? "") {
            for path in paths where glob.matches(path) {
                // A walk that enters only folders that can match must find it.
                let parts = path.unicodeScalars.split(separator: "/").map { String($0) }
                for depth in parts.indices.prefix(30) {
                    let folder = parts[..<depth].joined(separator: "/")
                    try demand(glob.canMatch(below: folder), "\(lines[0]) matches \(path) but not below \(folder)")
                }
            }
        }
        for path in paths.prefix(5) {
            // With every character escaped, the pattern matches the path and no path that differs in one character.
            var escaped = ""
            for scalar in path.unicodeScalars {
                if scalar != "/" { escaped.unicodeScalars.append("\\") }
                escaped.unicodeScalars.append(scalar)
            }
            guard let glob = try? Glob(escaped) else { continue }
            try demand(glob.matches(path), "\(path) does not match itself")
            try demand(!glob.matches(path + "x") && !glob.matches("x/" + path), "\(path) matches another path")
        }
    }

    /// The first line is a pattern, the rest is a message.
    @Sendable private static func checkMessage(_ bytes: [UInt8], _ random: inout SplitMix64) throws {
        let text = String(decoding: bytes, as: UTF8.self).unicodeScalars
        let first = String(text.prefix { $0 != "\n" })
        let message = String(text.drop { $0 != "\n" }.dropFirst())
        let lines = message.unicodeScalars.split { $0 == "\n" || $0 == "\r" }.map(String.init)
        do {
            let pattern = try MessagePattern(first)
            let found = pattern.matches(message)
            // Lines are compared one by one, in any order.
            try demand(pattern.matches(lines.reversed().joined(separator: "\n")) == found, "the order of lines counts")
            let few = lines.prefix(20)
            if few.count == lines.count {
                try demand(few.contains(where: pattern.matches) == found, "a message and its lines differ")
            }
        } catch let problem as MessagePatternProblem {
            try demand(!problem.description.isEmpty, "a refusal without a reason")
        }
        for line in lines.prefix(5) {
            // With every character escaped, a pattern matches the line it was made of, wherever that stands.
            let escaped = line.unicodeScalars.map { "\\\($0)" }.joined()
            guard let pattern = try? MessagePattern(escaped), let start = try? MessagePattern("^" + escaped) else {
                continue
            }
            try demand(pattern.matches(line) && pattern.matches("x" + line + "x"), "\(line) does not match itself")
            try demand(start.matches(line), "\(line) does not begin with itself")
        }
    }

    @Sendable private static func checkCron(_ bytes: [UInt8], _ random: inout SplitMix64) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        let schedule: CronSchedule
        do { schedule = try CronSchedule(text) } catch {
            return try demand(!error.description.isEmpty, "a refusal without a reason")
        }
        let time = random.below(4_000_000_000)
        let next = schedule.next(after: time)
        if let next {
            try demand(next > time && next % 60 == 0, "\(next) after \(time)")
            try demand(schedule.matches(secondsSince1970: next), "the next time is not one of the schedule's")
        }
        // Checks every minute of the next two days: none may be left out.
        for minute in 1...2_880 {
            let moment = (time / 60 + minute) * 60
            if moment >= next ?? .max { break }
            try demand(!schedule.matches(secondsSince1970: moment), "\(moment) was left out")
        }
    }
}
