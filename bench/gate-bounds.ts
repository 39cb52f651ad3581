/** The most that Tollgate may cost, as a multiple of what nginx costs in the same run. */
export interface Bound {
  name: 'request' | 'chunk'
  title: string
  most: number
  /** Where the bound comes from. */
  reason: string
}

export const bounds: readonly Bound[] = [
  {
    name: 'request',
    title: 'CPU of a plain chat request',
    most: 13,
    reason:
      'measured 9.0 to 9.7 in five runs (93 to 99 µs and 10 µs) on quiet machines of two cores; a third ' +
      'more for noise. 80 µs would be 8',
  },
  {
    name: 'chunk',
    title: 'CPU of a relayed chunk',
    most: 6,
    reason:
      'measured 3.5 to 4.7 in five runs (19 to 20 µs and 4.1 to 5.3 µs, 10 ms apart, with the part of its ' +
      'request) on the same machines: it is nginx that varies; a third more for noise. 15 µs would be 3.7',
  },
]
