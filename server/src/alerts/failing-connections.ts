import { sql, type Kysely } from 'kysely'
import { formatFailingConnectionText } from './alert-text'
import { queueEvent } from '../notifications/events'
import { notify } from '../notifications/notify'
import { findRecipients } from '../notifications/recipients'
import { ofOrganization, type Owner } from '../platform/db/account-row'
import type { Schema } from '../platform/db/schema'
import { postMail } from '../platform/mail/outbox'

interface FailingConnection extends Owner {
  id: string
  name: string
  provider: string
  last_error: string | null
  /** Null for a connection of an account. */
  organization: string | null
}

const batchSize = 100

/**
 * Notifies the owners of connections whose provider rejects their credential or has no credit for them: the account, or
 * owner and admins of an organization, and the destinations of both. Once for each failure, however many processes
 * look, and at most once a day for one that works in between. Resolves with how many connections there were. Source:
 * contract 7.1.
 */
export async function notifyFailingConnections(db: Kysely<Schema>, nowMs: number): Promise<number> {
  const now = new Date(nowMs)
  await sql`
    update connection set failure_notified_at = null
    where status = 'active' and failure_notified_at < ${now}::timestamptz - interval '1 day'`.execute(
    db,
  )
  let notified = 0
  let batchCount: number
  do {
    batchCount = await db.transaction().execute(async (trx) => {
      const failing = await takeFailing(trx, now)
      for (const connection of failing) await notifyOwner(trx, connection)
      return failing.length
    })
    notified += batchCount
  } while (batchCount === batchSize)
  return notified
}

async function takeFailing(trx: Kysely<Schema>, now: Date): Promise<FailingConnection[]> {
  const { rows } = await sql<FailingConnection>`
    update connection set failure_notified_at = ${now}
    where id in (
      select id from connection
      where status = 'error' and scope <> 'platform' and failure_notified_at is null
      order by id limit ${batchSize} for update skip locked
    )
    returning id, user_id, organization_id, name, provider, last_error,
      (select organization.name from organization where organization.id = organization_id)
        as organization`.execute(trx)
  return rows
}

async function notifyOwner(trx: Kysely<Schema>, connection: FailingConnection): Promise<void> {
  const { id, organization_id: organizationId } = connection
  const { title, body } = formatFailingConnectionText({
    name: connection.name,
    provider: connection.provider,
    reason: connection.last_error,
    organization: connection.organization,
  })
  const link = `/connections/${id}`
  const figures = {
    connection_id: id,
    provider: connection.provider,
    organization_id: organizationId,
  }
  for (const recipient of await findRecipients(trx, connection)) {
    const { id: userId, email } = recipient
    const noticeId = await notify(trx, {
      userId,
      kind: 'connection_failing',
      title,
      body,
      figures,
      link,
    })
    if (!recipient.email_verified) continue
    const reference = `failing connection ${noticeId}`
    await postMail(trx, { recipient: email, subject: title, body: `${body}\n`, reference })
  }
  if (organizationId === null) return
  await queueEvent(trx, {
    owner: ofOrganization(organizationId),
    type: 'connection.failing',
    data: { title, body, ...figures, link },
  })
}
