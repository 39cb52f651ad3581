/** Cases in which Node's client treats an answer otherwise than the vectors require. */
export interface Difference {
  node: 'accepted' | 'rejected' | 'waiting' | 'upgraded' | 'reused' | 'closed'
  /** The reason for the behaviour of Tollgate's client. */
  reason: string
  /** Names of vectors by section; `all` of them. */
  cases: Readonly<Record<string, 'all' | readonly string[]>>
  /** The first major version of Node that no longer differs. */
  until?: number
}
