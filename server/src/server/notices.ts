import type { Logger } from 'pino'
import type { Storage } from './storage'
import { createEvaluation } from '../alerts/evaluate'
import { PromptEvaluations } from '../alerts/prompt-evaluations'
import { createMailDelivery, createMailReminder } from '../jobs/deliver-mail'
import { createAlertEvaluation } from '../jobs/evaluate-alerts'
import { createKeyExpiryNotices } from '../jobs/notify-expiring-keys'
import { createFailingConnectionNotices } from '../jobs/notify-failing-connections'
import { systemClock } from '../platform/clock'
import type { Config } from '../platform/config/config'
import { MailSender } from '../platform/mail/mail-sender'
import { createSmtpMailer } from '../platform/mail/smtp'
import type { LiveSettings } from '../platform/settings/live-settings'

const soonEveryMs = 1000
/** Days pass between the notifications of an expiry: it is looked for less often than alerts are evaluated. */
const alertsPerKeyExpiry = 10

interface Options {
  config: Config
  settings: LiveSettings
  storage: Storage
  log: Logger
}

/** Triggers alerts, and notifies of budgets. */
export interface Notices {
  /** Evaluates accounts with newly booked or logged requests, or changed budgets. Never throws, and does not wait. */
  soon: (userIds: Iterable<string>) => void
}

/** Creates the sender of mails, and the jobs that evaluate alerts and balances; `disposables` ends them. */
export function createNotices(options: Options, disposables: AsyncDisposableStack): Notices {
  const { config, settings, storage, log } = options
  const evaluate = createEvaluator(options)
  const promptEvaluations = disposables.use(
    new PromptEvaluations({
      evaluate,
      everyMs: Math.min(soonEveryMs, config.alertEveryMs),
      onFailure: (err) => log.warn({ err }, 'alerts could not be evaluated'),
    }),
  )
  startMailDelivery(options, disposables)
  disposables.use(
    createAlertEvaluation({
      db: storage.database.query,
      evaluate,
      intervalMs: config.alertEveryMs,
      warningThreshold: () => settings.current.warningThreshold,
      log,
    }),
  )
  startRowNotices(options, disposables)
  return { soon: (userIds) => promptEvaluations.soon(userIds) }
}

/** Starts the notifications of keys that expire, and of connections that fail. */
function startRowNotices(
  { config, storage, log }: Options,
  disposables: AsyncDisposableStack,
): void {
  const ports = { db: storage.database.query, log, clock: systemClock }
  const intervalMs = config.alertEveryMs
  disposables.use(createKeyExpiryNotices({ ...ports, intervalMs: intervalMs * alertsPerKeyExpiry }))
  disposables.use(createFailingConnectionNotices({ ...ports, intervalMs }))
}

/** The full days whose logs are in PostgreSQL at least. */
function daysOfLogs({ clickHouse }: Config, settings: LiveSettings): number {
  const { retentionDays } = settings.current
  return clickHouse.address ? Math.min(retentionDays, clickHouse.recentDays) : retentionDays
}

const createEvaluator = ({ config, settings, storage, log }: Options) =>
  createEvaluation({
    db: storage.database.query,
    nowMs: () => Date.now(),
    logDays: () => daysOfLogs(config, settings),
    onFailure: (userId, err) =>
      log.warn({ err, userId }, 'the alerts or budgets of an account failed'),
  })

function startMailDelivery(
  { config, storage, log }: Options,
  disposables: AsyncDisposableStack,
): void {
  const { query } = storage.database
  const intervalMs = config.mailEveryMs
  if (!config.mail) {
    disposables.use(createMailReminder({ db: query, intervalMs, log }))
    return
  }
  const sender = disposables.use(
    new MailSender({
      db: query,
      send: createSmtpMailer(config.mail),
      onFailure: (mailId, err) =>
        log.warn(
          { err, mailId: String(mailId) },
          'the mail server rejected a mail; it is tried again',
        ),
      onAbandoned: (mailIds) =>
        log.error(
          { mailIds: mailIds.map(String) },
          'mails were rejected for a day, and are not tried again',
        ),
    }),
  )
  disposables.use(createMailDelivery({ sender, intervalMs, log }))
}
