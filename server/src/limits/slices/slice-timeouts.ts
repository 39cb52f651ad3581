/** The times for which requests wait for the store and for other nodes, in milliseconds. */
export interface SliceTimeouts {
  /** For units beyond a slice. */
  exchangeMs: number
  /**
   * The same for a limit that the node has no slice of: after that the request is admitted, up to the node's share. A store
   * that does not answer at all fails sooner.
   */
  firstMs: number
  /** The same once the store was late: it is not waited for by one request after the other. */
  shareMs: number
  /** For idle units of other nodes, while the store answers. */
  recallMs: number
  /** For units that no node states as used: they move from one node to another. */
  moveMs: number
}

/** The times where the store is near: with a round trip of at most so many milliseconds. */
const nearMs = 2
const near: SliceTimeouts = {
  exchangeMs: 80,
  firstMs: 1000,
  shareMs: 50,
  recallMs: 500,
  moveMs: 50,
}

/** The round trips of an exchange, of another one before it, and of those that nodes that write at the same time repeat. */
const exchange = 20
/** Recalled units come after an exchange of another node. */
const recall = 2 * exchange

/** A store that is slower than this is not far away, but overloaded, or about to fail. Milliseconds. */
const farMs = 150

/** Returns how long requests wait where a round trip to the store takes so many milliseconds. */
export function sliceTimeoutsFor(roundTripMs: number): SliceTimeouts {
  const distanceMs = Math.max(0, Math.min(roundTripMs, farMs) - nearMs)
  return {
    exchangeMs: near.exchangeMs + exchange * distanceMs,
    firstMs: near.firstMs + exchange * distanceMs,
    shareMs: near.shareMs + exchange * distanceMs,
    recallMs: near.recallMs + recall * distanceMs,
    moveMs: near.moveMs + recall * distanceMs,
  }
}
