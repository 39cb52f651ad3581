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
import { noTokens } from './attempt-end'
import type { WindowReservation } from './window-reservation'
import type { UsageEvent } from '../ledger/usage-event'
import { toBudgetLimit, type WindowLimit } from '../limits/caller-limits'
import { findWindow, monthInUtc, type WindowUnit } from '../platform/time-window'
import { matchesFilter, type UsageFilter } from '../platform/usage-filter'

const budget = (
  subjectId: string,
  unit: WindowUnit,
  amount: Partial<Pick<WindowLimit, 'requests' | 'spend' | 'tokens'>> & {
    filter?: UsageFilter
  },
) =>
  toBudgetLimit({
    subjectId,
    id: `budget_${unit}_${JSON.stringify(amount.filter)}`,
    name: unit,
    requests: null,
    spend: null,
    ...amount,
    rule: { unit, timeZone: 'Asia/Kolkata', firstWeekday: 7 },
  })

const ofModel = { models: ['fake/a'], providers: null, tags: null }
const ofTag = { models: null, providers: ['fake'], tags: ['batch'] }

/** The models of requests, and their tags. */
const kinds = [
  { model: 'fake/a', budgetTags: null },
  { model: 'fake/a', budgetTags: ['batch'] },
  { model: 'fake/b', budgetTags: ['batch'] },
  { model: 'other/a', budgetTags: ['batch', 'test'] },
] as const
type Kind = (typeof kinds)[number]

/** Three of them count the same usage, one is a monthly limit, and some count a part of the requests. */
const limits = [
  limit({ spend: 400n }),
  budget('user_1', 'day', { spend: 150n }),
  budget('user_1', 'total', { spend: 900n }),
  budget('key_1', 'hour', { spend: 70n }),
  budget('key_1', 'hour', { requests: 6 }),
  budget('key_1', 'week', { spend: 300n }),
  budget('user_1', 'day', { tokens: 130n }),
  budget('user_1', 'week', { spend: 110n, filter: ofModel }),
  budget('user_1', 'day', { tokens: 60n, filter: ofTag }),
  budget('key_1', 'day', { requests: 4, filter: ofTag }),
]
const maxHeld = 20n
const maxTokens = 15n

const counts = ({ budget: terms }: WindowLimit, { model, budgetTags: tags }: Kind | UsageEvent) =>
  !terms?.filter || matchesFilter(terms.filter, { model, tags })

const limitsOf = (kind: Kind) => limits.filter((of) => counts(of, kind))

type HeldUnit = 'spend' | 'tokens'

interface RunningRequest {
  pass: WindowReservation
  kind: Kind
  held: Record<HeldUnit, bigint>
  startedAt: string
}

const usedBy = ({ cost, tokens }: UsageEvent) => ({ spend: cost, tokens: BigInt(tokens.output) })

const windowOf = ({ budget: terms }: WindowLimit, atMs: number) =>
  findWindow(terms?.rule ?? monthInUtc, atMs)

/** One node and a database that books in any order, beside what there should be. */
class World {
  readonly #on = createFixture()
  readonly #running: RunningRequest[] = []
  readonly #unbooked: UsageEvent[] = []
  readonly #ended: UsageEvent[] = []

  #endedIn(of: WindowLimit, atMs: number): UsageEvent[] {
    const { fromMs, toMs } = windowOf(of, atMs)
    return this.#ended.filter((one) => {
      const ms = Date.parse(one.startedAt)
      return counts(of, one) && ms >= fromMs && ms < toMs
    })
  }

  #usedIn(of: WindowLimit, atMs: number, unit: HeldUnit): bigint {
    return this.#endedIn(of, atMs).reduce((sum, one) => sum + usedBy(one)[unit], 0n)
  }

  /** The requests that run and count in a limit. */
  #runningIn(of: WindowLimit): RunningRequest[] {
    return this.#running.filter(({ kind }) => counts(of, kind))
  }

  /** The least that is left of a limit for a request. */
  #left(kind: Kind, unit: HeldUnit): bigint {
    const atMs = this.#on.wallMs()
    const parts = limitsOf(kind).flatMap((of) => {
      const amount = of[unit] ?? null
      const held = this.#runningIn(of).reduce((sum, request) => sum + request.held[unit], 0n)
      return amount === null ? [] : [amount - this.#usedIn(of, atMs, unit) - held]
    })
    return parts.reduce((least, part) => (part < least ? part : least))
  }

  #isRequestLeft(kind: Kind): boolean {
    const atMs = this.#on.wallMs()
    return limitsOf(kind).every(
      (of) =>
        of.requests === null ||
        this.#endedIn(of, atMs).length + this.#runningIn(of).length < of.requests,
    )
  }

  async admit(kind: Kind): Promise<void> {
    const isLeft = this.#isRequestLeft(kind)
    let pass: WindowReservation | undefined
    try {
      pass = await this.#on.months.admit(caller(...limitsOf(kind)))
    } catch {
      pass = undefined
    }
    expect(pass !== undefined).toBe(isLeft)
    if (!pass) return
    expect(pass.remaining).toBe(this.#left(kind, 'spend'))
    expect(pass.tokens?.remaining).toBe(this.#left(kind, 'tokens'))
    this.#run(pass, kind)
  }

  #run(pass: WindowReservation, kind: Kind): void {
    const most = { spend: maxHeld, tokens: maxTokens }
    const remaining = { spend: pass.remaining ?? 0n, tokens: pass.tokens?.remaining ?? 0n }
    const isEnough = remaining.spend >= most.spend && remaining.tokens >= most.tokens
    const held = isEnough ? most : { spend: 0n, tokens: 0n }
    pass.hold(held.spend)
    pass.tokens?.hold(held.tokens)
    const startedAt = new Date(this.#on.wallMs()).toISOString()
    this.#running.push({ pass, kind, held, startedAt })
  }

  /** As many at once as there are turns: the sums are read once for all. */
  async admitTogether(kind: Kind): Promise<void> {
    const admitted = await Promise.allSettled(
      Array.from({ length: 8 }, async () => this.#on.months.admit(caller(...limitsOf(kind)))),
    )
    for (const one of admitted) if (one.status === 'fulfilled') this.#run(one.value, kind)
  }

  /** A request that was refused later, or whose client disconnected before it was sent: it gives back what it held. */
  cancel(): void {
    this.#running.shift()?.pass.end()
  }

  end(cost: bigint): void {
    const ended = this.#running.shift()
    if (!ended) return
    const { kind, held, startedAt } = ended
    const spent = cost < held.spend ? cost : held.spend
    const output = Number(cost < held.tokens ? cost : held.tokens)
    const tokens = { ...noTokens, output }
    const created = event(this.#on, { ...kind, cost: spent, tokens, startedAt })
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
        const most = { spend: of.spend ?? Infinity, tokens: of.tokens ?? Infinity }
        expect(this.#usedIn(of, atMs, 'spend') <= most.spend).toBe(true)
        expect(this.#usedIn(of, atMs, 'tokens') <= most.tokens).toBe(true)
        expect(this.#endedIn(of, atMs).length).toBeLessThanOrEqual(of.requests ?? Infinity)
      }
    }
    const [first] = this.#running
    // A refusal names the limit that decides.
    for (const hold of [first?.pass, first?.pass.tokens])
      expect(hold?.findTightest()?.remaining).toBe(hold?.remaining)
  }
}

const command = record({
  does: oneof(
    constantFrom('admit', 'end', 'book', 'refresh', 'cancel', 'move', 'admitTogether'),
    constantFrom('admit', 'end', 'book', 'refresh', 'move'),
    constantFrom('admit', 'end'),
  ),
  kind: constantFrom(...kinds),
  cost: bigInt({ min: 0n, max: maxHeld }),
  place: nat(40),
})

test('on one node no budget is exceeded in any of its windows, and each resets exactly at its end', async () => {
  const property = asyncProperty(array(command, { maxLength: 80 }), async (commands) => {
    const world = new World()
    for (const { does, kind, cost, place } of commands) {
      if (does === 'end') world.end(cost)
      else if (does === 'book') world.book(place)
      else if (does === 'move') await world.move(place)
      else if (does === 'admit' || does === 'admitTogether') await world[does](kind)
      else await world[does]()
      world.check()
    }
  })
  await assert(property, { numRuns: 400 })
})
