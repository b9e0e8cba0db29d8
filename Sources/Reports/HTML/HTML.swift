package import TerminalText

/// HTML that is safe by construction: literals are markup, and interpolated values are escaped.
///
///     page += "<li>\(test.name) took \(milliseconds) ms</li>"
///
/// Only interpolating other ``HTML`` and ``append(ansi:with:)`` bypass the escaping.
package struct HTML: ExpressibleByStringInterpolation, Sendable {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package init(stringLiteral value: StaticString) {
        value.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    package init(stringInterpolation: StringInterpolation) { bytes = stringInterpolation.html.bytes }

    /// Our own style sheet or script: constants of this program, or rules that contain only numbers.
    package init(trusted text: String) { bytes = Array(text.utf8) }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    package var isEmpty: Bool { bytes.isEmpty }

    package static func += (html: inout HTML, more: HTML) { html.bytes.append(contentsOf: more.bytes) }

    package static func + (html: HTML, more: HTML) -> HTML {
        var sum = html
        sum += more
        return sum
    }

    package mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

    /// Appends text of several lines: line feeds remain, colours are removed.
    package mutating func append(text: String) {
        if text.utf8.allSatisfy({ $0 < 0x7F && ($0 >= 0x20 || $0 == 0x0A) && !HTML.isSpecial($0) }) {
            bytes.append(contentsOf: text.utf8)
        } else {
            bytes.append(contentsOf: ANSIHTML.escape(text).utf8)
        }
    }

    /// Appends a line of a log, with its colours.
    package mutating func append(ansi line: UnsafeBufferPointer<UInt8>, with renderer: inout ANSIHTML) {
        renderer.append(line: line, to: &bytes)
    }

    private static func isSpecial(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"), UInt8(ascii: "\""), UInt8(ascii: "'"): true
        default: false
        }
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        var html = HTML()

        package init(literalCapacity: Int, interpolationCount: Int) {
            html.bytes.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        package mutating func appendLiteral(_ literal: StaticString) {
            literal.withUTF8Buffer { html.bytes.append(contentsOf: $0) }
        }

        /// A name, path or sentence on one line: all its characters are visible, and none has an effect.
        package mutating func appendInterpolation(_ name: String) {
            html.append(text: TerminalText.name(name, limit: 4_000))
        }

        package mutating func appendInterpolation(_ number: Int) { html.bytes.append(contentsOf: String(number).utf8) }

        package mutating func appendInterpolation(_ number: Int64) {
            html.bytes.append(contentsOf: String(number).utf8)
        }

        package mutating func appendInterpolation(_ other: HTML) { html += other }

        package mutating func appendInterpolation(text: String) { html.append(text: text) }
    }
}
