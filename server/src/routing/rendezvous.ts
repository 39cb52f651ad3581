/** The properties that distinguish candidates, the same in every process. */
interface Choice<Item> {
  idOf: (item: Item) => string
  /** Above 0; a share is in proportion to it. */
  weightOf: (item: Item) => number
}

// One bit less than a number holds, so that half a step more is exact.
const bits = 52
const unit = 2 ** bits

/** A number strictly between 0 and 1 that follows from a text alone. */
function fractionOf(text: string): number {
  return (Number(BigInt.asUintN(bits, Bun.hash(text))) + 0.5) / unit
}

/**
 * Orders candidates by rendezvous hashing (highest random weight): the order follows from `key` and the candidates
 * alone, so that every process computes the same one. A candidate that is removed moves only the keys that it had;
 * one that is added, only those that it gets. Over many keys each is first in proportion to its weight.
 *
 * Source: https://en.wikipedia.org/wiki/Rendezvous_hashing, "Weighted rendezvous hash"
 */
export function rendezvousOrder<Item>(
  key: string,
  items: readonly Item[],
  { idOf, weightOf }: Choice<Item>,
): Item[] {
  return items
    .map((item) => ({
      item,
      score: -Math.log(fractionOf(`${key} ${idOf(item)}`)) / weightOf(item),
    }))
    .toSorted((one, other) => one.score - other.score)
    .map(({ item }) => item)
}
