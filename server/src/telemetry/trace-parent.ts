/** The trace that a caller says its request is a part of. */
export interface TraceParent {
  traceId: string
  spanId: string
  isSampled: boolean
}

const shape = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const sampledBit = 1

/**
 * Reads a `traceparent`; undefined for none, and for one that is not as it should be, which is as if there
 * were none. Source: https://www.w3.org/TR/trace-context/#traceparent-header
 */
export function readTraceParent(header: string | null): TraceParent | undefined {
  const [, version, traceId, spanId, flags, rest] = shape.exec(header ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  // Later versions may have more behind it; the first has not.
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & sampledBit) !== 0 }
}

interface Sampling {
  /** 0 to 1. */
  ratio: number
  followsParent: boolean
}

/**
 * Whether a request is traced. A caller can say that his is not; he cannot have it traced, neither by his
 * flags nor by the choice of an id, more often than others.
 */
export function isTraced(
  { ratio, followsParent }: Sampling,
  parent: TraceParent | undefined,
  random: () => number = Math.random,
): boolean {
  if (ratio <= 0 || (followsParent && parent?.isSampled === false)) return false
  return ratio >= 1 || random() < ratio
}
