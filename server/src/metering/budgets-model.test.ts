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
import { caller, createFixture, event, limit } from '../../testing/metering/months'
import type { WindowReservation } from './window-reservation'
import type { UsageEvent } from '../ledger/usage-event'
import { toBudgetLimit, type WindowLimit } from '../limits/caller-limits'
import { findWindow, monthInUtc, type WindowUnit } from '../platform/time-window'

const budget = (
  subjectId: string,
  unit: WindowUnit,
  amount: Partial<Pick<WindowLimit, 'requests' | 'spend'>>,
) =>
  toBudgetLimit({
    subjectId,
    id: `budget_${unit}`,
    name: unit,
    requests: null,
    spend: null,
    ...amount,
    rule: { unit, timeZone: 'Asia/Kolkata', firstWeekday: 7 },
  })

/** Two of them count the same usage, and one is a monthly limit. */
const limits = [
  limit({ spend: 400n }),
  budget('user_1', 'day', { spend: 150n }),
  budget('user_1', 'total', { spend: 900n }),
  budget('key_1', 'hour', { spend: 70n }),
  budget('key_1', 'hour', { requests: 6 }),
  budget('key_1', 'week', { spend: 300n }),
]
const maxHeld = 20n

const windowOf = ({ budget: terms }: WindowLimit, atMs: number) =>
  findWindow(terms?.rule ?? monthInUtc, atMs)

/** One node and a database that books in any order, beside what there should be. */
class World {
  readonly #on = createFixture()
  readonly #running: { pass: WindowReservation; held: bigint; startedAt: string }[] = []
  readonly #unbooked: UsageEvent[] = []
  readonly #ended: UsageEvent[] = []

  #endedIn(of: WindowLimit, atMs: number): UsageEvent[] {
    const { fromMs, toMs } = windowOf(of, atMs)
    return this.#ended.filter(({ startedAt }) => {
      const ms = Date.parse(startedAt)
      return ms >= fromMs && ms < toMs
    })
  }

  #spentIn(of: WindowLimit, atMs: number): bigint {
    return this.#endedIn(of, atMs).reduce((sum, { cost }) => sum + cost, 0n)
  }

  /** The least that is left of a limit. */
  #left(): bigint {
    const atMs = this.#on.wallMs()
    const held = this.#running.reduce((sum, request) => sum + request.held, 0n)
    const parts = limits.flatMap((of) =>
      of.spend === null ? [] : [of.spend - this.#spentIn(of, atMs) - held],
    )
    return parts.reduce((least, part) => (part < least ? part : least))
  }

  #isRequestLeft(): boolean {
    const atMs = this.#on.wallMs()
    return limits.every(
      (of) =>
        of.requests === null || this.#endedIn(of, atMs).length + this.#running.length < of.requests,
    )
  }

  async admit(): Promise<void> {
    const isLeft = this.#isRequestLeft()
    let pass: WindowReservation | undefined
    try {
      pass = await this.#on.months.admit(caller(...limits))
    } catch {
      pass = undefined
    }
    expect(pass !== undefined).toBe(isLeft)
    if (!pass) return
    expect(pass.remaining).toBe(this.#left())
    const held = this.#left() < maxHeld ? 0n : maxHeld
    pass.hold(held)
    const startedAt = new Date(this.#on.wallMs()).toISOString()
    this.#running.push({ pass, held, startedAt })
  }

  /** As many at once as there are turns: the sums are read once for all. */
  async admitTogether(): Promise<void> {
    const admitted = await Promise.allSettled(
      Array.from({ length: 8 }, async () => this.#on.months.admit(caller(...limits))),
    )
    for (const one of admitted) {
      if (one.status === 'rejected') continue
      const held = (one.value.remaining ?? 0n) < maxHeld ? 0n : maxHeld
      one.value.hold(held)
      const startedAt = new Date(this.#on.wallMs()).toISOString()
      this.#running.push({ pass: one.value, held, startedAt })
    }
  }

  /** A request that was refused later, or whose client disconnected before it was sent: it gives back what it held. */
  cancel(): void {
    this.#running.shift()?.pass.end()
  }

  end(cost: bigint): void {
    const ended = this.#running.shift()
    if (!ended) return
    const spent = cost < ended.held ? cost : ended.held
    const created = event(this.#on, { cost: spent, startedAt: ended.startedAt })
    ended.pass.end()
    this.#on.months.note(created)
    this.#unbooked.push(created)
    this.#ended.push(created)
  }

  book(place: number): void {
    if (this.#unbooked.length === 0) return
    this.#on.booked.push(...this.#unbooked.splice(place % this.#unbooked.length, 1))
  }

  refresh(): Promise<void> {
    return this.#on.months.refresh()
  }

  /** To the first moment of the next window of a limit, or the last one of this. */
  move(place: number): Promise<void> {
    const { clock, wallMs } = this.#on
    const of = limits[(place >> 1) % limits.length]
    const toMs = of && windowOf(of, wallMs()).toMs
    if (toMs !== undefined && Number.isFinite(toMs)) {
      clock.ms += Math.max(0, toMs - wallMs() - (place & 1))
    }
    return Promise.resolve()
  }

  check(): void {
    for (const { startedAt } of this.#ended.slice(-10)) {
      for (const of of limits) {
        const atMs = Date.parse(startedAt)
        if (of.spend !== null) expect(this.#spentIn(of, atMs)).toBeLessThanOrEqual(of.spend)
        else expect(this.#endedIn(of, atMs).length).toBeLessThanOrEqual(of.requests ?? 0)
      }
    }
    const [first] = this.#running
    // A refusal names the limit that decides.
    if (first) expect(first.pass.findTightest()?.remaining).toBe(first.pass.remaining)
  }
}

const command = record({
  does: oneof(
    constantFrom('admit', 'end', 'book', 'refresh', 'cancel', 'move', 'admitTogether'),
    constantFrom('admit', 'end', 'book', 'refresh', 'move'),
    constantFrom('admit', 'end'),
  ),
  cost: bigInt({ min: 0n, max: maxHeld }),
  place: nat(40),
})

test('on one node no budget is exceeded in any of its windows, and each resets exactly at its end', async () => {
  const property = asyncProperty(array(command, { maxLength: 80 }), async (commands) => {
    const world = new World()
    for (const { does, cost, place } of commands) {
      if (does === 'end') world.end(cost)
      else if (does === 'book') world.book(place)
      else if (does === 'move') await world.move(place)
      else await world[does]()
      world.check()
    }
  })
  await assert(property, { numRuns: 400 })
})
