import { sql, type Kysely, type RawBuilder } from 'kysely'
import { formatKeyExpiryText } from './alert-text'
import { notify } from '../notifications/notify'
import type { Schema } from '../platform/db/schema'
import { postMail } from '../platform/mail/outbox'

/** A key, or a secret that a rotation of it has replaced, that expires soon, with the account that is notified. */
interface ExpiringKey {
  key_id: string
  name: string
  key_prefix: string
  expires_at: Date
  /** 7 or 1: it expires within so many days. */
  days: number
  user_id: string
  email: string
  email_verified: boolean
}

type Expiring = 'key' | 'previous_secret'

const batchSize = 100

/**
 * Notifies the accounts of keys that expire within 7 days, and again within 1 day, and of secrets that a rotation has
 * replaced: by inbox, mail and destinations. Once for each expiry, however many processes look: it is recorded and
 * notified in one transaction. Resolves with how many notifications there were. Source: contract 6.4.
 */
export async function notifyExpiringKeys(db: Kysely<Schema>, nowMs: number): Promise<number> {
  const now = new Date(nowMs)
  return (
    (await notifyAll(db, 'key', (trx) => takeKeys(trx, now))) +
    (await notifyAll(db, 'previous_secret', (trx) => takePreviousSecrets(trx, now)))
  )
}

async function notifyAll(
  db: Kysely<Schema>,
  expiring: Expiring,
  take: (trx: Kysely<Schema>) => Promise<ExpiringKey[]>,
): Promise<number> {
  let notified = 0
  let batchCount: number
  do {
    batchCount = await db.transaction().execute(async (trx) => {
      const keys = await take(trx)
      for (const key of keys) await notifyOwner(trx, key, expiring)
      return keys.length
    })
    notified += batchCount
  } while (batchCount === batchSize)
  return notified
}

/**
 * Returns the condition of rows that expire within 7 days, or 1 day, and of whose expiry nothing was notified yet for as
 * many days. A row that was made to live hardly longer than that is no news.
 */
const isDue = (table: 'api_key' | 'previous_secret', now: Date): RawBuilder<boolean> => {
  const row = sql.table(table)
  return sql<boolean>`
    ${row}.expires_at > ${now} and ${row}.expires_at <= ${now}::timestamptz + interval '7 days'
    and ${row}.expires_at - ${row}.created_at > make_interval(days => reached.days, hours => 1)
    and (${row}.notified_expiry is distinct from ${row}.expires_at or ${row}.notified_days > reached.days)
    and (disabled_at is null or disabled_until < ${row}.expires_at)`
}

const reachedDays = (table: 'api_key' | 'previous_secret', now: Date) => sql`
  join users on users.id = api_key.user_id and users.status = 'active'
  cross join lateral (
    select case when ${sql.table(table)}.expires_at <= ${now}::timestamptz + interval '1 day'
      then 1 else 7 end as days
  ) as reached`

async function takeKeys(trx: Kysely<Schema>, now: Date): Promise<ExpiringKey[]> {
  const { rows } = await sql<ExpiringKey>`
    with due as (
      select api_key.id, reached.days, users.id as user_id, email, email_verified
      from api_key ${reachedDays('api_key', now)}
      where ${isDue('api_key', now)}
      order by api_key.expires_at limit ${batchSize} for update of api_key skip locked
    )
    update api_key set notified_expiry = expires_at, notified_days = due.days
    from due where api_key.id = due.id
    returning api_key.id as key_id, name, key_prefix, expires_at,
      due.days, due.user_id, due.email, due.email_verified`.execute(trx)
  return rows
}

/** Takes replaced secrets that end before their keys do. */
async function takePreviousSecrets(trx: Kysely<Schema>, now: Date): Promise<ExpiringKey[]> {
  const { rows } = await sql<ExpiringKey>`
    with due as (
      select previous_secret.hash, reached.days, api_key.name, users.id as user_id, email, email_verified
      from previous_secret join api_key on api_key.id = key_id
        ${reachedDays('previous_secret', now)}
      where ${isDue('previous_secret', now)}
        and coalesce(api_key.expires_at > previous_secret.expires_at, true)
      order by previous_secret.expires_at limit ${batchSize}
      for update of previous_secret skip locked
    )
    update previous_secret set notified_expiry = expires_at, notified_days = due.days
    from due where previous_secret.hash = due.hash
    returning key_id, due.name, key_prefix, expires_at,
      due.days, due.user_id, due.email, due.email_verified`.execute(trx)
  return rows
}

async function notifyOwner(
  trx: Kysely<Schema>,
  { user_id: userId, email, email_verified, ...key }: ExpiringKey,
  expiring: Expiring,
): Promise<void> {
  const { title, body } = formatKeyExpiryText({
    name: key.name,
    keyPrefix: key.key_prefix,
    expiresAt: key.expires_at,
    expiring,
  })
  const figures = {
    key_id: key.key_id,
    key_prefix: key.key_prefix,
    expiring,
    expires_at: key.expires_at.toISOString(),
    days: key.days,
  }
  const noticeId = await notify(trx, {
    userId,
    kind: 'key_expiring',
    title,
    body,
    figures,
    link: '/keys',
  })
  if (!email_verified) return
  const reference = `key expiry ${noticeId}`
  await postMail(trx, { recipient: email, subject: title, body: `${body}\n`, reference })
}
