import { sql, type Kysely, type Selectable, type Transaction } from 'kysely'
import type { SessionMessage } from './schema'
import { findSession, wrongState, type SessionRow } from './session-rows'
import { toPagination } from './sessions'
import { writeWithRetries } from './write-with-retries'
import type { AutomationMessageRow } from '../platform/db/automation-schema'
import type { Clock } from '../platform/clock'
import { newId } from '../platform/db/id'
import type { Schema } from '../platform/db/schema'
import { invalidRequest } from '../errors'
import { toTimestamp } from '../http/fields'
import { toPaged, type Page } from '../http/paging'
import type { JsonObject } from '../wire/json-body'

type Row = Selectable<AutomationMessageRow>

const toMessage = (row: Row): SessionMessage => ({
  id: row.id,
  role: row.role,
  content: row.content,
  tool_calls: row.tool_calls,
  tool_call_id: row.tool_call_id,
  tokens: Number(row.tokens),
  createdAt: toTimestamp(row.created_at),
})

/** A session's turn: the right of one request to be the only one of its session, for as long as it is renewed. */
export interface SessionTurn {
  /** The id of its request. */
  runId: string
  sessionId: string
  userId: string
}

/** A message before it is stored. */
export type NewMessageText = Pick<Row, 'role' | 'content'> & {
  toolCalls?: JsonObject[] | undefined
  /** The tool call that a tool's result answers. */
  toolCallId?: string
  tokens: number
}

/** The outcome of a model call: its messages and usage. */
export interface MessageOutcome {
  messages: readonly NewMessageText[]
  /** The token counts of messages that were stored without one, by their ids. */
  tokenCounts?: ReadonlyMap<string, number>
  inputTokens: number
  outputTokens: number
  /** Nano-dollars. */
  cost: bigint
  /** The session fails: its connection or gateway was deleted. */
  hasFailed?: boolean
}

/** The messages stored in a turn that continues, and the session's current state. */
export interface Added {
  messages: SessionMessage[]
  session: SessionRow
}

/** The part of a stored message that is sent to the model. */
export type HistoryRow = Pick<Row, 'role' | 'content' | 'tool_calls' | 'tool_call_id'>

export type ConversationStore = ReturnType<typeof createConversationStore>

/**
 * Stores the messages of sessions and decides which request has the turn. `lifeSeconds`: how long a turn is presumed
 * to last. A write is retried where the database fails, and takes effect once.
 */
export function createConversationStore(db: Kysely<Schema>, lifeSeconds: number, clock?: Clock) {
  const leaseEnd = sql<Date>`now() + make_interval(secs => ${lifeSeconds})`
  return {
    list: (userId: string, id: string, page: Page) => listMessages(db, { userId, id, page }),
    /**
     * Takes a session's turn. Rejects with `wrong_state` where the session is not active, or a message runs, on any
     * node.
     */
    async take({ runId, sessionId, userId }: SessionTurn): Promise<SessionRow> {
      const session = await db
        .updateTable('automation_session')
        .set({ running_id: runId, running_until: leaseEnd })
        .where('id', '=', sessionId)
        .where('user_id', '=', userId)
        .where('status', '=', 'active')
        .where(sql<boolean>`(running_id is null or running_until < now())`)
        .returningAll()
        .executeTakeFirst()
      if (session) return session
      const row = await findSession(db, userId, sessionId)
      if (row.status !== 'active') throw wrongState(row)
      throw invalidRequest(null, 'wrong_state', 'A message of this session is still running.')
    },
    /** Renews turns. Resolves with the ids of those that are still held, by accounts that are not suspended. */
    async renew(turns: readonly SessionTurn[]): Promise<Set<string>> {
      const { rows } = await sql<{ running_id: string }>`
        update automation_session set running_until = ${leaseEnd}
        from unnest(
          ${turns.map(({ sessionId }) => sessionId)}::text[],
          ${turns.map(({ runId }) => runId)}::text[]
        ) as turn (session_id, run_id)
        where id = turn.session_id and running_id = turn.run_id
          and user_id in (select users.id from users where users.status = 'active')
        returning running_id`.execute(db)
      return new Set(rows.map((row) => row.running_id))
    },
    history: (session: SessionRow) => readHistory(db, session),
    /** Stores a part of a turn. Returns undefined where the turn is no longer this request's. */
    add: (turn: SessionTurn, outcome: MessageOutcome) => {
      const pending = toTurnWrite(turn, outcome)
      const add = (isRetry: boolean) =>
        db.transaction().execute((trx) => store(trx, { ...pending, isRetry }))
      return writeWithRetries(add, clock)
    },
    end: (turn: SessionTurn, outcome: MessageOutcome) => {
      const pending = toTurnWrite(turn, outcome)
      return writeWithRetries((isRetry) => endTurn(db, { ...pending, isRetry }), clock)
    },
  }
}

/** A longer session is not read at all: no model takes more. */
const maxMessages = 2000
const maxBytes = 32 * 1024 * 1024

async function readHistory(db: Kysely<Schema>, { id, user_id }: SessionRow): Promise<HistoryRow[]> {
  const ownMessages = db
    .selectFrom('automation_message')
    .where('session_id', '=', id)
    .where('user_id', '=', user_id)
  const { count, bytes } = await ownMessages
    .select(sql<bigint>`count(*)`.as('count'))
    .select(
      sql<bigint>`coalesce(sum(octet_length(content)), 0)::bigint
        + coalesce(sum(octet_length(tool_calls::text)), 0)::bigint`.as('bytes'),
    )
    .executeTakeFirstOrThrow()
  if (count >= maxMessages || bytes > maxBytes) {
    const message = `the session is too long to be sent: ${count} messages, ${bytes} bytes.`
    throw invalidRequest('messages', 'too_many', `messages: ${message}`)
  }
  return ownMessages
    .select(['role', 'content', 'tool_calls', 'tool_call_id'])
    .orderBy('position')
    .execute()
}

/** The outcome of a turn that is being stored. */
interface TurnWrite {
  turn: SessionTurn
  outcome: MessageOutcome
  /** Ids of its messages. */
  ids: readonly string[]
  /** An earlier attempt may have stored it. */
  isRetry: boolean
}

const toTurnWrite = (turn: SessionTurn, outcome: MessageOutcome): Omit<TurnWrite, 'isRetry'> => ({
  turn,
  outcome,
  ids: outcome.messages.map(() => newId('msg')),
})

/**
 * Ends a turn and stores its messages, once: undefined where the turn was no longer this request's, as the session is
 * deleted or was presumed dead.
 */
const endTurn = (db: Kysely<Schema>, pending: TurnWrite): Promise<SessionMessage[] | undefined> =>
  db.transaction().execute(async (trx) => {
    const { runId, sessionId, userId } = pending.turn
    const existingMessage = await store(trx, pending)
    if (!existingMessage) return undefined
    await trx
      .updateTable('automation_session')
      .set({ running_id: null, running_until: null })
      .$if(pending.outcome.hasFailed === true, (all) =>
        all.set({ status: sql`case when status = 'active' then 'failed' else status end` }),
      )
      .where('id', '=', sessionId)
      .where('user_id', '=', userId)
      .where('running_id', '=', runId)
      .execute()
    return existingMessage.messages
  })

/** Anything else that ends the turn waits for the row that this has changed. */
async function store(trx: Transaction<Schema>, pending: TurnWrite): Promise<Added | undefined> {
  const { turn, outcome, isRetry } = pending
  const { runId, sessionId, userId } = turn
  const { messages, tokenCounts, inputTokens, outputTokens, cost } = outcome
  if (isRetry) {
    const existingMessage = await findStored(trx, pending)
    if (existingMessage) return existingMessage
  }
  const session = await trx
    .updateTable('automation_session')
    .set({
      message_count: sql`message_count + ${messages.length}`,
      input_tokens: sql`input_tokens + ${inputTokens}`,
      output_tokens: sql`output_tokens + ${outputTokens}`,
      cost: sql`cost + ${cost}`,
      updated_at: new Date(),
      ...(messages.length > 0 && { last_activity_at: new Date() }),
    })
    .where('id', '=', sessionId)
    .where('user_id', '=', userId)
    .where('running_id', '=', runId)
    .returningAll()
    .executeTakeFirst()
  if (!session) return undefined
  if (tokenCounts && tokenCounts.size > 0) await count(trx, sessionId, tokenCounts)
  return { messages: messages.length > 0 ? await insert(trx, session, pending) : [], session }
}

/** Returns the messages that an attempt stored whose answer was lost. */
async function findStored(
  trx: Transaction<Schema>,
  { turn: { sessionId, userId }, ids }: TurnWrite,
): Promise<Added | undefined> {
  if (ids.length === 0) return undefined
  // The earlier attempt may still be running: a change of the session holds its row until it ends.
  const session = await trx
    .selectFrom('automation_session')
    .selectAll()
    .where('id', '=', sessionId)
    .where('user_id', '=', userId)
    .forUpdate()
    .executeTakeFirst()
  const rows = await trx
    .selectFrom('automation_message')
    .selectAll()
    .where('session_id', '=', sessionId)
    .where('id', 'in', ids)
    .orderBy('position')
    .execute()
  return session && rows.length > 0 ? { messages: rows.map(toMessage), session } : undefined
}

const count = (trx: Transaction<Schema>, sessionId: string, counts: ReadonlyMap<string, number>) =>
  sql`
    update automation_message set tokens = counted.tokens
    from unnest(${[...counts.keys()]}::text[], ${[...counts.values()]}::bigint[])
      as counted (id, tokens)
    where automation_message.id = counted.id and session_id = ${sessionId}`.execute(trx)

async function insert(
  trx: Transaction<Schema>,
  { id, user_id, message_count }: SessionRow,
  { outcome: { messages }, ids }: TurnWrite,
): Promise<SessionMessage[]> {
  const rows = await trx
    .insertInto('automation_message')
    .values(
      messages.map(({ role, content, toolCalls, toolCallId, tokens }, index) => ({
        id: ids[index] ?? newId('msg'),
        session_id: id,
        user_id,
        position: message_count - messages.length + index,
        role,
        content,
        tool_calls: toolCalls ? JSON.stringify(toolCalls) : null,
        tool_call_id: toolCallId ?? null,
        tokens: BigInt(tokens),
      })),
    )
    .returningAll()
    .execute()
  return rows.toSorted((one, other) => one.position - other.position).map(toMessage)
}

interface Listing {
  userId: string
  id: string
  page: Page
}

/** Oldest first. */
async function listMessages(db: Kysely<Schema>, { userId, id, page }: Listing) {
  await findSession(db, userId, id)
  const ownSessions = db
    .selectFrom('automation_message')
    .where('session_id', '=', id)
    .where('user_id', '=', userId)
  const [{ total }, rows] = await Promise.all([
    ownSessions.select(({ fn }) => fn.countAll<bigint>().as('total')).executeTakeFirstOrThrow(),
    ownSessions
      .selectAll()
      .orderBy('position')
      .limit(page.limit + 1)
      .offset(page.offset)
      .execute(),
  ])
  const { items, pagination } = toPaged(page, total, rows)
  return { sessionId: id, messages: items.map(toMessage), pagination: toPagination(pagination) }
}
