/** The trace to which a request belongs by its header. */
export interface TraceParent {
  traceId: string
  spanId: string
  isSampled: boolean
}

const shape = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const sampledBit = 1

/**
 * Reads a `traceparent`; undefined for none, and for a malformed one, which counts as none. Source:
 * https://www.w3.org/TR/trace-context/#traceparent-header
 */
export function readTraceParent(header: string | null): TraceParent | undefined {
  const [, version, traceId, spanId, flags, rest] = shape.exec(header ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  // Later versions may have further fields behind it; the first has none.
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
 * Whether a request is traced. A caller can opt its request out; it cannot have it traced more often than others,
 * neither by its flags nor by its choice of an id.
 */
export function isTraced(
  { ratio, followsParent }: Sampling,
  parent: TraceParent | undefined,
  random: () => number = Math.random,
): boolean {
  if (ratio <= 0 || (followsParent && parent?.isSampled === false)) return false
  return ratio >= 1 || random() < ratio
}
