import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Schema } from '../platform/db/schema'
import { isMailWaiting, type MailSender } from '../platform/mail/mail-sender'
import { Periodic } from '../platform/periodic'

interface Delivery {
  sender: MailSender
  intervalMs: number
  log: Logger
}

/** The delivery of due mails. */
export const createMailDelivery = ({ sender, intervalMs, log }: Delivery): Periodic =>
  new Periodic({
    intervalMs,
    run: () => sender.deliverDue(),
    onError: (err) => log.warn({ err }, 'due mails could not be read'),
  })

interface Reminder {
  db: Kysely<Schema>
  intervalMs: number
  log: Logger
}

/** A warning, once, that mails wait although no mail server is configured. */
export function createMailReminder({ db, intervalMs, log }: Reminder): Periodic {
  const job: Periodic = new Periodic({
    intervalMs,
    run: async () => {
      if (!(await isMailWaiting(db).catch(() => false))) return
      log.warn('mails are waiting, and no mail server is configured: set SMTP_URL and MAIL_FROM')
      job.stop()
    },
  })
  return job
}
