interface Item {
  id: string
  created_at: string
}

/** How often a list looks for new items. A hidden page does not look. */
export const lookMs = 5000
/** The number of new items up to which they are counted. */
export const maxNew = 50

/** An item is listed when it is over, and may have begun before one that is listed already. */
const slackMs = 60_000

/** Returns the time from which a list of items, newest first, has to look for new ones. */
export const lookFrom = (items: readonly Item[], loadedMs: number): string => {
  const [newest] = items
  const newestMs = newest ? Date.parse(newest.created_at) : loadedMs
  return new Date(newestMs - slackMs).toISOString()
}

/** Counts the items that a list does not have. */
export function countNew(items: readonly Item[], found: readonly Item[]): number {
  const listed = new Set(items.map(({ id }) => id))
  return found.filter(({ id }) => !listed.has(id)).length
}
