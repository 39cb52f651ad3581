import { expect, test } from 'bun:test'
import {
  array,
  assert,
  asyncProperty,
  bigInt,
  constantFrom,
  nat,
  oneof,
  record,
} from '../../testing/property'
import type { WindowReservation } from './window-reservation'
import { toMonth } from './spending-limits'
import { caller, finish, limit, createFixture } from '../../testing/metering/months'
import type { UsageEvent } from '../ledger/usage-event'

const limits = { requests: 8, spend: 90n }
const maxHeld = 20n

/** One node and a database that books in any order, beside what there should be. */
class World {
  readonly #on = createFixture()
  readonly #running: { pass: WindowReservation; held: bigint }[] = []
  readonly #unbooked: UsageEvent[] = []
  #used = { requests: 0, spent: 0n }

  /** Lets a request in where the limit allows it, and only there. */
  async admit(): Promise<void> {
    const isRoom = this.#used.requests + this.#running.length < limits.requests
    let pass: WindowReservation | undefined
    try {
      pass = await this.#on.months.admit(caller(limit(limits)))
    } catch {
      pass = undefined
    }
    expect(pass !== undefined).toBe(isRoom)
    if (!pass) return
    const held = (pass.remaining ?? 0n) < maxHeld ? 0n : maxHeld
    pass.hold(held)
    this.#running.push({ pass, held })
  }

  refuse(): void {
    this.#running.shift()?.pass.end()
  }

  end(cost: bigint): void {
    const ended = this.#running.shift()
    if (!ended) return
    const spent = cost < ended.held ? cost : ended.held
    this.#unbooked.push(finish(this.#on, ended.pass, { cost: spent }))
    this.#used = { requests: this.#used.requests + 1, spent: this.#used.spent + spent }
  }

  book(place: number): void {
    if (this.#unbooked.length === 0) return
    this.#on.booked.push(...this.#unbooked.splice(place % this.#unbooked.length, 1))
  }

  refresh(): Promise<void> {
    return this.#on.months.refresh()
  }

  async turn(): Promise<void> {
    const { clock, wallMs } = this.#on
    clock.ms += toMonth(wallMs()).toMs - wallMs()
    this.#used = { requests: 0, spent: 0n }
    await this.refresh()
  }

  check(): void {
    const held = this.#running.reduce((sum, request) => sum + request.held, 0n)
    const left = limits.spend - this.#used.spent - held
    expect(left).toBeGreaterThanOrEqual(0n)
    const [first] = this.#running
    if (first) expect(first.pass.remaining).toBe(left)
  }
}

const command = record({
  // As often as they stand here.
  does: oneof(
    constantFrom('admit', 'end', 'book', 'refresh', 'refuse', 'turn'),
    constantFrom('admit', 'end', 'book', 'refresh'),
    constantFrom('admit', 'end'),
  ),
  cost: bigInt({ min: 0n, max: maxHeld }),
  place: nat(20),
})

test('on one node the sums are exact in any order of bookings, and no limit is passed', async () => {
  const property = asyncProperty(array(command, { maxLength: 80 }), async (commands) => {
    const world = new World()
    for (const { does, cost, place } of commands) {
      if (does === 'end') world.end(cost)
      else if (does === 'book') world.book(place)
      else await world[does]()
      world.check()
    }
  })
  await assert(property, { numRuns: 500 })
})
