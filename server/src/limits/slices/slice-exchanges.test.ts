import { expect, test } from 'bun:test'
import { LocalSlice } from './local-slice'
import { SliceExchanges } from './slice-exchanges'
import type { SliceStore, SliceWrite } from './slice-store'

/** A store of which other nodes write one bucket before each write of this node, so many times. */
class ContestedStore implements SliceStore {
  readonly kind = 'redis'
  readonly isAway = false
  readonly writes: string[][] = []
  readonly #contested: string
  #conflicts: number

  constructor(contested: string, conflicts: number) {
    this.#contested = contested
    this.#conflicts = conflicts
  }

  async read(buckets: readonly string[]) {
    const moment = { nowMs: 0, epoch: 'epoch', sinceMs: 0, hasLostSlices: false }
    return { ...moment, slices: buckets.map(() => ({ version: 0, document: {} })) }
  }

  async write(writes: readonly SliceWrite[]): Promise<boolean[]> {
    this.writes.push(writes.map(({ bucket }) => bucket))
    return writes.map(({ bucket }) => bucket !== this.#contested || this.#conflicts-- <= 0)
  }

  async beat() {
    return { nowMs: 0, epoch: 'epoch', sinceMs: 0, hasLostSlices: false, seenAtMs: new Map() }
  }

  async leave(): Promise<void> {}

  async recall(): Promise<void> {}
}

const exchangesWith = (store: SliceStore) =>
  new SliceExchanges({
    store,
    node: 'one',
    now: () => 0,
    useOf: () => ({ used: 0, expiring: [] }),
    isStopped: () => false,
    view: ({ nowMs }) => ({
      nowMs,
      node: 'one',
      nodes: 2,
      isDead: () => false,
      isSilent: () => false,
    }),
    onMoment: () => true,
    onFailure: () => undefined,
  })

const sliceOf = (bucket: string) => new LocalSlice(bucket, { isWindow: true, limit: 10 })

test('a slice that other nodes write all the time delays no other one', async () => {
  const store = new ContestedStore('contested', 5)
  const exchanges = exchangesWith(store)
  const [contested, first, second] = ['contested', 'first', 'second'].map(sliceOf)
  if (!contested || !first || !second) throw new Error('three slices')
  const done: string[] = []
  const request = (slice: LocalSlice) =>
    exchanges.request(slice).then((isDone) => done.push(`${slice.bucket} ${isDone}`))
  const all = [request(contested), request(first).then(() => request(second))]
  await Promise.all(all)
  expect(done).toEqual(['first true', 'second true', 'contested true'])
  // It joins the exchanges that repeat the contested one.
  expect(store.writes.slice(0, 3).flat()).toContain('second')
})

test('a request that follows an exchange at once is exchanged too', async () => {
  const store = new ContestedStore('', 0)
  const exchanges = exchangesWith(store)
  const slice = sliceOf('first')
  const isDone = await exchanges.request(slice).then(() => exchanges.request(slice))
  expect(isDone).toBe(true)
  expect(store.writes).toEqual([['first'], ['first']])
  let again = exchanges.request(slice)
  for (let hops = 0; hops < 10; hops++) {
    await again
    for (let hop = 0; hop < hops; hop++) await Promise.resolve()
    again = exchanges.request(slice)
  }
  expect(await again).toBe(true)
})

test('a slice that other nodes never let this one write is given up, with all requests for it', async () => {
  const exchanges = exchangesWith(new ContestedStore('contested', Infinity))
  const slice = sliceOf('contested')
  const first = exchanges.request(slice)
  await Promise.resolve()
  await Promise.resolve()
  const second = exchanges.request(slice)
  expect(await Promise.all([first, second])).toEqual([false, false])
})
