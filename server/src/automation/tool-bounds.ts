import type { ToolLimits } from './tools'
import { formatPlainUsd } from '../wire/usd'

/** The usage of a message so far. */
export interface Spent {
  /** Rounds in which tools ran. */
  rounds: number
  /** Calls of tools. */
  calls: number
  /** Nano-dollars. */
  cost: bigint
}

const goOn = 'Send another message to continue.'

/** The result that the model receives for a tool call that was not run. */
export const notRun = 'Error: not run, as the message has reached its limit.'

/**
 * Returns the text for the limit that a message has reached, undefined where it may continue: before it runs the tools
 * of a `rounds`, or one more of `calls`.
 */
export function formatReachedLimit(
  { rounds, calls, cost }: Spent,
  limits: Pick<ToolLimits, 'rounds' | 'calls' | 'cost'>,
  of: 'rounds' | 'calls',
): string | undefined {
  if (of === 'calls') {
    if (calls < limits.calls) return undefined
    return `Stopped: one message may call ${limits.calls} tools. ${goOn}`
  }
  if (rounds >= limits.rounds) {
    return `Stopped: the model may ask for tools ${limits.rounds} times a message. ${goOn}`
  }
  if (cost <= limits.cost) return undefined
  const limit = formatPlainUsd(limits.cost)
  return `Stopped: this message has cost ${formatPlainUsd(cost)} USD, and tools run until ${limit}. ${goOn}`
}
