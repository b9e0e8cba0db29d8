import Testing
@testable import Daemon

/// The search by itself: which commit is asked about next, and what it comes to.
struct BisectionTests {
    /// Asks until there is an answer; `standing` says how a commit, counted from the newest, comes out.
    private func search(
        _ count: Int, knowing known: [Int] = [], _ standing: (Int) -> Bisection.Standing
    ) -> (answer: Bisection.Next, asked: [Int]) {
        var bisection = Bisection(count: count)
        for place in known { bisection.note(standing(place), at: place) }
        var asked: [Int] = []
        while asked.count <= count {
            guard case .test(let place) = bisection.next else { return (bisection.next, asked) }
            asked.append(place)
            bisection.note(standing(place), at: place)
        }
        return (bisection.next, asked)
    }

    @Test(arguments: [1, 2, 3, 7, 64, 500, 1_000])
    func `every place is found with few questions`(count: Int) {
        for broken in stride(from: 0, to: count - 1, by: max(1, count / 37)) {
            let (answer, asked) = search(count) { $0 <= broken ? .bad : .good }
            #expect(answer == .found(bad: broken, good: broken + 1, suspects: []))
            // Twice the logarithm: once to find a commit that passes, once between the two.
            #expect(asked.count <= 3 + 2 * (count.bitWidth - count.leadingZeroBitCount))
            #expect(Set(asked).count == asked.count, "nothing is asked twice")
        }
    }

    @Test
    func `known results are not asked for`() {
        let (answer, asked) = search(100, knowing: Array(0..<100)) { $0 < 42 ? .bad : .good }
        #expect(answer == .found(bad: 41, good: 42, suspects: []) && asked.isEmpty)
        let near = search(100, knowing: [0, 40, 48]) { $0 < 42 ? .bad : .good }
        #expect(near.answer == .found(bad: 41, good: 42, suspects: []) && near.asked.count <= 3)
    }

    @Test
    func `commits that can't be tested are skipped and stay suspects`() {
        let (answer, asked) = search(20) { place in
            (8...10).contains(place) ? .untestable("no build") : place < 8 ? .bad : .good
        }
        #expect(answer == .found(bad: 7, good: 11, suspects: [8, 9, 10]))
        #expect(asked.count < 20)
        let apart = search(20) { place in place == 3 ? .untestable("") : place <= 12 ? .bad : .good }
        #expect(apart.answer == .found(bad: 12, good: 13, suspects: []), "one that lies elsewhere is no suspect")
    }

    @Test
    func `there may be nothing to find`() {
        #expect(search(5) { _ in .good }.answer == .nothing)
        #expect(search(1) { _ in .bad }.answer == .always(oldest: 0))
        #expect(search(9) { _ in .bad }.answer == .always(oldest: 8))
        #expect(
            search(9) { $0 == 0 ? .untestable("it does not build") : .good }.answer == .unknown("it does not build"))
        #expect(search(4) { $0 == 0 ? .bad : .untestable("") }.answer == .always(oldest: 0))
    }

    @Test
    func `of two breakages the newer one is found`() {
        let (answer, _) = search(12, knowing: [0, 4, 9]) { place in
            place < 3 || (6...10).contains(place) ? .bad : .good
        }
        #expect(answer == .found(bad: 2, good: 3, suspects: []))
    }
}
