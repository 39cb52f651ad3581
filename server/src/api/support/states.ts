import type { TicketRow } from '../../db/support-schema'
import type { Selectable } from 'kysely'

export type Status = Selectable<TicketRow>['status']

/** Of a ticket, all that decides what may become of it. */
export interface State {
  status: Status
  resolvedAt: Date | null
  closedAt: Date | null
}

/** Who does something to a ticket, and what: says something, takes it on, or sets its status. */
export type Deed =
  | { by: 'user'; does: 'comments' }
  | { by: 'support'; does: 'comments' | 'takes' }
  | { by: 'user' | 'support'; does: 'sets'; to: Status }

const dayMs = 86_400_000
/** A ticket that was resolved for so long is closed; the view `ticket_now` says so too. */
const closesAfterMs = 7 * dayMs
const reopensWithinMs = 30 * dayMs

/** Whether a ticket counts among those that an account has open. */
export const isUnfinished = (status: Status) => status !== 'resolved' && status !== 'closed'

/** What each may set, by what is so. Source: contract 6.12. */
const settable: Record<Status, Record<'user' | 'support', readonly Status[]>> = {
  open: { user: ['resolved', 'closed'], support: ['in_progress', 'resolved', 'closed'] },
  in_progress: {
    user: ['resolved', 'closed'],
    support: ['waiting_on_customer', 'resolved', 'closed'],
  },
  waiting_on_customer: { user: ['resolved', 'closed'], support: ['resolved', 'closed'] },
  resolved: { user: ['open', 'closed'], support: [] },
  closed: { user: ['open'], support: [] },
}

/** What a ticket is at a moment: one that was resolved a week before is closed. */
export function stateAt(state: State, now: Date): State {
  const { status, resolvedAt } = state
  if (status !== 'resolved' || !resolvedAt) return state
  const closedAt = new Date(resolvedAt.getTime() + closesAfterMs)
  return closedAt > now ? state : { status: 'closed', resolvedAt, closedAt }
}

/** The state after a deed, the same one where it changes nothing; undefined where it may not be done. */
export function stateAfter(before: State, deed: Deed, now: Date): State | undefined {
  const state = stateAt(before, now)
  const to = statusAfter(state, deed, now)
  if (to === undefined || to === state.status) return to && state
  if (to === 'resolved') return { status: to, resolvedAt: now, closedAt: null }
  if (to === 'closed') return { status: to, resolvedAt: state.resolvedAt, closedAt: now }
  return { status: to, resolvedAt: null, closedAt: null }
}

function statusAfter({ status, closedAt }: State, deed: Deed, now: Date): Status | undefined {
  if (deed.does === 'sets') {
    const isTooLate = closedAt !== null && now.getTime() - closedAt.getTime() > reopensWithinMs
    if (deed.to === status) return status
    return settable[status][deed.by].includes(deed.to) && !isTooLate ? deed.to : undefined
  }
  if (status === 'closed') return undefined
  if (deed.by === 'support') return status === 'open' ? 'in_progress' : status
  if (status === 'waiting_on_customer') return 'in_progress'
  return status === 'resolved' ? 'open' : status
}
