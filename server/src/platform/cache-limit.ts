/**
 * Returns the options that limit an `LRUCache` to some entries, whose memory it takes as they come: with `max` it
 * takes that of all of them when it is made, 16 to 28 bytes each.
 */
export const limitEntries = (maxEntries: number) => ({
  maxSize: maxEntries,
  sizeCalculation: () => 1,
})
