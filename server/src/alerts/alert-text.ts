import { getMinRequests, type AlertType, type Rule } from './alert'

interface AlertRule extends Rule {
  name: string
}

interface NoticeText {
  title: string
  body: string
}

const lengths = { hour: 'hour', day: '24 hours', week: '7 days', month: '30 days' } as const

// Figures are written as the dashboard writes them (format/money.ts, format/figures.ts): amounts in cents, below a cent
// with two significant digits; what was entered with all digits. The exact value is with the trigger.
const currency = { style: 'currency', currency: 'USD' } as const
const cents = new Intl.NumberFormat('en-US', currency)
const twoDigits = new Intl.NumberFormat('en-US', { ...currency, maximumSignificantDigits: 2 })
const allDigits = new Intl.NumberFormat('en-US', { ...currency, maximumFractionDigits: 9 })
const twoDecimals = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 })
const counts = new Intl.NumberFormat('en-US')
const allDecimals = new Intl.NumberFormat('en-US', { maximumFractionDigits: 9 })

const minCents = 0.01

const usd = (amount: number): string =>
  amount !== 0 && Math.abs(amount) < minCents ? twoDigits.format(amount) : cents.format(amount)

/** An amount beside its limit: with all digits where it would look like the limit. */
const usdBeside = (limit: number, amount: number): string =>
  amount !== limit && usd(amount) === usd(limit) ? allDigits.format(amount) : usd(amount)

const rounded = (value: number): string => twoDecimals.format(value)

interface Measurement {
  value: number
  threshold: number
  window: string
}

/** The measured quantity with its unit. */
const measured: Readonly<Record<AlertType, (measurement: Measurement) => string>> = {
  cost_threshold: ({ value, threshold, window }) =>
    `${usdBeside(threshold, value)} was spent in the last ${window}`,
  error_rate: ({ value, window }) =>
    `${rounded(value)}% of the requests of the last ${window} failed`,
  usage_spike: ({ value, window }) =>
    `there were ${rounded(value)}% more requests in the last ${window} than usual`,
  quota_limit: ({ value }) => `${rounded(value)}% of a limit of your account is used`,
  model_latency: ({ value, window }) =>
    `requests of the last ${window} took ${rounded(value)} ms on average`,
  unusual_activity: ({ value }) =>
    `the requests of the last hour are ${rounded(value)} standard deviations above those of the week`,
}

const percent = (value: number): string => `${allDecimals.format(value)}%`

/** A threshold as it was entered. */
const thresholds: Readonly<Record<AlertType, (threshold: number) => string>> = {
  cost_threshold: (threshold) => allDigits.format(threshold),
  error_rate: percent,
  usage_spike: percent,
  quota_limit: percent,
  model_latency: (threshold) => `${allDecimals.format(threshold)} ms`,
  unusual_activity: (threshold) => allDecimals.format(threshold),
}

/** A readable time; the exact one is with the notification. */
const toMinute = (at: Date) => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** Formats the notification of a triggered alert. */
export function formatTriggerText(
  alert: AlertRule,
  { value, at }: { value: number; at: Date },
): NoticeText {
  const { name, type, threshold, period } = alert
  const limit =
    type === 'unusual_activity'
      ? 'It reports values above 3.'
      : `Its threshold is ${thresholds[type](threshold)}.`
  const measurement = measured[type]({ value, threshold, window: lengths[period] })
  return {
    title: `Alert: ${name}`,
    body: `Your alert "${name}" was triggered at ${toMinute(at)}: ${measurement}. ${limit}`,
  }
}

/** Formats the notification of an alert's test. */
export function formatTestText(alert: AlertRule): NoticeText {
  const { name, type, threshold, period } = alert
  const minRequests = getMinRequests(type, alert.minRequests)
  const condition = [
    `type ${type}`,
    ...(type === 'unusual_activity' ? [] : [`threshold ${thresholds[type](threshold)}`]),
    `period ${period}`,
    ...(minRequests === null ? [] : [`at least ${minRequests} requests`]),
  ]
  return {
    title: `Test of the alert: ${name}`,
    body: `This is a test of your alert "${name}" (${condition.join(', ')}). Nothing has happened.`,
  }
}

/** Formats the notification of a balance below the warning threshold. Amounts are USD. */
export function formatLowBalanceText(
  accountName: string,
  balance: number,
  threshold: number,
): NoticeText {
  return {
    title: `Low balance: ${accountName}`,
    body: `The balance of ${accountName} has fallen to ${usdBeside(threshold, balance)}, below ${usd(threshold)}. Without credit, paid requests are rejected. Add credit to continue.`,
  }
}

interface BudgetFigures {
  name: string
  /** The budget, and what it is of, as the text begins. */
  subject: string
  enforcement: 'hard' | 'soft'
  unit: string
  amount: number
  used: number
  percent: number
  /** ISO 8601; null for a budget that does not reset. */
  window_end: string | null
}

/** Formats the notification of a budget whose use has reached a percent of its amount. */
export function formatBudgetText(budget: BudgetFigures): NoticeText {
  const { name, subject, percent, used, amount, window_end: end } = budget
  const of =
    budget.unit === 'usd'
      ? `${usdBeside(amount, used)} of ${usd(amount)}`
      : `${counts.format(used)} of ${counts.format(amount)} ${budget.unit}`
  const reset = end === null ? 'it does not reset' : `it resets at ${toMinute(new Date(end))}`
  const effect =
    budget.enforcement === 'soft'
      ? 'It rejects no requests.'
      : 'Requests that the rest does not cover are rejected.'
  return {
    title: `Budget at ${percent}%: ${name}`,
    body: `${subject} has reached ${percent}%. It has used ${of}, and ${reset}. ${effect}`,
  }
}

interface KeyExpiry {
  name: string
  keyPrefix: string
  expiresAt: Date
  /** Whether the key itself expires, or a secret of it that a rotation has replaced. */
  expiring: 'key' | 'previous_secret'
}

/** Formats the notification of a key, or a replaced secret, that expires soon. */
export function formatKeyExpiryText({
  name,
  keyPrefix,
  expiresAt,
  expiring,
}: KeyExpiry): NoticeText {
  const at = toMinute(expiresAt)
  return expiring === 'key'
    ? {
        title: `API key expires soon: ${name}`,
        body: `Your API key "${name}" (${keyPrefix}…) expires at ${at}. Requests with it are rejected from then on. Extend it, or replace it before.`,
      }
    : {
        title: `Old secret of an API key expires soon: ${name}`,
        body: `A rotation has replaced the secret ${keyPrefix}… of your API key "${name}". It expires at ${at}. Requests with it are rejected from then on. Use the new secret.`,
      }
}

interface ConnectionFailure {
  name: string
  provider: string
  /** The message of the provider. */
  reason: string | null
  /** The name of the organization; null for a connection of the account. */
  organization: string | null
}

/** Formats the notification of a connection whose provider rejects its credential, or has no credit for it. */
export function formatFailingConnectionText(failure: ConnectionFailure): NoticeText {
  const { name, provider, reason, organization } = failure
  const owner = organization === null ? 'Your connection' : `The connection of ${organization}`
  const why = reason === null ? '' : ` The provider says: ${reason}`
  return {
    title: `Connection fails: ${name}`,
    body: `${owner} "${name}" (${provider}) is rejected: its key is not valid, or its account there has no credit.${why}`,
  }
}
