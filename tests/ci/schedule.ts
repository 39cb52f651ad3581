/** Anything that runs alone, or beside one other. */
export interface Scheduled {
  isAlone?: boolean
}

/**
 * Runs all items in their order: one that is alone with nothing beside it, of the others `width` at a time. Resolves with
 * the results in the order of the items.
 */
export async function runScheduled<Item extends Scheduled, Result>(
  items: readonly Item[],
  width: number,
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Promise<Result>[] = []
  const running = new Set<Promise<unknown>>()
  for (const item of items) {
    const limit = item.isAlone ? 1 : width
    while (running.size >= limit) await Promise.race(running)
    const result = run(item)
    results.push(result)
    const ended: Promise<unknown> = result.finally(() => running.delete(ended))
    running.add(ended)
    if (item.isAlone) await ended
  }
  return Promise.all(results)
}
