extension UInt8 {
    /// The byte, with an ASCII capital letter as the small letter.
    ///
    /// Forms are found in upper and lower case, because hexadecimal and percent-encoding are written in both. So a
    /// secret's own letters are found in both cases, too, for example in the output of a tool that changes the case.
    var caseFolded: UInt8 { self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self }
}
