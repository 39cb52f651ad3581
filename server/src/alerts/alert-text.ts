import { getMinRequests, type AlertType, type Rule } from './alert'

interface AlertRule extends Rule {
  name: string
}

interface NoticeText {
  title: string
  body: string
}

const lengths = { hour: 'hour', day: '24 hours', week: '7 days', month: '30 days' } as const

const plain = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 9 })

/** The measured quantity with its unit. */
const measured: Readonly<Record<AlertType, (value: number, window: string) => string>> = {
  cost_threshold: (value, window) => `${plain(value)} USD were spent in the last ${window}`,
  error_rate: (value, window) => `${plain(value)} % of the requests of the last ${window} failed`,
  usage_spike: (value, window) =>
    `there were ${plain(value)} % more requests in the last ${window} than usual`,
  quota_limit: (value) => `${plain(value)} % of a limit of your account are used`,
  model_latency: (value, window) =>
    `requests of the last ${window} took ${plain(value)} ms on average`,
  unusual_activity: (value) =>
    `the requests of the last hour are ${plain(value)} standard deviations above those of the week`,
}

const units: Readonly<Record<AlertType, string>> = {
  cost_threshold: ' USD',
  error_rate: ' %',
  usage_spike: ' %',
  quota_limit: ' %',
  model_latency: ' ms',
  unusual_activity: '',
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
      : `Its threshold is ${plain(threshold)}${units[type]}.`
  const measurement = measured[type](value, lengths[period])
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
    ...(type === 'unusual_activity' ? [] : [`threshold ${plain(threshold)}${units[type]}`]),
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
    body: `The balance of ${accountName} has fallen to ${plain(balance)} USD, below ${plain(threshold)} USD. Without credit, paid requests are rejected. Add credit to continue.`,
  }
}
