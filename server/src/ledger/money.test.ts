import { describe, expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { command, type LeaseCommand } from '../../testing/ledger/reference-command'
import { World } from '../../testing/ledger/reference-world'

const runs = fc.runsOf(10_000)
const commands = fc.array(command, { minLength: 20, maxLength: 80 })

/** Runs a sequence on two accounts with something on them, and heals all that it broke. */
async function play(steps: readonly LeaseCommand[], look: (world: World) => void): Promise<World> {
  const world = new World()
  for (const number of [0, 1]) await world.run({ do: 'topUp', account: number, amount: 2000 })
  for (const step of steps) {
    await world.run(step)
    look(world)
  }
  await world.heal()
  return world
}

function sumsOf({ ledger }: World) {
  const sums = { charged: 0n, writtenOff: 0n }
  for (const { charged, writtenOff } of ledger.booked.values()) {
    sums.charged += charged
    sums.writtenOff += writtenOff
  }
  return sums
}

/** Sequences in which nothing happens would prove nothing. */
function expectToHaveTried(worlds: { admitted: number; refused: number }): void {
  expect(worlds.admitted).toBeGreaterThan(3 * runs)
  expect(worlds.refused).toBeGreaterThan(runs / 20)
}

describe('any sequence of commands and faults', () => {
  test('I3 I4 I7 I20 M30: no balance falls below zero, every event is booked once, no credit stays leased', async () => {
    const tried = { admitted: 0, refused: 0, earned: 0 }
    await fc.assert(
      fc.asyncProperty(commands, async (steps) => {
        const world = await play(steps, () => undefined)
        const { ledger, settled, toppedUp } = world
        tried.admitted += world.admitted
        tried.refused += world.refused.length
        expect(ledger.booked.size).toBe(settled.length)
        const { charged, writtenOff } = sumsOf(world)
        const cost = settled.reduce((sum, event) => sum + event.cost, 0n)
        expect(charged + writtenOff).toBe(cost)
        const posted = [...ledger.accounts.values()].reduce((sum, it) => sum + it.posted, 0n)
        expect(posted).toBe(toppedUp - charged + ledger.earned)
        expect(ledger.earned).toBeLessThanOrEqual(charged)
        tried.earned += ledger.earned > 0n ? 1 : 0
        for (const { leased } of ledger.accounts.values()) expect(leased).toBe(0n)
      }),
      { numRuns: runs },
    )
    expectToHaveTried(tried)
    expect(tried.earned).toBeGreaterThan(runs / 10)
  }, 180_000)

  test('M01 M19: holds and unbooked costs never exceed the balance while leases are active', async () => {
    const tried = { admitted: 0, refused: 0 }
    await fc.assert(
      fc.asyncProperty(commands, async (steps) => {
        const honest = steps.filter(
          (step) =>
            step.do !== 'sweep' &&
            !(step.do === 'pass' && step.ms > 1000) &&
            !(step.do === 'settle' && step.share > 100),
        )
        const world = await play(honest, (now) => {
          for (const [id, { posted }] of now.ledger.accounts) {
            expect(now.promised(id)).toBeLessThanOrEqual(posted)
          }
        })
        tried.admitted += world.admitted
        tried.refused += world.refused.length
        expect(sumsOf(world).writtenOff).toBe(0n)
      }),
      { numRuns: runs / 2 },
    )
    expectToHaveTried({ admitted: 2 * tried.admitted, refused: 2 * tried.refused })
  }, 180_000)
})
