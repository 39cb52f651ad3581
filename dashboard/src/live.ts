const soonMs = 4000
/** The polling interval of data that changes rarely. */
export const laterMs = 30_000
/** The number of polls in ten minutes. */
const mostSoon = 150

interface Asked {
  state: { status: 'pending' | 'error' | 'success'; dataUpdateCount: number }
}

/**
 * Returns the polling interval in milliseconds: seconds at first, longer after a failure or on a page that
 * stays open. A hidden page does not poll.
 */
export const soonAgain = ({ state: { status, dataUpdateCount } }: Asked): number =>
  status === 'error' || dataUpdateCount > mostSoon ? laterMs : soonMs
