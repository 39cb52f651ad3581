import { sql } from 'kysely'
import { StartError } from '../config/config'
import type { Database } from './database'

/** Longer than any notification takes that arrives at all, beside the round trip. */
const notificationMs = 5000

/** Advice for an operator whose pooler takes something away. */
export const poolerAdvice =
  'Use the address of PostgreSQL itself, or a pooler in session mode that passes timeouts on (docs/operate/scaling.md, "Poolers").'

/**
 * Finds a pooler that takes something away which a connection of our own has, and says what in the words after "a pooler
 * that". One in transaction mode swallows timeouts and notifications without an error; nodes would then serve revoked keys.
 */
export async function findPooler(database: Database): Promise<string | undefined> {
  return (await findLostTimeout(database)) ?? (await findLostNotification(database))
}

/** Says the same of the error of a connection that a pooler rejected; undefined for other errors. */
export function findRejection(error: unknown): string | undefined {
  const message = error instanceof Error ? error.message : ''
  const [, name] = /unsupported startup parameter: (\w+)/.exec(message) ?? []
  return name === undefined ? undefined : `rejects ${name}`
}

/** Throws `StartError` for what `findPooler` or `findRejection` found. */
export function rejectPooler(pooler: string | undefined): void {
  if (pooler === undefined) return
  throw new StartError(`DATABASE_URL leads through a pooler that ${pooler}. ${poolerAdvice}`)
}

async function findLostTimeout(database: Database): Promise<string | undefined> {
  const { rows } = await sql<{ name: string }>`
    select name from pg_settings
    where name in ('statement_timeout', 'idle_in_transaction_session_timeout') and setting = '0'
    order by name`.execute(database.query)
  const names = rows.map(({ name }) => name)
  return names.length > 0 ? `ignores ${names.join(' and ')}` : undefined
}

async function findLostNotification(database: Database): Promise<string | undefined> {
  const channel = `tollgate_direct_${crypto.randomUUID()}`
  const { promise: notified, resolve } = Promise.withResolvers<boolean>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const client = database.client()
  client.on('error', () => undefined)
  client.on('notification', () => resolve(true))
  try {
    await client.connect()
    await client.query(`listen ${client.escapeIdentifier(channel)}`)
    await sql`select pg_notify(${channel}, '')`.execute(database.query)
    timer = setTimeout(() => resolve(false), notificationMs + database.liveness.maxConnectMs)
    const isNotified = await notified
    return isNotified ? undefined : 'passes no notifications on (LISTEN), as in transaction mode'
  } finally {
    clearTimeout(timer)
    client.end().catch(() => undefined)
  }
}
