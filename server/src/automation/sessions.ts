import { sql, type Kysely } from 'kysely'
import { checkModel, createSession, type SessionPorts } from './new-session'
import type { ChangedSession, NewSession, SessionFilter } from './schema'
import { findSession, toSession, unfinished, wrongState, type SessionRow } from './session-rows'
import type { Schema } from '../platform/db/schema'
import { present } from '../http/fields'
import { queryPage } from '../http/paged-rows'
import type { Page } from '../http/paging'

/** The channel that notifies all nodes of a session that must not continue. */
export const endedChannel = 'tollgate_session'
/** The channel for sessions that are paused or completed, where only tool calls must stop. */
export const haltedChannel = 'tollgate_session_halt'

export type SessionStore = ReturnType<typeof createSessionStore>

/**
 * Creates the store of sessions. All methods reject with `resource_not_found` for unknown ids and those of other
 * accounts. Source: contract 8.1.
 */
export function createSessionStore(ports: SessionPorts) {
  const { db } = ports
  return {
    async list(userId: string, filter: SessionFilter, page: Page) {
      const { status, sessionType, gatewayId } = filter
      const query = db
        .selectFrom('automation_session')
        .selectAll()
        .where('user_id', '=', userId)
        .$if(status !== undefined, (all) => all.where('status', '=', status ?? 'active'))
        .$if(sessionType !== undefined, (all) =>
          all.where('session_type', '=', sessionType ?? 'chat'),
        )
        .$if(gatewayId !== undefined, (all) => all.where('gateway_id', '=', gatewayId ?? ''))
      const { items, pagination } = await queryPage(db, query, { page })
      return { sessions: items.map(toSession), pagination: toPagination(pagination) }
    },
    get: async (userId: string, id: string) => toSession(await findSession(db, userId, id)),
    create: async (userId: string, fields: NewSession) =>
      toSession(await createSession(ports, userId, fields)),
    async change(userId: string, id: string, fields: ChangedSession) {
      const row = await findSession(db, userId, id)
      const { name: _name, ...rest } = present(fields)
      if (Object.keys(rest).length > 0 && !isUnfinished(row)) throw wrongState(row)
      if (fields.modelId !== undefined) await checkModel(ports, row, fields.modelId)
      return toSession(await change(db, row, fields))
    },
    async complete(userId: string, id: string, summary: string | undefined) {
      const row = await findSession(db, userId, id)
      const completed = await db
        .updateTable('automation_session')
        .set({
          status: 'completed',
          summary: summary || null,
          completed_at: new Date(),
          updated_at: new Date(),
        })
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .where('status', 'in', unfinished)
        .returningAll()
        .executeTakeFirst()
      if (!completed) throw wrongState(row)
      await notify(db, haltedChannel, id)
      return toSession(completed)
    },
    async delete(userId: string, id: string) {
      await findSession(db, userId, id)
      await db.transaction().execute(async (trx) => {
        await trx
          .deleteFrom('automation_session')
          .where('id', '=', id)
          .where('user_id', '=', userId)
          .execute()
        await notify(trx, endedChannel, id)
      })
      return { success: true as const, message: 'The session was deleted.' }
    },
  }
}

interface SnakePagination {
  total: number
  limit: number
  offset: number
  has_more: boolean
}

export const toPagination = ({ total, limit, offset, has_more: hasMore }: SnakePagination) => ({
  total,
  limit,
  offset,
  hasMore,
})

const isUnfinished = ({ status }: SessionRow) => unfinished.some((one) => one === status)

/** Notifies all nodes: the one that runs a message of the session ends it, or its tool calls. */
const notify = (
  db: Kysely<Schema>,
  channel: typeof endedChannel | typeof haltedChannel,
  id: string,
) => sql`select pg_notify(${channel}, ${id})`.execute(db)

/** Of a final session only the name changes; the statement itself detects that it became final meanwhile. */
const change = (db: Kysely<Schema>, row: SessionRow, fields: ChangedSession) =>
  db.transaction().execute(async (trx) => {
    const { name, status, enabledTools: enabled, disabledTools: disabled } = fields
    const columns = present({
      system_prompt: fields.systemPrompt,
      model_id: fields.modelId,
      enabled_tools: enabled && JSON.stringify(enabled),
      disabled_tools: disabled && JSON.stringify(disabled),
      status,
    })
    const isName = Object.keys(columns).length === 0
    const changed = await trx
      .updateTable('automation_session')
      .set({ ...columns, ...present({ name: name === '' ? null : name }), updated_at: new Date() })
      .where('id', '=', row.id)
      .where('user_id', '=', row.user_id)
      .$if(!isName, (all) => all.where('status', 'in', unfinished))
      .returningAll()
      .executeTakeFirst()
    if (!changed) throw wrongState(await findSession(trx, row.user_id, row.id))
    if (status === 'cancelled') await notify(trx, endedChannel, row.id)
    if (status === 'paused') await notify(trx, haltedChannel, row.id)
    return changed
  })
