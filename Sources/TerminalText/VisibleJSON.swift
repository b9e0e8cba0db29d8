public import Foundation

/// JSON for people and terminals.
public enum VisibleJSON {
    /// The same JSON, with `\u…` for scalars that would act on a terminal or hide text: DEL, C1 controls, direction
    /// marks and scalars without width. JSON has such scalars only inside strings, so every reader gets the same value.
    ///
    /// - Parameter json: The output of an encoder.
    public static func text(_ json: Data) -> String {
        let text = String(decoding: json, as: UTF8.self)
        // Mostly all of it is ASCII.
        guard !text.utf8.allSatisfy({ $0 < 0x7F }), text.unicodeScalars.contains(where: isHidden) else { return text }
        var output = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            guard isHidden(scalar) else {
                output.append(scalar)
                continue
            }
            let digits = String(scalar.value, radix: 16)
            output.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".unicodeScalars)
        }
        return String(output)
    }

    /// All of these are below U+10000, so four digits are enough.
    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x7F...0x9F, 0x61C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF: true
        default: false
        }
    }
}
