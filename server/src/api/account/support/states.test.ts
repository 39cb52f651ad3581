import { describe, expect, test } from 'bun:test'
import {
  array,
  assert,
  constantFrom,
  integer,
  oneof,
  property,
  record,
} from '../../../../testing/property'
import { applyDeed, getStateAt, type TicketAction, type State, type TicketStatus } from './states'

const dayMs = 86_400_000
const statuses: readonly TicketStatus[] = [
  'open',
  'in_progress',
  'waiting_on_customer',
  'resolved',
  'closed',
]

/** Every step that contract 6.12 names, and who takes it. */
const steps = new Set([
  'open -> in_progress support',
  'in_progress -> waiting_on_customer support',
  'waiting_on_customer -> in_progress user',
  ...['open', 'in_progress', 'waiting_on_customer'].flatMap((from) =>
    ['resolved', 'closed'].flatMap((to) => [`${from} -> ${to} user`, `${from} -> ${to} support`]),
  ),
  'resolved -> open user',
  'resolved -> closed user',
  'resolved -> closed time',
  'closed -> open user',
])

const deeds: readonly TicketAction[] = [
  { by: 'user', does: 'comments' },
  { by: 'support', does: 'comments' },
  { by: 'support', does: 'takes' },
  ...statuses.flatMap((to): TicketAction[] => [
    { by: 'user', does: 'sets', to },
    { by: 'support', does: 'sets', to },
  ]),
]

const born: State = { status: 'open', resolvedAt: null, closedAt: null }
const deed = constantFrom(...deeds)
/** Mostly minutes, sometimes around a week and around a month. */
const waitMs = oneof(
  integer({ min: 0, max: 3_600_000 }),
  integer({ min: 6 * dayMs, max: 8 * dayMs }),
  integer({ min: 29 * dayMs, max: 31 * dayMs }),
)

interface Moment {
  before: State
  deed: TicketAction
  after: State | undefined
  now: Date
}

/** What becomes of a ticket, moment by moment. */
function lifeOf(events: readonly { deed: TicketAction; waitMs: number }[]): Moment[] {
  let state = born
  let nowMs = Date.UTC(2026, 0, 1)
  return events.map((event) => {
    nowMs += event.waitMs
    const now = new Date(nowMs)
    const moment = {
      before: state,
      deed: event.deed,
      after: applyDeed(state, event.deed, now),
      now,
    }
    state = moment.after ?? state
    return moment
  })
}

const check = (holds: (life: Moment[]) => boolean) =>
  assert(
    property(array(record({ deed, waitMs }), { maxLength: 30 }), (events) => holds(lifeOf(events))),
    { numRuns: 3000 },
  )

test('a ticket only takes the listed steps, for any sequence of events', () => {
  check((life) =>
    life.every(({ before, deed: { by }, after, now }) => {
      const at = getStateAt(before, now)
      const byTime =
        at.status === before.status || steps.has(`${before.status} -> ${at.status} time`)
      const isStep =
        !after || after.status === at.status || steps.has(`${at.status} -> ${after.status} ${by}`)
      return byTime && isStep
    }),
  )
})

test('every step that is named can be taken', () => {
  const taken = new Set<string>()
  const now = new Date()
  for (const status of statuses) {
    const before: State = {
      status,
      resolvedAt: status === 'resolved' ? now : null,
      closedAt: status === 'closed' ? now : null,
    }
    for (const one of deeds) {
      const after = applyDeed(before, one, now)
      if (after && after.status !== status) taken.add(`${status} -> ${after.status} ${one.by}`)
    }
  }
  taken.add('resolved -> closed time')
  expect([...taken].toSorted()).toEqual([...steps].toSorted())
})

test('only resolved or closed tickets have times', () => {
  check((life) =>
    life.every(({ after }) => {
      if (!after) return true
      const { status, resolvedAt, closedAt } = after
      if (status === 'closed') return closedAt !== null && (!resolvedAt || resolvedAt <= closedAt)
      return closedAt === null && (resolvedAt !== null) === (status === 'resolved')
    }),
  )
})

test('only the owner can reopen a closed ticket, within 30 days', () => {
  check((life) =>
    life.every(({ before, deed: { by, does }, after, now }) => {
      const { status, closedAt } = getStateAt(before, now)
      if (status !== 'closed' || !after || after.status === 'closed') return true
      const ageMs = now.getTime() - (closedAt?.getTime() ?? 0)
      return by === 'user' && does === 'sets' && ageMs <= 30 * dayMs
    }),
  )
})

test('rejects comments on a closed ticket', () => {
  check((life) =>
    life.every(
      ({ before, deed: { does }, after, now }) =>
        does !== 'comments' ||
        (getStateAt(before, now).status === 'closed') === (after === undefined),
    ),
  )
})

describe('a ticket that was resolved', () => {
  const resolvedAt = new Date(Date.UTC(2026, 0, 1))
  const resolved: State = { status: 'resolved', resolvedAt, closedAt: null }
  const after = (days: number) => new Date(resolvedAt.getTime() + days * dayMs)

  test('is closed after seven days, and not a moment before', () => {
    expect(getStateAt(resolved, new Date(after(7).getTime() - 1))).toEqual(resolved)
    expect(getStateAt(resolved, after(7))).toEqual({
      status: 'closed',
      resolvedAt,
      closedAt: after(7),
    })
  })

  test('can be opened again for thirty days after that', () => {
    const reopen: TicketAction = { by: 'user', does: 'sets', to: 'open' }
    expect(applyDeed(resolved, reopen, after(37))).toEqual(born)
    expect(applyDeed(resolved, reopen, new Date(after(37).getTime() + 1))).toBeUndefined()
  })
})
