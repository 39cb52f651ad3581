/** The most that Tollgate may cost, as a multiple of what nginx costs in the same run. */
export interface Bound {
  name: 'request' | 'chunk'
  title: string
  most: number
  /** Where the bound comes from. */
  reason: string
}

export const bounds: readonly Bound[] = [
  { name: 'request', title: 'CPU of a plain chat request', most: 9, reason: 'TO BE MEASURED' },
  { name: 'chunk', title: 'CPU of a relayed chunk', most: 9, reason: 'TO BE MEASURED' },
]
