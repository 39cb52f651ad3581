import { expect, test } from 'bun:test'
import { countObjects, sumObjects } from './count-objects'

/** Objects a plain chat request, as counted on 30 November 2026 (`npm run bench allocations`). */
const recorded = { complete: 316, withoutMoney: 193 }
/** A few more may come with a fix; a feature that a request does not use allocates nothing. */
const tolerance = 1.05
const timeoutMs = 300_000

test(
  'a plain chat request allocates at most 5 % more objects than recorded',
  async () => {
    expect(sumObjects(await countObjects())).toBeLessThan(recorded.complete * tolerance)
  },
  timeoutMs,
)

test(
  'without money and limits, a plain chat request allocates at most 5 % more objects than recorded',
  async () => {
    const count = sumObjects(await countObjects('without-money.ts'))
    expect(count).toBeLessThan(recorded.withoutMoney * tolerance)
  },
  timeoutMs,
)
