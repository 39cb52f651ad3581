import { chunks } from './chunks'
import { codings } from './codings'
import { connections } from './connections'
import { fields } from './fields'
import { lengths } from './lengths'
import { statusLines } from './status-lines'
import { trailers } from './trailers'
import type { Vector } from './vector'

/**
 * Answers of HTTP/1.1 servers, good and bad, and the required result of a client for each: written from RFC 9110 and
 * RFC 9112. Answers to HEAD and CONNECT are not among them, as no such request is ever sent.
 */
export const vectors: readonly Vector[] = [
  ...statusLines,
  ...fields,
  ...lengths,
  ...codings,
  ...chunks,
  ...trailers,
  ...connections,
]

/** Returns the title of a vector in tests and tables: its section and its name. */
export const titleOf = ({ source, name }: Pick<Vector, 'source' | 'name'>) => `${source}: ${name}`
