import { sql, type Kysely } from 'kysely'
import { requireRow, lockAccount } from '../../../platform/db/account-row'
import { isChannel, type Channel } from '../../../alerts/alert'
import { formatTestText } from '../../../alerts/alert-text'
import { newId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import { ApiError } from '../../../errors'
import { notify } from '../../../notifications/notify'
import { toMessage } from '../../../platform/mail/message'
import type { Send } from '../../../platform/mail/smtp'

export interface AlertTestOptions {
  db: Kysely<Schema>
  /** Undefined without a configured mail server. */
  send: Send | undefined
  /** Tests per account and hour; read each time, as the setting may change. */
  testsPerHour: () => number
  onMailFailure: (error: unknown) => void
}

const windowSeconds = 3600
/** The client waits for the result of a test. */
const mailMs = 15_000

/**
 * Sends a notification on each channel of an alert, as a trigger would, but at once: the response lists the
 * channels that were reached. Rejects with `rate_limit_exceeded`, then `resource_not_found`.
 */
export const createAlertTest = (options: AlertTestOptions) => {
  const { db, testsPerHour } = options
  return async (userId: string, alertId: string) => {
    const alert = await db.transaction().execute(async (trx) => {
      await countTest(trx, userId, testsPerHour())
      const row = await findAlert(trx, userId, alertId)
      await trx.insertInto('alert_test').values({ user_id: userId }).execute()
      return row
    })
    const requested = alert.channels.filter(isChannel)
    const notified: Channel[] = []
    const problems: string[] = []
    for (const channel of requested) {
      const problem = await sendTestBy[channel](options, alert)
      if (problem === undefined) notified.push(channel)
      else problems.push(problem)
    }
    return {
      success: problems.length === 0,
      message: [...problems, formatNotified(notified)].join(' '),
      channels: notified,
    }
  }
}

const formatNotified = (notified: readonly Channel[]): string =>
  notified.length === 0
    ? 'No notification was sent.'
    : `A test notification was sent: ${notified.join(', ')}.`

/** Counts a test; concurrent requests wait at the row of their account. Rejects with `rate_limit_exceeded`. */
async function countTest(trx: Kysely<Schema>, userId: string, limit: number): Promise<void> {
  await lockAccount(trx, userId)
  await sql`
    delete from alert_test where user_id = ${userId}
      and tested_at <= clock_timestamp() - make_interval(secs => ${windowSeconds})`.execute(trx)
  const { rows } = await sql<{ wait: number }>`
    select extract(epoch from
      tested_at + make_interval(secs => ${windowSeconds}) - clock_timestamp())::float8 as wait
    from alert_test where user_id = ${userId}
    order by tested_at desc offset ${limit - 1} limit 1`.execute(trx)
  const [last] = rows
  if (!last) return
  const seconds = Math.max(1, Math.ceil(last.wait))
  throw new ApiError('rate_limit_exceeded', {
    message: `The limit is ${limit} alert tests an hour. Retry after the time in Retry-After.`,
    details: { limit, window: windowSeconds, retry_after: seconds },
    retryAfterSeconds: seconds,
    quota: { limit, remaining: 0, resetAtMs: Date.now() + seconds * 1000 },
  })
}

async function findAlert(trx: Kysely<Schema>, userId: string, id: string) {
  const row = await requireRow('alert', id, () =>
    trx
      .selectFrom('alert')
      .innerJoin('users', 'users.id', 'alert.user_id')
      .selectAll('alert')
      .select(['users.email', 'users.email_verified'])
      .where('alert.id', '=', id)
      .where('alert.user_id', '=', userId)
      .executeTakeFirst(),
  )
  return { ...row, minRequests: row.min_requests }
}

type Tested = Awaited<ReturnType<typeof findAlert>>

/** Sends on a channel; resolves with the reason for a failure, undefined on success. */
type SendTest = (options: AlertTestOptions, alert: Tested) => Promise<string | undefined>

const sendTestBy: Readonly<Record<Channel, SendTest>> = {
  async email({ send, onMailFailure }, alert) {
    if (!send) return 'E-mail is not configured on this server.'
    if (!alert.email_verified) return 'Your e-mail address is not verified.'
    const { title: subject, body } = formatTestText(alert)
    const draft = { recipient: alert.email, subject, body: `${body}\n`, date: new Date() }
    try {
      await send(toMessage(newId('ntf'), draft), AbortSignal.timeout(mailMs))
      return undefined
    } catch (error) {
      onMailFailure(error)
      return 'The mail server did not accept the e-mail.'
    }
  },

  async dashboard({ db }, alert) {
    const { title, body } = formatTestText(alert)
    const { id: alertId, user_id: userId } = alert
    await notify(db, {
      userId,
      kind: 'alert_test',
      title,
      body,
      alertId,
      link: `/alerts/${alertId}`,
    })
    return undefined
  },
}
