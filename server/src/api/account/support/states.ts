import type { TicketRow } from '../../../platform/db/support-schema'
import type { Selectable } from 'kysely'

export type TicketStatus = Selectable<TicketRow>['status']

/** The fields of a ticket that decide about its transitions. */
export interface State {
  status: TicketStatus
  resolvedAt: Date | null
  closedAt: Date | null
}

/** An action on a ticket and its actor: a comment, an assignment, or a new status. */
export type TicketAction =
  | { by: 'user'; does: 'comments' }
  | { by: 'support'; does: 'comments' | 'takes' }
  | { by: 'user' | 'support'; does: 'sets'; to: TicketStatus }

const dayMs = 86_400_000
/** A resolved ticket closes after this time; the view `ticket_now` has the same figure. */
const closesAfterMs = 7 * dayMs
const reopensWithinMs = 30 * dayMs

/** Whether a ticket counts as open in its account's limit. */
export const isUnfinished = (status: TicketStatus) => status !== 'resolved' && status !== 'closed'

/** The statuses that each side may set, by the current status. Source: contract 6.12. */
const settable: Record<TicketStatus, Record<'user' | 'support', readonly TicketStatus[]>> = {
  open: { user: ['resolved', 'closed'], support: ['in_progress', 'resolved', 'closed'] },
  in_progress: {
    user: ['resolved', 'closed'],
    support: ['waiting_on_customer', 'resolved', 'closed'],
  },
  waiting_on_customer: { user: ['resolved', 'closed'], support: ['resolved', 'closed'] },
  resolved: { user: ['open', 'closed'], support: [] },
  closed: { user: ['open'], support: [] },
}

/** Returns a ticket's state at a moment: one that was resolved a week before is closed. */
export function getStateAt(state: State, now: Date): State {
  const { status, resolvedAt } = state
  if (status !== 'resolved' || !resolvedAt) return state
  const closedAt = new Date(resolvedAt.getTime() + closesAfterMs)
  return closedAt > now ? state : { status: 'closed', resolvedAt, closedAt }
}

/** Returns the state after an action, the same object where nothing changes; undefined for a forbidden action. */
export function applyDeed(before: State, deed: TicketAction, now: Date): State | undefined {
  const state = getStateAt(before, now)
  const to = statusAfter(state, deed, now)
  if (to === undefined || to === state.status) return to && state
  if (to === 'resolved') return { status: to, resolvedAt: now, closedAt: null }
  if (to === 'closed') return { status: to, resolvedAt: state.resolvedAt, closedAt: now }
  return { status: to, resolvedAt: null, closedAt: null }
}

function statusAfter(
  { status, closedAt }: State,
  deed: TicketAction,
  now: Date,
): TicketStatus | undefined {
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
