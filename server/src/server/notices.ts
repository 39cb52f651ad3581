import type { Logger } from 'pino'
import type { Storage } from './storage'
import { notifyLowBalances } from '../alerts/balances'
import { createEvaluation, type Evaluate } from '../alerts/evaluate'
import { runAlertRound } from '../alerts/alert-round'
import { PromptEvaluations } from '../alerts/prompt-evaluations'
import type { Config } from '../platform/config/config'
import { isMailWaiting, MailSender } from '../platform/mail/mail-sender'
import { createSmtpMailer } from '../platform/mail/smtp'
import type { LiveSettings } from '../platform/settings/live-settings'

const roundBudgetMs = 30_000
const soonEveryMs = 1000

interface Options {
  config: Config
  settings: LiveSettings
  storage: Storage
  log: Logger
}

/** Triggers alerts. */
export interface Notices {
  /** Evaluates the alerts of accounts with newly logged requests. Never throws, and does not wait. */
  soon: (userIds: Iterable<string>) => void
}

/** Opens the sender of mails, and the jobs that evaluate alerts and balances; `stack` ends them. */
export function openNotices(options: Options, stack: AsyncDisposableStack): Notices {
  const { config, log } = options
  const evaluate = openEvaluation(options)
  const state = { isStopping: false }
  const soonLooks = stack.use(
    new PromptEvaluations({
      evaluate,
      everyMs: Math.min(soonEveryMs, config.alertEveryMs),
      onFailure: (err) => log.warn({ err }, 'alerts could not be looked at'),
    }),
  )
  const rounds = repeating(config.alertEveryMs, async () => {
    await look(options, { evaluate, state }).catch((err: unknown) =>
      log.warn({ err }, 'alerts and balances could not be looked at'),
    )
  })
  stack.use(rounds)
  openMail(options, stack)
  stack.defer(() => {
    state.isStopping = true
  })
  return { soon: (userIds) => soonLooks.soon(userIds) }
}

const openEvaluation = ({ settings, storage, log }: Options) =>
  createEvaluation({
    db: storage.database.query,
    nowMs: () => Date.now(),
    logDays: () => settings.current.retentionDays,
    onFailure: (userId, err) => log.warn({ err, userId }, 'the alerts of an account failed'),
  })

async function look(
  { config, settings, storage, log }: Options,
  { evaluate, state }: { evaluate: Evaluate; state: { isStopping: boolean } },
) {
  const round = await runAlertRound({
    db: storage.database.query,
    evaluate,
    // A shutdown ends a round like its time limit.
    nowMs: () => (state.isStopping ? Infinity : performance.now()),
    everyMs: config.alertEveryMs,
    budgetMs: roundBudgetMs,
  })
  if (!round) return
  if (!round.isComplete) {
    log.warn(round, 'alerts of some accounts are looked at late: there was no time for all')
  }
  await notifyLowBalances(storage.database.query, settings.current.warningThreshold)
}

function openMail({ config, storage, log }: Options, stack: AsyncDisposableStack): void {
  const { query } = storage.database
  if (!config.mail) {
    let isTold = false
    const watch = repeating(config.mailEveryMs, async () => {
      if (isTold || !(await isMailWaiting(query).catch(() => false))) return
      isTold = true
      log.warn('mails are waiting, and no mail server is set up: set SMTP_URL and MAIL_FROM')
    })
    stack.use(watch)
    return
  }
  const sender = stack.use(
    new MailSender({
      db: query,
      send: createSmtpMailer(config.mail),
      onFailure: (mailId, err) =>
        log.warn({ err, mailId: String(mailId) }, 'a mail was not taken; it is tried again'),
      onGivenUp: (mailIds) =>
        log.error({ mailIds: mailIds.map(String) }, 'mails were not taken for a day: given up'),
    }),
  )
  const delivery = repeating(config.mailEveryMs, () =>
    sender
      .deliverDue()
      .catch((err: unknown) => log.warn({ err }, 'the outbox could not be looked at')),
  )
  stack.use(delivery)
}

/** Runs `work`, which never rejects, periodically and never twice at once; disposing waits for it. */
function repeating(everyMs: number, work: () => Promise<void>): AsyncDisposable {
  let running: Promise<void> | undefined
  const timer = setInterval(() => {
    running ??= work().finally(() => (running = undefined))
  }, everyMs)
  timer.unref()
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await running
    },
  }
}
