import { ApiError } from './client'

const soonMs = 4000
/** The polling interval of data that changes rarely. */
export const laterMs = 30_000
/** The number of polls in ten minutes. */
const maxSoon = 150

interface PollOptions {
  state: { status: 'pending' | 'error' | 'success'; dataUpdateCount: number }
}

/**
 * Returns the polling interval in milliseconds: seconds at first, longer after a failure or on a page that
 * stays open. A hidden page does not poll.
 */
export const pollSoon = ({ state: { status, dataUpdateCount } }: PollOptions): number =>
  status === 'error' || dataUpdateCount > maxSoon ? laterMs : soonMs

const firstRetryMs = 700
/** The number of retries that follow each other closely. */
const maxClose = 12

/** Whether to ask again for what is written a moment later, such as a request's log: it is missing, or the service is. */
export const mayAppear = (_count: number, error: Error): boolean =>
  !(error instanceof ApiError) || [0, 404, 429].includes(error.status) || error.status >= 500

/** Returns the delay before a retry, in milliseconds: close ones at first, then doubling up to half a minute. */
export const retrySoon = (count: number): number =>
  Math.min(laterMs, firstRetryMs * 2 ** Math.max(0, count - maxClose + 1))
