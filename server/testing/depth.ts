/**
 * Whether this is `npm run test:deep`, which tries everything that `npm test` only samples. A test must compare its
 * counts with the number of cases that it tried.
 */
export const isDeep = process.env['TEST_DEEP'] === 'true'

/** Returns every n-th item; all of them in `npm run test:deep`. */
export function sampled<Item>(items: readonly Item[], every: number): readonly Item[] {
  return isDeep ? items : items.filter((_, index) => index % every === 0)
}
