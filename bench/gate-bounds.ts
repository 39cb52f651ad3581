/** The maximum cost of Tollgate, as a multiple of nginx's cost in the same run. */
export interface Bound {
  name: 'request' | 'chunk'
  title: string
  most: number
  /** The origin of the bound. */
  reason: string
}

export const bounds: readonly Bound[] = [
  {
    name: 'request',
    title: 'CPU of a plain chat request',
    most: 13,
    reason:
      'measured 9.0 to 9.7 in five runs (93 to 99 µs and 10 µs) on idle machines of two cores; a third ' +
      'added for noise. 80 µs would be 8',
  },
  {
    name: 'chunk',
    title: 'CPU of a relayed chunk',
    most: 6,
    reason:
      'measured 3.5 to 4.7 in five runs (19 to 20 µs and 4.1 to 5.3 µs, 10 ms apart, with its share of the ' +
      'request) on the same machines: nginx varies; a third added for noise. 15 µs would be 3.7',
  },
]
