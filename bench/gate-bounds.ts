/** CPU in microseconds. */
export interface Costs {
  /** Of the gateway's processes alone. */
  request: number
  /** The same with its database. */
  requestInAll: number
  chunk: number
  /** The share of one processor that the gateway had with plain requests. */
  busy: number
}

/** The maximum cost of a gateway, as a multiple of another one's in the same run. */
export interface Bound {
  cost: Exclude<keyof Costs, 'busy'>
  of: 'tollgate' | 'workers'
  comparedWith: 'nginx' | 'tollgate'
  title: string
  max: number
  /** The origin of the bound. */
  reason: string
}

export const bounds: readonly Bound[] = [
  {
    cost: 'request',
    of: 'tollgate',
    comparedWith: 'nginx',
    title: 'CPU of a plain chat request',
    max: 13,
    reason:
      'measured 9.0 to 9.7 in five runs (93 to 99 µs and 10 µs) on idle machines of two cores; a third ' +
      'added for noise. 80 µs would be 8',
  },
  {
    cost: 'chunk',
    of: 'tollgate',
    comparedWith: 'nginx',
    title: 'CPU of a relayed chunk',
    max: 6,
    reason:
      'measured 3.5 to 4.7 in five runs (19 to 20 µs and 4.1 to 5.3 µs, 10 ms apart, with its share of the ' +
      'request) on the same machines: nginx varies; a third added for noise. 15 µs would be 3.7',
  },
  {
    cost: 'requestInAll',
    of: 'tollgate',
    comparedWith: 'nginx',
    title: 'CPU of a plain chat request, with its database',
    max: 11.5,
    reason:
      'measured 8.2 and 8.7 (109 to 113 µs, PostgreSQL 16 to 20 of them, and 13 µs) on machines of two cores; a ' +
      'third added for noise',
  },
  {
    cost: 'requestInAll',
    of: 'workers',
    comparedWith: 'tollgate',
    title: 'CPU of a plain chat request through two workers, with their database',
    max: 1.7,
    reason:
      'measured 1.20 and 1.30 (130 to 147 µs and 109 to 113 µs) on machines of two cores; a third added for ' +
      'noise. Fewer requests share a sync, a batch and a collection in each worker',
  },
]
