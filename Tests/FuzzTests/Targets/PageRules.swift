import Foundation

/// The markup that a page may contain, whatever its report contains.
enum PageRules {
    /// Elements that our pages have.
    static let vocabulary: Set<String> = Set(
        ("a b body br button code dd details div dl dt footer h1 h2 h3 head header html i input label li line main meta "
            + "nav ol option output p pre rect script section select span style summary svg text time title ul")
            .split(separator: " ").map(String.init))

    static func hold(_ page: String, sample: Set<String>) throws {
        var bytes = Array(page.utf8)[...]
        for (name, count) in [("<style", 1), ("<script", 1)] {
            try demand(occurrences(of: name, in: bytes) == count, "not \(count) of \(name) in the page")
        }
        try demand(bytes.starts(with: "<!doctype html>".utf8) || bytes.starts(with: "<!DOCTYPE html>".utf8), "no page")
        bytes = bytes.dropFirst(15)
        while let start = bytes.firstIndex(of: UInt8(ascii: "<")) {
            bytes = bytes[(start + 1)...]
            guard let end = bytes.firstIndex(of: UInt8(ascii: ">")) else { throw FuzzViolation("a tag is not closed") }
            let tag = String(decoding: bytes[..<end], as: UTF8.self)
            let name = tag.drop { $0 == "/" }.prefix { $0.isLetter || $0.isNumber }
            try demand(sample.contains(String(name)), "a page with <\(tag.prefix(80))>")
            try demand(
                tag.utf8.count(where: { $0 == UInt8(ascii: "\"") }).isMultiple(of: 2), "quotes in <\(tag.prefix(80))>")
            for attribute in tag.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
            where attribute.offset.isMultiple(of: 2) {
                let words = attribute.element.lowercased()
                try demand(
                    !words.contains(" on") && !words.contains(" src") && !words.contains(" style="),
                    "an attribute that acts: <\(tag.prefix(80))>")
            }
            if tag.contains("href=\"") { try demand(tag.contains("href=\"#"), "a link out: <\(tag.prefix(80))>") }
            bytes = bytes[(end + 1)...]
            // The content of these two is pipectl's own and no markup.
            if name == "script" || name == "style", !tag.hasPrefix("/") {
                guard let close = find("</\(name)>", in: bytes) else { throw FuzzViolation("<\(name)> is not closed") }
                bytes = bytes[close...]
            }
        }
    }

    private static func find(_ text: String, in bytes: ArraySlice<UInt8>) -> Int? {
        let wanted = Array(text.utf8)
        return bytes.indices.first { bytes[$0] == wanted[0] && bytes[$0...].starts(with: wanted) }
    }

    private static func occurrences(of text: String, in bytes: ArraySlice<UInt8>) -> Int {
        let wanted = Array(text.utf8)
        return bytes.indices.count { bytes[$0] == wanted[0] && bytes[$0...].starts(with: wanted) }
    }
}
