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
