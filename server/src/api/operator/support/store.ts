import { sql, type Kysely } from 'kysely'
import { requireRow } from '../../../platform/db/account-row'
import {
  addComment,
  findComments,
  isClosed,
  lockTicket,
  numberOf,
  saveTicket,
  toListed,
  wrongStatus,
  type Locked,
  type TicketListRow,
} from '../../account/support/rows'
import type { TicketFilter, HandledTicket } from '../../account/support/schema'
import { applyDeed, type State } from '../../account/support/states'
import type { Schema } from '../../../platform/db/schema'
import { invalidRequest } from '../../../errors'
import { present } from '../../../http/fields'
import { queryPage } from '../../../http/paged-rows'
import { containing, type Page } from '../../../http/paging'
import { notify } from '../../../notifications/notify'
import { postMail } from '../../../platform/mail/outbox'

const toHandled = (row: TicketListRow & { email: string }) => ({
  ...toListed(row),
  user_id: row.user_id,
  email: row.email,
  assignee_id: row.assignee_id,
})

/** Stands for the operator's id of unassigned tickets. */
const unassigned = 'none'

interface StaffFilter extends TicketFilter {
  /** The id of an operator, or `none`. */
  assignee_id?: string | undefined
  search?: string | undefined
}

export type SupportStore = ReturnType<typeof createSupportStore>

/** Tickets of all accounts, for operators. All reject with `resource_not_found` for unknown ids. */
export const createSupportStore = (db: Kysely<Schema>) => ({
  list: (page: Page, filter: StaffFilter) => listTickets(db, page, filter),
  get: (id: string) => getTicket(db, id),
  async change(id: string, fields: HandledTicket) {
    await db.transaction().execute((trx) => handle(trx, id, fields))
    return getTicket(db, id)
  },
  comment: (id: string, content: string) =>
    db.transaction().execute(async (trx) => {
      const locked = await lockTicket(trx, id)
      const state = applyDeed(locked.state, { by: 'support', does: 'comments' }, locked.now)
      if (!state) throw isClosed()
      await saveTicket(trx, locked, { state })
      const draft = { author: 'support', author_name: 'Support', content } as const
      const comment = await addComment(trx, locked, draft)
      await notifyReply(trx, locked, comment)
      return comment
    }),
})

async function handle(trx: Kysely<Schema>, id: string, fields: HandledTicket): Promise<void> {
  const { status, ...others } = fields
  const columns = present(others)
  await checkAssignee(trx, fields.assignee_id ?? undefined)
  const locked = await lockTicket(trx, id)
  if (locked.state.status === 'closed' && Object.keys(columns).length > 0) throw isClosed()
  const assigned = stateAfter(locked, fields)
  const state = status
    ? applyDeed(assigned, { by: 'support', does: 'sets', to: status }, locked.now)
    : assigned
  if (!state) throw wrongStatus(assigned.status, status ?? assigned.status)
  await saveTicket(trx, locked, { state, columns })
}

/** Assigning an open ticket sets it to in progress. */
function stateAfter({ row, state, now }: Locked, { assignee_id: assignee }: HandledTicket): State {
  if (!assignee || assignee === row.assignee_id) return state
  return applyDeed(state, { by: 'support', does: 'takes' }, now) ?? state
}

async function checkAssignee(trx: Kysely<Schema>, id: string | undefined): Promise<void> {
  if (id === undefined) return
  const assignee = await trx
    .selectFrom('users')
    .select('id')
    .where('id', '=', id)
    // Those who may answer tickets.
    .where((is) => is.or([is('is_operator', '=', true), is('operator_role', '=', 'support')]))
    .where('status', '=', 'active')
    .executeTakeFirst()
  if (assignee) return
  throw invalidRequest('assignee_id', 'unknown_value', 'assignee_id: the operator does not exist.')
}

/** The characters of a reply that the notification shows; the mail has the whole text. */
const excerptLength = 500

async function notifyReply(
  trx: Kysely<Schema>,
  { row }: Locked,
  { id, content }: { id: string; content: string },
): Promise<void> {
  const { email, email_verified: isVerified } = await trx
    .selectFrom('users')
    .select(['email', 'email_verified'])
    .where('id', '=', row.user_id)
    .executeTakeFirstOrThrow()
  const title = `Support has answered ${numberOf(row)}`
  await notify(trx, {
    userId: row.user_id,
    kind: 'ticket_reply',
    title,
    body: content.length > excerptLength ? `${content.slice(0, excerptLength)}…` : content,
    link: `/support/${row.id}`,
  })
  await postMail(trx, {
    recipient: email,
    subject: title,
    // Text that a customer wrote is mailed only to a verified address.
    body: isVerified ? `${row.subject}\n\n${content}\n` : `${content}\n`,
    reference: `ticket_reply:${id}`,
  })
}

const tickets = (db: Kysely<Schema>) =>
  db
    .selectFrom('ticket_now as ticket')
    .innerJoin('users', 'users.id', 'ticket.user_id')
    .selectAll('ticket')
    .select('users.email')

async function getTicket(db: Kysely<Schema>, id: string) {
  const row = await requireRow('ticket', id, () =>
    tickets(db).where('ticket.id', '=', id).executeTakeFirst(),
  )
  return { ...toHandled(row), comments: await findComments(db, id) }
}

async function listTickets(db: Kysely<Schema>, page: Page, filter: StaffFilter) {
  const { status, category, priority, assignee_id: assignee, search = '' } = filter
  const filtered = tickets(db)
    .$if(status !== undefined, (query) => query.where('ticket.status', '=', status ?? 'open'))
    .$if(category !== undefined, (query) => query.where('category', '=', category ?? 'other'))
    .$if(priority !== undefined, (query) => query.where('priority', '=', priority ?? 'medium'))
    .$if(assignee === unassigned, (query) => query.where('assignee_id', 'is', null))
    .$if(assignee !== undefined && assignee !== unassigned, (query) =>
      query.where('assignee_id', '=', assignee ?? ''),
    )
    .$if(search !== '', (query) =>
      query.where((is) =>
        is.or([
          is('subject', 'ilike', containing(search)),
          is('email', 'ilike', containing(search)),
          // Matches the number as it is shown; more than six digits are not cut.
          sql<boolean>`'TKT-' || lpad(number::text, greatest(6, length(number::text)), '0')
            ilike ${containing(search)}`,
        ]),
      ),
    )
  const { items, pagination } = await queryPage(db, filtered, { page, column: 'ticket.id' })
  return { tickets: items.map(toHandled), pagination }
}
