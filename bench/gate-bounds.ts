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
    most: 24,
    reason:
      'measured 16 to 21 (160 to 190 µs and 9 to 10 µs) on a machine shared with much else, before the ' +
      'path of a request was made cheaper; a sixth more for noise. 80 µs would be 8.5: lower this ' +
      'after the first run on a quiet machine',
  },
  {
    name: 'chunk',
    title: 'CPU of a relayed chunk',
    most: 4.5,
    reason:
      'measured 3.3 to 3.9 (16 to 25 µs and 5 to 7 µs, 10 ms apart) on the same machine; a sixth more ' +
      'for noise. 15 µs would be 2.3: lower this as above',
  },
]
