import Foundation
import MachinePool
import Pipeline
import Testing

@testable import Placing

/// Which machine a run gets, and what is known of those that can't be reached.
@Suite struct RosterTests {
    private let here = Machine(
        name: "this machine", address: .here, traits: [.linux, .arch(.x64)], cpus: 4, memory: 8 << 30, slots: 1)
    private let gpu = MachineNeeds(traits: [.label("gpu")])
    private let start = Date(timeIntervalSince1970: 0)

    private func machine(
        _ name: String, _ labels: [String] = [], slots: Int = 1, state: Machine.State = .ready
    ) -> Machine {
        Machine(
            name: name, address: .slurm(partition: name),
            traits: [.linux, .arch(.x64)] + labels.map { .label($0) }, cpus: 8, memory: 16 << 30, slots: slots,
            state: state)
    }

    private func run(
        _ id: Int, _ needs: MachineNeeds = MachineNeeds(), _ scope: MachineScope = .all
    ) -> WaitingRun {
        WaitingRun(id: id, owner: "alpha", needs: needs, scope: scope, snapshot: "alpha/test", seconds: 60)
    }

    /// The machine that a run gets now; nil if it waits.
    private func place(_ roster: inout Roster, _ run: WaitingRun, now: Double = 0) -> String? {
        if let machine = roster.add(run, now: now) { return machine.name }
        while let next = roster.next(now: now) { if next.run == run.id { return next.machine.name } }
        return nil
    }

    @Test func `without other machines the scheduler alone decides`() {
        var roster = Roster(here: here)
        #expect(place(&roster, run(1)) == here.name)
        #expect(place(&roster, run(2)) == here.name, "more runs than slots")
        #expect(place(&roster, run(3, gpu)) == nil)
        #expect(roster.obstacle(to: run(3, gpu))?.isFinal == true)
        #expect(roster.otherSlots == 0)
    }

    @Test func `a run goes to the daemon's machine, and elsewhere if that is full or lacks something`() {
        var roster = Roster(here: here)
        roster.take([machine("a"), machine("b", ["gpu"])], now: 0)
        #expect(roster.otherSlots == 2)
        #expect(place(&roster, run(1)) == here.name)
        #expect(place(&roster, run(2)) == "a")
        #expect(place(&roster, run(3, gpu)) == "b")
        #expect(place(&roster, run(4)) == nil)
        #expect(roster.obstacle(to: run(4))?.code == .busy)
        roster.remove(1, now: 1)
        #expect(roster.next(now: 1)?.machine.name == here.name)
    }

    @Test func `a run that only the daemon's machine can have waits for it`() {
        var roster = Roster(here: here)
        roster.take([machine("a")], now: 0)
        #expect(place(&roster, run(1)) == here.name)
        let bound = run(2, MachineNeeds(), .only(here.name))
        #expect(place(&roster, bound) == nil)
        #expect(roster.obstacle(to: bound)?.code == .busy)
        #expect(place(&roster, run(3)) == "a")
        #expect(roster.obstacle(to: run(4, gpu, .only(here.name)))?.isFinal == true)
    }

    @Test func `a machine is left alone for longer after each failure, and then one run tries it`() throws {
        var roster = Roster(here: here)
        roster.take([machine("a", ["gpu"], slots: 4)], now: 0)
        var now = 0.0
        var pauses: [Double] = []
        for number in 1...7 {
            #expect(place(&roster, run(number, gpu), now: now) == "a")
            #expect(place(&roster, run(100 + number, gpu), now: now) == (number == 1 ? "a" : nil), "only one tries it")
            for run in [number, 100 + number] { roster.remove(run, now: now) }
            #expect(roster.lose("a", reason: "no answer", at: start, now: now) == (number == 1))
            let isNews = roster.lose("a", reason: "no answer", at: start, now: now)
            #expect(!isNews, "the other run's failure is the same")
            #expect(roster.obstacle(to: run(0, gpu))?.code == .noneReady)
            #expect(roster.otherSlots == 0)
            var pause = 0.0
            while roster.obstacle(to: run(0, gpu)) != nil, pause < 1_000 {
                pause += 1
                roster.refresh(now: now + pause)
            }
            pauses.append(pause)
            now += pause
        }
        #expect(pauses == [15, 30, 60, 120, 240, 300, 300])
        #expect(place(&roster, run(50, gpu), now: now) == "a")
        let isBack = roster.reach("a", now: now)
        #expect(isBack)
        #expect(place(&roster, run(51, gpu), now: now) == "a")
        #expect(roster.sights(now: now).allSatisfy { $0.reason == nil })
    }

    @Test func `a run that has lost its machine gets it again when it is back`() {
        var roster = Roster(here: here)
        roster.take([machine("a", ["gpu"])], now: 0)
        #expect(place(&roster, run(1, gpu)) == "a")
        let isNews = roster.lose("a", reason: "no answer", at: start, now: 0)
        #expect(isNews)
        #expect(place(&roster, run(1, gpu), now: 1) == nil)
        roster.refresh(now: 20)
        #expect(roster.next(now: 20)?.machine.name == "a")
        roster.remove(1, now: 21)
        #expect(roster.sights(now: 21).allSatisfy { $0.runs.isEmpty })
    }

    @Test func `people see why a machine is not used`() throws {
        var roster = Roster(here: here)
        roster.take([machine("a"), machine("b", state: .draining)], now: 0)
        _ = roster.lose("a", reason: "No route to host.", at: start, now: 0)
        let sights = roster.sights(now: 5)
        #expect(sights.map(\.machine.name) == [here.name, "a", "b"])
        #expect(sights[0].reason == nil && sights[0].free == 1)
        let reason = try #require(sights[1].reason)
        #expect(reason.contains("1970-01-01T00:00:00Z") && reason.contains("No route to host."))
        #expect(reason.contains("10 s"))
        #expect(sights[2].reason != nil)
    }

    @Test func `a cluster without a usable node gets no run until it has one`() {
        var roster = Roster(here: here)
        roster.take([machine("a", ["gpu"])], now: 0)
        let (isNews, isOld) = (
            roster.note(outage: "all is drained", of: "a", now: 0), roster.note(outage: "all is down", of: "a", now: 0)
        )
        #expect(isNews && !isOld)
        #expect(place(&roster, run(1, gpu)) == nil)
        #expect(roster.obstacle(to: run(1, gpu))?.code == .noneReady && roster.otherSlots == 0)
        #expect(roster.sights(now: 0).first { $0.machine.name == "a" }?.reason == "all is down")
        let isBack = roster.note(outage: nil, of: "a", now: 1)
        #expect(isBack && roster.next(now: 1)?.machine.name == "a")
        let isUnknown = roster.note(outage: "x", of: "none", now: 1)
        #expect(!isUnknown)
    }

    @Test func `draining and removing end no run`() {
        var roster = Roster(here: here)
        roster.take([machine("a", ["gpu"], slots: 2)], now: 0)
        #expect(place(&roster, run(1, gpu)) == "a")
        roster.take([machine("a", ["gpu"], slots: 2, state: .draining)], now: 1)
        #expect(place(&roster, run(2, gpu), now: 1) == nil)
        #expect(roster.obstacle(to: run(2, gpu))?.code == .noneReady)
        #expect(roster.sights(now: 1).first { $0.machine.name == "a" }?.runs == [1])
        roster.take([], now: 2)
        #expect(roster.sights(now: 2).first { $0.machine.name == "a" }?.runs == [1])
        #expect(roster.otherSlots == 0)
        roster.remove(1, now: 3)
        #expect(roster.sights(now: 3).map(\.machine.name) == [here.name])
        #expect(roster.obstacle(to: run(2, gpu))?.isFinal == true, "nobody can run it any more")
    }

    @Test func `a person who changes a machine wants it to be tried at once`() {
        var roster = Roster(here: here)
        roster.take([machine("a", ["gpu"], state: .draining)], now: 0)
        _ = roster.lose("a", reason: "no answer", at: start, now: 0)
        roster.take([machine("a", ["gpu"])], now: 1)
        #expect(place(&roster, run(1, gpu), now: 1) == "a")
    }

    @Test func `a run that waits for a person takes no slot until it goes on`() {
        var roster = Roster(here: here)
        roster.take([machine("a", state: .draining)], now: 0)
        #expect(place(&roster, run(1)) == here.name)
        #expect(place(&roster, run(2)) == nil)
        roster.rest(1, true, .waitsForPerson, now: 1)
        #expect(roster.next(now: 1)?.run == 2)
        roster.rest(1, false, .waitsForPerson, now: 2)
        #expect(roster.sights(now: 2).first?.runs == [1, 2])
        roster.remove(2, now: 3)
        #expect(place(&roster, run(3), now: 3) == nil)
        roster.remove(1, now: 4)
        #expect(roster.next(now: 4)?.run == 3)
    }

    @Test func `a run whose steps wait for other machines lends its own, and one that waits for a person keeps it`() {
        var roster = Roster(here: here)
        roster.take([machine("a", ["gpu"]), machine("b", ["fpga"])], now: 0)
        #expect(place(&roster, run(1, gpu)) == "a")
        roster.rest(1, true, .waitsForPerson, now: 0)
        #expect(place(&roster, run(2, gpu)) == nil)
        roster.rest(1, true, .waitsForMachines, now: 1)
        #expect(roster.next(now: 1)?.run == 2)
        // It has more than its slots for a while.
        roster.rest(1, false, .waitsForMachines, now: 2)
        #expect(roster.pool.runs(on: "a") == [1, 2])
        roster.remove(2, now: 3)
        #expect(place(&roster, run(3, gpu)) == nil)
        roster.remove(1, now: 4)
        #expect(roster.next(now: 4)?.run == 3)
    }

    @Test func `people see the run of a step`() {
        var roster = Roster(here: here)
        roster.take([machine("a", ["gpu"], slots: 3)], now: 0)
        #expect(place(&roster, run(7)) == here.name)
        for number in [-1, -2] {
            var step = run(number, gpu)
            step.partOf = 7
            #expect(place(&roster, step) == "a")
        }
        let sights = roster.sights(now: 0)
        #expect(sights.map(\.runs) == [[7], [7]])
        #expect(sights.map(\.free) == [0, 1])
    }
}
