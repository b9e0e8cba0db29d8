import TestBasics
import TestSupport
extension JSONTree {
    /// The document with one randomly chosen value changed.
    func mutated(_ random: inout SplitMix64, texts: [String]) -> JSONTree {
        var left = random.below(count)
        return changed(at: &left, &random, texts)
    }

    /// Walks the values in order and changes the one at which `left` is 0.
    private func changed(at left: inout Int, _ random: inout SplitMix64, _ texts: [String]) -> JSONTree {
        if left == 0 {
            left = -1
            return replacement(&random, texts)
        }
        left -= 1
        switch self {
        case .object(var members):
            for index in members.indices where left >= 0 {
                members[index].value = members[index].value.changed(at: &left, &random, texts)
            }
            return .object(members)
        case .array(var elements):
            for index in elements.indices where left >= 0 {
                elements[index] = elements[index].changed(at: &left, &random, texts)
            }
            return .array(elements)
        default: return self
        }
    }

    private func replacement(_ random: inout SplitMix64, _ texts: [String]) -> JSONTree {
        if random.once(in: 12) { return JSONTree.foreign(&random) }
        switch self {
        case .object(var members):
            guard !members.isEmpty else { return JSONTree.foreign(&random) }
            let index = random.below(members.count)
            switch random.below(4) {
            case 0: members.remove(at: index)
            case 1: members.append(members[index])
            case 2: members[index].key = random.pick(Hostile.texts)
            default: members.append((random.pick(Hostile.texts), JSONTree.foreign(&random)))
            }
            return .object(members)
        case .array(var elements):
            guard !elements.isEmpty else { return .array([JSONTree.foreign(&random)]) }
            let element = random.pick(elements)
            switch random.below(5) {
            case 0: elements.removeAll()
            case 1: elements.remove(at: random.below(elements.count))
            case 2: elements.reverse()
            case 3: elements.append(element)
            default: elements += Array(repeating: element, count: 1 << random.below(9))
            }
            return .array(elements)
        case .text(let text):
            switch random.below(4) {
            case 0: return .text(random.pick(texts.isEmpty ? Hostile.texts : texts))
            case 1: return .text(random.pick(Hostile.texts))
            case 2: return .text(text + random.pick(Hostile.texts))
            default: return .text(String(repeating: text.isEmpty ? "x" : text, count: 1 << random.below(8)))
            }
        case .number: return .number(random.pick(Hostile.numbers))
        case .flag(let flag): return .flag(!flag)
        case .null: return JSONTree.foreign(&random)
        }
    }

    private static func foreign(_ random: inout SplitMix64) -> JSONTree {
        switch random.below(8) {
        case 0: .null
        case 1: .flag(true)
        case 2, 3: .number(random.pick(Hostile.numbers))
        case 4: .object([])
        case 5: (0..<random.pick([3, 60, 510, 600])).reduce(.array([])) { inner, _ in .array([inner]) }
        default: .text(random.pick(Hostile.texts))
        }
    }
}
