import { ShareStore } from './share-store'
import type { WindowReservation } from '../../src/metering/window-reservation'
import type { WindowLimit } from '../../src/limits/caller-limits'
import type { SharePorts } from '../../src/metering/share-exchanges'
import { SpendingLimits } from '../../src/metering/spending-limits'
import { sumEvents } from './sum-events'
import { createTestEvent } from '../ledger/event'
import { matchesFilter } from '../../src/platform/usage-filter'
import type { UsedBy, WindowSum } from '../../src/ledger/window-sums'
import type { UsageEvent } from '../../src/ledger/usage-event'

/** The 10th of a February with 28 days. */
export const start = Date.UTC(2026, 1, 10)

type Noted = Pick<
  UsageEvent,
  'id' | 'userId' | 'keyId' | 'startedAt' | 'cost' | 'model' | 'budgetTags' | 'tokens'
>

interface Surroundings {
  clock: { ms: number }
  wallMs: () => number
  errors: unknown[]
}

/** Creates the ports of a node that shares its limits with no other. */
const sharesAlone = (
  { clock, wallMs, errors }: Surroundings,
  exchange: (...of: Parameters<SharePorts['exchange']>) => void,
): SharePorts => ({
  nodeId: 'node_1',
  exchange: async (usages, decide) => exchange(usages, decide),
  clocks: () => ({ monotonicMs: clock.ms, wallMs: wallMs() }),
  sleep: () => Promise.resolve(),
  withTimeout: (promise) => promise,
  maxWaitMs: () => 1000,
  onError: (error) => errors.push(error),
})

/** Creates a database that books when the test calls for it, and a clock that stands until it is moved. */
export function createFixture() {
  const clock = { ms: 0 }
  const wallMs = () => start + clock.ms
  const booked: Noted[] = []
  const state = { isDown: false, readings: 0, readAccounts: 0 }
  const gates: (() => void)[] = []
  const held = { isHeld: false }
  const errors: unknown[] = []
  const sumOf = ({ subjectId: id, filter, window: { fromMs, toMs } }: UsedBy): WindowSum => {
    const own = booked.filter(({ userId, keyId, startedAt, model, budgetTags: tags }) => {
      const startedMs = Date.parse(startedAt)
      const isCounted = !filter || matchesFilter(filter, { model, tags })
      const isOwn = (id === userId || id === keyId) && isCounted
      return isOwn && startedMs >= fromMs && startedMs < toMs
    })
    return sumEvents(own)
  }
  const store = new ShareStore({
    sumOf,
    isBooked: (eventId) => booked.some(({ id }) => id === eventId),
    nowMs: wallMs,
  })
  const months = new SpendingLimits({
    read: async ({ usedBy, unbooked }) => {
      state.readings++
      state.readAccounts = usedBy.length
      const ids = new Set(unbooked().map(({ id }) => id))
      const sums = new Map(usedBy.map((usage) => [usage.id, sumOf(usage)]))
      const found = booked.flatMap(({ id }) => (ids.has(id) ? [id] : []))
      const { isDown } = state
      if (held.isHeld) await new Promise<void>((resolve) => gates.push(resolve))
      if (isDown) throw new Error('the database is away')
      return { sums, bookedIds: found }
    },
    now: () => clock.ms,
    wallMs,
    onError: (error) => errors.push(error),
    shares: sharesAlone({ clock, wallMs, errors }, (usages, decide) => {
      if (state.isDown) throw new Error('the database is away')
      store.exchange('node_1', usages, decide)
    }),
  })
  const release = () => {
    held.isHeld = false
    for (const open of gates.splice(0)) open()
  }
  return { clock, wallMs, booked, state, held, release, months, errors, store }
}

type Fixture = ReturnType<typeof createFixture>

/** Creates a limit; unnamed fields are unlimited. */
export const limit = (fields: Partial<WindowLimit> = {}): WindowLimit => ({
  id: 'user_1',
  requests: null,
  spend: null,
  ...fields,
})

/** Creates the limits of an account, or of a key of it. */
export const caller = (...windows: WindowLimit[]) => ({ userId: 'user_1', limits: { windows } })

/** Creates the event of a request of `user_1` with `key_1` that succeeded, unless `fields` differ. */
export const event = ({ wallMs }: Fixture, fields: Partial<UsageEvent> = {}): UsageEvent =>
  createTestEvent('user_1', { startedAt: new Date(wallMs()).toISOString(), ...fields })

/** Ends a request as the gateway does: the reservation, and in the same turn its event. */
export function finish(
  on: Fixture,
  pass: WindowReservation,
  fields: Partial<UsageEvent> = {},
): UsageEvent {
  const created = event(on, fields)
  pass.end()
  on.months.note(created)
  return created
}
