import { RedisSliceStore } from '../../../server/src/limits/slices/redis-slice-store'
import { SlicedCounters } from '../../../server/src/limits/slices/sliced-counters'

export interface NodeCounters extends AsyncDisposable {
  counters: SlicedCounters
  store: RedisSliceStore
}

/** Creates the counters of one node over Redis. */
export function createNodeCounters(url: string, node: string): NodeCounters {
  const store = new RedisSliceStore({
    url,
    onRecall: (recall) => counters.onRecall(recall),
    onError: () => undefined,
    onBack: () => void counters.start(),
  })
  const counters = new SlicedCounters({ store, node })
  return {
    counters,
    store,
    async [Symbol.asyncDispose]() {
      await counters[Symbol.asyncDispose]()
      store[Symbol.dispose]()
    },
  }
}
