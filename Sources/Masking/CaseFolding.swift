extension UInt8 {
    /// The byte with an ASCII capital as its small letter.
    ///
    /// Forms are found in either case: hexadecimal and percent-encoding are written in both, and mixed. A secret's own
    /// letters are thus found in either case, too, which a tool that changes the case of its output makes of them.
    var caseFolded: UInt8 { self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self }
}
