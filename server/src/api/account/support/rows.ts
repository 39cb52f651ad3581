import { sql, type Kysely, type Selectable } from 'kysely'
import { requireRow } from '../../../platform/db/account-row'
import { getStateAt, type State } from './states'
import { newId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import type { TicketCommentRow, TicketRow } from '../../../platform/db/support-schema'
import { noteCreated } from '../../../platform/db/background-work'
import { invalidRequest } from '../../../errors'
import { toTimestamp } from '../../../http/fields'

const maxOpen = 20
/** The most comments of a ticket, which is read as a whole. */
const maxComments = 500

export type TicketListRow = Selectable<TicketRow>

export const numberOf = ({ number }: Pick<TicketListRow, 'number'>) =>
  `TKT-${String(number).padStart(6, '0')}`

export const toListed = (row: TicketListRow) => ({
  id: row.id,
  ticket_number: numberOf(row),
  subject: row.subject,
  description: row.description,
  category: row.category,
  priority: row.priority,
  status: row.status,
  request_id: row.request_id,
  comment_count: row.comment_count,
  created_at: toTimestamp(row.created_at),
  updated_at: toTimestamp(row.updated_at),
  resolved_at: row.resolved_at && toTimestamp(row.resolved_at),
  closed_at: row.closed_at && toTimestamp(row.closed_at),
})

const toComment = (row: Selectable<TicketCommentRow>) => ({
  id: row.id,
  ticket_id: row.ticket_id,
  author: row.author,
  author_name: row.author_name,
  content: row.content,
  created_at: toTimestamp(row.created_at),
})

/** A ticket with its row locked until the transaction ends. */
export interface Locked {
  row: TicketListRow
  /** Its state at `now`, the database's time. */
  state: State
  now: Date
}

/** Locks a ticket; `userId` is its required owner. Rejects with `resource_not_found`. */
export async function lockTicket(
  trx: Kysely<Schema>,
  id: string,
  userId?: string,
): Promise<Locked> {
  const locked = await requireRow('ticket', id, () =>
    trx
      .selectFrom('ticket')
      .selectAll()
      .select(sql<Date>`clock_timestamp()`.as('now'))
      .where('id', '=', id)
      .$if(userId !== undefined, (query) => query.where('user_id', '=', userId ?? ''))
      .forUpdate()
      .executeTakeFirst(),
  )
  const { now, ...row } = locked
  const { status, resolved_at: resolvedAt, closed_at: closedAt } = row
  return { row, state: getStateAt({ status, resolvedAt, closedAt }, now), now }
}

type Columns = Partial<
  Pick<TicketListRow, 'subject' | 'description' | 'category' | 'priority' | 'assignee_id'>
>

/** Stores the new state of a locked ticket. */
export async function saveTicket(
  trx: Kysely<Schema>,
  { row, now }: Locked,
  { state, columns = {} }: { state: State; columns?: Columns },
): Promise<void> {
  await trx
    .updateTable('ticket')
    .set({
      ...columns,
      status: state.status,
      resolved_at: state.resolvedAt,
      closed_at: state.closedAt,
      updated_at: now,
    })
    .where('id', '=', row.id)
    .execute()
}

type NewRow = Pick<TicketCommentRow, 'author' | 'author_name' | 'content'>

/** Adds a comment to a locked ticket, and increments its count. */
export async function addComment(trx: Kysely<Schema>, { row }: Locked, comment: NewRow) {
  if (row.comment_count >= maxComments) {
    const message = `A ticket can have at most ${maxComments} comments. Open a new ticket.`
    throw invalidRequest(null, 'limit_reached', message)
  }
  await trx
    .updateTable('ticket')
    .set((is) => ({ comment_count: is('comment_count', '+', 1) }))
    .where('id', '=', row.id)
    .execute()
  const id = newId('comment')
  noteCreated(id)
  const inserted = await trx
    .insertInto('ticket_comment')
    .values({ id, ticket_id: row.id, ...comment })
    .returningAll()
    .executeTakeFirstOrThrow()
  return toComment(inserted)
}

/** Lists the comments of a ticket, oldest first. */
export async function findComments(db: Kysely<Schema>, ticketId: string) {
  const rows = await db
    .selectFrom('ticket_comment')
    .selectAll()
    .where('ticket_id', '=', ticketId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(toComment)
}

/** Checks whether a locked owner may open one more ticket. Rejects with `limit_reached`. */
export async function checkOpen(trx: Kysely<Schema>, userId: string): Promise<void> {
  const rows = await trx
    .selectFrom('ticket')
    .select('status')
    .where('user_id', '=', userId)
    .where('status', 'not in', ['resolved', 'closed'])
    .limit(maxOpen)
    .execute()
  if (rows.length < maxOpen) return
  throw invalidRequest(
    null,
    'limit_reached',
    `An account can have at most ${maxOpen} open tickets.`,
  )
}

export const wrongStatus = (from: string, to: string) =>
  invalidRequest('status', 'wrong_state', `status: a ticket that is ${from} cannot become ${to}.`)

export const isClosed = () =>
  invalidRequest(null, 'wrong_state', 'The ticket is closed. Reopen it, or open a new one.')
