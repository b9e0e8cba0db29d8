/// A text that was encoded twice: base64 of base64, JSON in JSON, base64 of a percent-encoded text and the like.
///
/// The number of forms is the product of both encodings' forms. So only the common dialects are listed, and fewer for a
/// long text.
enum TwiceEncodedForms {
    /// The longest text, in bytes, for which all pairs of encodings are listed.
    static let short = 128
    /// The longest text, in bytes, for which any are listed: base64 and JSON, in base64 or JSON.
    static let long = 4_096

    static func of(_ text: [UInt8]) -> Set<[UInt8]> {
        guard text.count <= long else { return [] }
        let isShort = text.count <= short
        var forms: Set<[UInt8]> = []
        for once in firsts(of: text, isShort: isShort) where once != text {
            for twice in seconds(of: once, isShort: isShort) where twice != once { forms.insert(twice) }
        }
        return forms
    }

    private static func firsts(of text: [UInt8], isShort: Bool) -> Set<[UInt8]> {
        var forms = Set(Base64Forms.inner(of: text))
        forms.formUnion(QuotedForms.json(text))
        guard isShort else { return forms }
        forms.formUnion(HexForms.of(text, isRich: false))
        forms.formUnion(PercentForms.usual(text))
        forms.formUnion(QuotedForms.utf16(text))
        return forms
    }

    private static func seconds(of text: [UInt8], isShort: Bool) -> Set<[UInt8]> {
        var forms = Set(Base64Forms.of(text, isRich: false))
        forms.formUnion(QuotedForms.json(text))
        guard isShort else { return forms }
        forms.formUnion(HexForms.of(text, isRich: false))
        forms.formUnion(PercentForms.usual(text))
        return forms
    }
}
