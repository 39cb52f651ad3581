import type { Kysely } from 'kysely'
import type { Step } from './alert-state'
import type { WatchedAlert } from './watched-alerts'
import { formatTriggerText } from './alert-text'
import { ofAccount } from '../platform/db/account-row'
import { newId } from '../platform/db/id'
import type { Schema } from '../platform/db/schema'
import { queueEvent } from '../notifications/events'
import { notify } from '../notifications/notify'
import { postMail } from '../platform/mail/outbox'

interface EvaluatedStep extends Step {
  nowMs: number
  value: number
}

const toDate = (ms: number | null) => (ms === null ? null : new Date(ms))

/**
 * Records the state of an alert after an evaluation, and its trigger: record, count and one notification a
 * channel, all of them or none. Does nothing where another process evaluated meanwhile, or the alert was changed.
 * Resolves with whether it triggered.
 */
export const recordStep = (
  db: Kysely<Schema>,
  alert: WatchedAlert,
  evaluated: EvaluatedStep,
): Promise<boolean> =>
  db.transaction().execute(async (trx) => {
    const { standing, triggers } = evaluated
    const { numUpdatedRows } = await trx
      .updateTable('alert')
      .set(({ eb }) => ({
        armed: standing.armed,
        false_since: toDate(standing.falseSinceMs),
        last_triggered_at: toDate(standing.lastTriggeredMs),
        trigger_count: eb('trigger_count', '+', triggers ? 1 : 0),
        revision: eb('revision', '+', 1n),
      }))
      .where('id', '=', alert.id)
      .where('user_id', '=', alert.userId)
      .where('revision', '=', alert.revision)
      .where('enabled', '=', true)
      .executeTakeFirst()
    if (numUpdatedRows === 0n || !triggers) return false
    await notifyOwner(trx, alert, evaluated)
    return true
  })

async function notifyOwner(
  trx: Kysely<Schema>,
  alert: WatchedAlert,
  { nowMs, value }: EvaluatedStep,
): Promise<void> {
  const at = new Date(nowMs)
  const triggerId = newId('trg')
  const { title, body } = formatTriggerText(alert, { value, at })
  await trx
    .insertInto('alert_trigger')
    .values({ id: triggerId, alert_id: alert.id, triggered_at: at, value })
    .execute()
  await queueEvent(trx, {
    owner: ofAccount(alert.userId),
    type: 'alert.triggered',
    only: alert.destinations,
    data: {
      title,
      body,
      alert_id: alert.id,
      trigger_id: triggerId,
      alert_type: alert.type,
      threshold: alert.threshold,
      period: alert.period,
      value,
      link: `/alerts/${alert.id}`,
    },
  })
  if (alert.channels.includes('dashboard')) {
    await notify(trx, {
      userId: alert.userId,
      kind: 'alert',
      title,
      body,
      alertId: alert.id,
      triggerId,
      link: `/alerts/${alert.id}`,
    })
  }
  if (alert.channels.includes('email') && alert.email !== undefined) {
    await postMail(trx, {
      recipient: alert.email,
      subject: title,
      body: `${body}\n`,
      reference: `alert ${triggerId}`,
    })
  }
}
