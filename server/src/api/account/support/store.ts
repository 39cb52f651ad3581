import type { Kysely } from 'kysely'
import { requireRow, lockAccount } from '../../../platform/db/account-row'
import {
  addComment,
  checkOpen,
  findComments,
  isClosed,
  lockTicket,
  saveTicket,
  toListed,
  wrongStatus,
} from './rows'
import type { ChangedTicket, TicketFilter, NewTicket } from './schema'
import { isUnfinished, applyDeed, type State } from './states'
import { isId, newId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import { invalidRequest } from '../../../errors'
import { present } from '../../../http/fields'
import { queryPage } from '../../../http/paged-rows'
import type { Page } from '../../../http/paging'

export type TicketStore = ReturnType<typeof createTicketStore>

/** Whether a request is in an account's logs. */
export type IsLogged = (userId: string, requestId: string) => Promise<boolean>

/** An account's tickets. All reject with `resource_not_found` for unknown and foreign ids. */
export const createTicketStore = (db: Kysely<Schema>, isLogged: IsLogged) => ({
  list: (userId: string, page: Page, filter: TicketFilter) =>
    listTickets(db, userId, { page, filter }),
  get: (userId: string, id: string) => getTicket(db, userId, id),
  async create(userId: string, ticket: NewTicket) {
    const id = newId('ticket')
    await checkRequest(isLogged, userId, ticket.request_id ?? undefined)
    await db.transaction().execute(async (trx) => {
      await lockAccount(trx, userId)
      await checkOpen(trx, userId)
      await trx
        .insertInto('ticket')
        .values({ ...ticket, id, user_id: userId, request_id: ticket.request_id ?? null })
        .execute()
    })
    return getTicket(db, userId, id)
  },
  async change(userId: string, id: string, fields: ChangedTicket) {
    await db.transaction().execute((trx) => changeTicket(trx, { userId, id, fields }))
    return getTicket(db, userId, id)
  },
  comment: (userId: string, id: string, content: string) =>
    db.transaction().execute(async (trx) => {
      const owner = await lockAccount(trx, userId)
      const locked = await lockTicket(trx, id, userId)
      const state = applyDeed(locked.state, { by: 'user', does: 'comments' }, locked.now)
      if (!state) throw isClosed()
      await checkReopening(trx, userId, { before: locked.state, state })
      await saveTicket(trx, locked, { state })
      return addComment(trx, locked, {
        author: 'user',
        author_name: owner.display_name,
        content,
      })
    }),
})

interface Change {
  userId: string
  id: string
  fields: ChangedTicket
}

async function changeTicket(trx: Kysely<Schema>, { userId, id, fields }: Change): Promise<void> {
  const { status, ...others } = fields
  const columns = present(others)
  await lockAccount(trx, userId)
  const locked = await lockTicket(trx, id, userId)
  const { state: before, now } = locked
  const state = status ? applyDeed(before, { by: 'user', does: 'sets', to: status }, now) : before
  if (!state) throw wrongStatus(before.status, status ?? before.status)
  const staysClosed = before.status === 'closed' && state.status === 'closed'
  if (staysClosed && Object.keys(columns).length > 0) throw isClosed()
  await checkReopening(trx, userId, { before, state })
  await saveTicket(trx, locked, { state, columns })
}

interface Step {
  before: State
  state: State
}

async function checkReopening(trx: Kysely<Schema>, userId: string, { before, state }: Step) {
  if (isUnfinished(state.status) && !isUnfinished(before.status)) await checkOpen(trx, userId)
}

/** Rejects a ticket about a request of another account. */
async function checkRequest(isLogged: IsLogged, userId: string, id: string | undefined) {
  if (id === undefined) return
  if (isId('req', id) && (await isLogged(userId, id))) return
  const message = 'request_id: not found in your request logs.'
  throw invalidRequest('request_id', 'unknown_value', message)
}

async function getTicket(db: Kysely<Schema>, userId: string, id: string) {
  const row = await requireRow('ticket', id, () =>
    db
      .selectFrom('ticket_now')
      .selectAll()
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .executeTakeFirst(),
  )
  return { ...toListed(row), comments: await findComments(db, id) }
}

interface TicketListing {
  page: Page
  filter: TicketFilter
}

async function listTickets(db: Kysely<Schema>, userId: string, { page, filter }: TicketListing) {
  const { status, category, priority } = filter
  const filtered = db
    .selectFrom('ticket_now')
    .selectAll()
    .where('user_id', '=', userId)
    .$if(status !== undefined, (query) => query.where('status', '=', status ?? 'open'))
    .$if(category !== undefined, (query) => query.where('category', '=', category ?? 'other'))
    .$if(priority !== undefined, (query) => query.where('priority', '=', priority ?? 'medium'))
  const { items, pagination } = await queryPage(db, filtered, { page })
  return { tickets: items.map(toListed), pagination }
}
