const soonMs = 4000
/** Of what changes seldom. */
export const laterMs = 30_000
/** Ten minutes of it. */
const mostSoon = 150

interface Asked {
  state: { status: 'pending' | 'error' | 'success'; dataUpdateCount: number }
}

/**
 * How soon something that changes by itself is asked for again, in milliseconds: within seconds, and more
 * seldom where that goes wrong, or on a page that was left open. A page that nobody sees asks for nothing.
 */
export const soonAgain = ({ state: { status, dataUpdateCount } }: Asked): number =>
  status === 'error' || dataUpdateCount > mostSoon ? laterMs : soonMs
