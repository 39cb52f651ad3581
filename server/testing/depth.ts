/**
 * Whether this is `npm run test:deep`, which tries everything that `npm test` only samples. What a test counts
 * of what it saw is a share of what it tried.
 */
export const isDeep = process.env['TEST_DEEP'] === 'true'

/** Every so many-th of them; all of them in `npm run test:deep`. */
export function sampled<Item>(items: readonly Item[], every: number): readonly Item[] {
  return isDeep ? items : items.filter((_, index) => index % every === 0)
}
