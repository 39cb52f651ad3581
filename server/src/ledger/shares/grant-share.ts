/** The units in which nodes share a limit: requests, nano-dollars of spending, and tokens. */
export const shareUnits = ['requests', 'spent', 'tokens'] as const
export type ShareUnit = (typeof shareUnits)[number]
export type Amounts = Readonly<Record<ShareUnit, bigint>>

export const noAmounts: Amounts = { requests: 0n, spent: 0n, tokens: 0n }

/** Returns amounts by their unit. */
export const toAmounts = (amountOf: (unit: ShareUnit) => bigint): Amounts => ({
  requests: amountOf('requests'),
  spent: amountOf('spent'),
  tokens: amountOf('tokens'),
})

/** The share that a node has of the limits on one usage, as the database keeps it. */
export interface NodeShare {
  nodeId: string
  /** The most that the node may have used, or use, beyond what is booked. */
  reserved: Amounts
  /** The amounts that its waiting requests still lack. */
  shortage: Amounts
  /** The turn in which the first of them began to wait; null where none waits. */
  waitsSince: bigint | null
  /** The turn of its last statement: each exchange has a later one than those before. */
  turn: bigint
  /** The time of its last statement, by the database's clock. */
  statedAtMs: number
}

/** The use that a node states in an exchange, and its demand. */
interface ShareStatement {
  /** Null for no limit. */
  limits: Readonly<Record<ShareUnit, bigint | null>>
  /** Booked usage, of all nodes. */
  bookedAmounts: Amounts
  /** The amounts that the node has used, or holds, beyond what is booked. */
  used: Amounts
  /** The part of its share that it does not use, and would keep. */
  free: Amounts
  /** The amounts beyond `free` that its waiting requests need. */
  needs: Amounts
  /** The amounts beyond those that it will soon need, by its recent rate. */
  soon: Amounts
  /** The turn in which the first waiting request began to wait; undefined for one that begins now. */
  waitsSince: bigint | undefined
}

/** The moment of an exchange, under the lock of the usage. */
interface ShareView {
  nodeId: string
  turn: bigint
  nowMs: number
  /** Whether a node was found dead: its share counts no more. */
  isDead: (share: NodeShare) => boolean
  /** Whether a node did not answer in time since its last statement: its share counts, but is not waited for. */
  isSilent: (share: NodeShare) => boolean
}

export interface ShareGrant {
  /** The share from now on; undefined where the node has and needs nothing. */
  share: NodeShare | undefined
  /** The unused part that it keeps. */
  keptAmounts: Amounts
  /** The amounts that it gets besides. */
  grantedAmounts: Amounts
  /** The amounts that the other nodes may have used beyond what is booked. */
  others: Amounts
  /** Whether other nodes have to state their use for this node's waiting requests. */
  needsOthers: boolean
  /** Whether what its waiting requests lack is certain: no other node has any of it unused. */
  isCertain: boolean
  deadNodes: readonly string[]
}

const positive = (amount: bigint): bigint => (amount > 0n ? amount : 0n)
const least = (one: bigint, other: bigint): bigint => (one < other ? one : other)

/** Whether a node waits at all. */
const isWaiting = ({ waitsSince }: NodeShare): boolean => waitsSince !== null

/**
 * Decides how large a node's share of the limits on a usage is. What is booked and all shares together never exceed a
 * limit, so neither does what the nodes admit. Waiting nodes are served in the order in which they began to wait; a
 * node that others wait for keeps only what it uses. Far from the limit a node gets what it will soon need as well, at
 * most an equal part of half of the rest, so that near the limit shares are single holds.
 */
export function grantShare(
  shares: readonly NodeShare[],
  statement: ShareStatement,
  view: ShareView,
): ShareGrant {
  const rows = shares.filter(({ nodeId }) => nodeId !== view.nodeId)
  const deadNodes = rows.filter(view.isDead).map(({ nodeId }) => nodeId)
  const others = rows.filter(({ nodeId }) => !deadNodes.includes(nodeId))
  const since = statement.waitsSince ?? view.turn
  const isShort = shareUnits.some((unit) => statement.needs[unit] > 0n)
  // Those that do not answer are not waited for, so what they lack is not kept for them either.
  const rivals = others.filter((other) => isWaiting(other) && !view.isSilent(other))
  const ahead = rivals.filter(({ waitsSince }) => !isShort || (waitsSince ?? since) < since)
  const terms = { others, rivals, ahead, statement }
  const parts = toParts((unit) => grantUnit(unit, terms))
  const shortage = toAmounts((unit) => parts[unit].shortage)
  const isLacking = shareUnits.some((unit) => shortage[unit] > 0n)
  const reserved = toAmounts(
    (unit) =>
      positive(statement.used[unit]) +
      parts[unit].keptAmount +
      parts[unit].grantedAmount +
      parts[unit].extra,
  )
  const { turn, nowMs, nodeId } = view
  const share = {
    nodeId,
    reserved,
    shortage,
    waitsSince: isLacking ? since : null,
    turn,
    statedAtMs: nowMs,
  }
  const isEmpty = !isLacking && shareUnits.every((unit) => reserved[unit] === 0n)
  const unstated = others.filter(
    (other) => other.turn < since && hasAny(other, shortage) && !view.isSilent(other),
  )
  return {
    share: isEmpty ? undefined : share,
    keptAmounts: toAmounts((unit) => parts[unit].keptAmount),
    grantedAmounts: toAmounts((unit) => parts[unit].grantedAmount + parts[unit].extra),
    others: toAmounts((unit) => sumReserved(others, unit)),
    needsOthers: isLacking && unstated.length > 0,
    isCertain: isLacking && unstated.length === 0 && ahead.length === 0,
    deadNodes,
  }
}

interface Part {
  keptAmount: bigint
  grantedAmount: bigint
  extra: bigint
  shortage: bigint
}

const noPart: Part = { keptAmount: 0n, grantedAmount: 0n, extra: 0n, shortage: 0n }

const toParts = (partOf: (unit: ShareUnit) => Part): Record<ShareUnit, Part> => ({
  requests: partOf('requests'),
  spent: partOf('spent'),
  tokens: partOf('tokens'),
})

/** Whether a node has any of what is lacking. */
const hasAny = ({ reserved }: NodeShare, shortage: Amounts): boolean =>
  shareUnits.some((unit) => shortage[unit] > 0n && reserved[unit] > 0n)

const sumReserved = (shares: readonly NodeShare[], unit: ShareUnit): bigint =>
  shares.reduce((sum, { reserved }) => sum + reserved[unit], 0n)

const sumShortage = (shares: readonly NodeShare[], unit: ShareUnit): bigint =>
  shares.reduce((sum, { shortage }) => sum + shortage[unit], 0n)

interface Terms {
  others: readonly NodeShare[]
  /** The other nodes that wait, and those of them that began to wait before this one. */
  rivals: readonly NodeShare[]
  ahead: readonly NodeShare[]
  statement: ShareStatement
}

function grantUnit(unit: ShareUnit, { others, rivals, ahead, statement }: Terms): Part {
  const limit = statement.limits[unit]
  if (limit === null) return noPart
  const used = positive(statement.used[unit])
  const rest = positive(limit - statement.bookedAmounts[unit] - sumReserved(others, unit) - used)
  const aheadShortage = sumShortage(ahead, unit)
  const keptAmount = aheadShortage > 0n ? 0n : least(positive(statement.free[unit]), rest)
  // What could not be kept is needed too.
  const need = statement.needs[unit]
  const demand = need > 0n ? need + positive(statement.free[unit]) - keptAmount : 0n
  const grantable = positive(rest - keptAmount - aheadShortage)
  const grantedAmount = least(demand, grantable)
  const isGrowing =
    grantedAmount === demand && rivals.every(({ shortage }) => shortage[unit] === 0n)
  const maxExtra = (grantable - grantedAmount) / BigInt(2 * (others.length + 1))
  const soon = positive(statement.soon[unit] - keptAmount)
  return {
    keptAmount,
    grantedAmount,
    extra: isGrowing ? least(soon, maxExtra) : 0n,
    shortage: demand - grantedAmount,
  }
}
