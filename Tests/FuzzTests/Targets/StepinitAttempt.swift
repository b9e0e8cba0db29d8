import TestBasics
import TestSupport
/// One request to stepinit and its follow-up: like those of `StepProcess`, with some parts wrong.
///
/// Its texts are harmless in any place; the wrong parts are numbers, lengths and ends.
struct StepinitAttempt {
    var request: [UInt8]
    /// The number of descriptors with the request; one is correct.
    var files: Int
    /// The number of descriptors with the launch; one is correct, and up to four more with control groups.
    var launchFiles: Int
    var launch: [UInt8]
    /// Whether the whole launch is sent, with correct numbers.
    var isSound: Bool
    /// Whether stepinit takes the request for the end of its peer.
    var endsHost: Bool
    var asksToEnd: Bool
    var kills: Bool
    var leaves: Bool
    let id: UInt32

    init(id: UInt32, folder: String, _ random: inout SplitMix64) {
        self.id = id
        let commands = [
            ["true"], ["false"], ["sh", "-c", "exit 3"], ["sleep", "0.01"], ["pipectl-no-such-command"], [], [""],
            ["sh", "-c", "sleep 60 & exit 0"], ["sh", "-c", "kill -9 $$"], ["printf", "%s", "text"],
            ["/bin/sh", "-ec", ":"], ["/bin/sh", "-ec", "exit 3"], ["/bin/sh", "-ec", "sleep 60 & kill -9 $$"],
            ["/bin/sh", "-ec", ":"], ["/bin/sh", "-ec", "sleep 0.01"], ["/bin/sh", "-ec", ""],
        ]
        let words = random.pick(commands)
        let variables = random.pick([[], ["A=B"], ["A=B", "PATH=/usr/bin:/bin", "=", "A"]])
        let secrets = random.pick([[], [], ["TOKEN"], ["TOKEN", "TOKEN", "OTHER"]])
        let place = random.once(in: 12) ? folder + "/none" : folder
        let texts = [place, folder] + words + variables + secrets
        var text: [UInt8] = texts.flatMap { (text: String) -> [UInt8] in Array(text.utf8) + [0] }
        // Every second iteration has a mistake: correct requests between them must still get their answers.
        isSound = random.once(in: 2)
        var counts = [UInt32(text.count), UInt32(words.count), UInt32(variables.count), 20, 0, UInt32(secrets.count)]
        if random.once(in: 6) { counts[4] = 1 }
        var limits = [UInt64](repeating: 0, count: 5)
        if !isSound {
            for _ in 0..<random.below(3) { limits[random.below(5)] = random.pick([1, 3, 1 << 20, 1 << 40, .max]) }
            if random.once(in: 2) { text.removeLast(random.below(text.count)) }
            if random.once(in: 2) { text.removeAll { $0 == 0 } }
            counts[0] = UInt32(text.count)
            let wrong: [UInt32] = [0, 1, 2, 7, 1_000, 100_000]
            if random.once(in: 2) { counts[random.pick([1, 2, 5])] = random.pick(wrong) }
            if random.once(in: 4) { counts[0] = random.pick(wrong + [UInt32(text.count) + 1]) }
            if random.once(in: 8) { counts[3] = .max }
            if random.once(in: 8) { counts[4] = .max }
        }
        launch = counts.flatMap { StepinitAttempt.bytes($0) } + limits.flatMap { StepinitAttempt.bytes($0) } + text
        for secret in secrets {
            launch += StepinitAttempt.bytes(UInt32(secret.utf8.count)) + Array(secret.utf8)
        }
        (files, launchFiles) = (1, 1)
        if !isSound {
            if random.once(in: 4) { launch.removeLast(random.below(launch.count)) }
            if random.once(in: 8) {
                launch += (0..<random.below(64)).map { _ in UInt8.random(in: 0...255, using: &random) }
            }
            if random.once(in: 4) { files = random.pick([0, 2, 3, 6, 7, 12]) }
            if random.once(in: 4) { launchFiles = random.pick([0, 2, 3, 5, 6, 12]) }
        }
        let kind: UInt32 = !isSound && random.once(in: 12) ? random.pick([0, 2, 3, .max]) : 1
        request = StepinitAttempt.bytes(kind) + StepinitAttempt.bytes(id)
        endsHost = !isSound && random.once(in: 40)
        if endsHost { request.removeLast(1 + random.below(7)) }
        asksToEnd = random.once(in: 3)
        kills = random.once(in: 10)
        leaves = random.once(in: 10)
    }

    static func bytes(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }

    /// Whether the supervisor of a correct attempt may get another one.
    var mayRepeat: Bool { mustBeAnswered && !asksToEnd }

    /// Whether an answer must come.
    var mustBeAnswered: Bool { isSound && !kills && !leaves }
}
