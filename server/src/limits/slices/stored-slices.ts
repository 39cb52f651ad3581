import * as z from 'zod'
import type { SliceDocument } from './slice-document'
import type { Recall, StoredSlices, StoreMoment } from './slice-store'

const nodeSlice = z.object({
  units: z.number(),
  expiring: z.array(z.tuple([z.number(), z.number()])),
  running: z.number(),
  statedAtMs: z.number(),
  pushesUntilMs: z.number(),
  hasLeft: z.boolean(),
})

const document = z.record(z.string(), nodeSlice)

const recall = z.object({ bucket: z.string(), units: z.number(), from: z.string() })

/** Parses a document as it was written. Throws where it is none. */
export const parseDocument = (text: string): SliceDocument => document.parse(JSON.parse(text))

/** Reads a recall; undefined where it is none. */
export function toRecall(text: string): Recall | undefined {
  try {
    return recall.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** Splits an answer of Redis into the moment that it begins with and the texts behind it. Throws where it is none. */
export function toMoment(answer: unknown): [StoreMoment, string[]] {
  const [nowMs = '', epoch = '', sinceMs = '', hasLost = '', ...texts] = Array.isArray(answer)
    ? answer.map(String)
    : []
  if (epoch === '') throw new Error('Redis gives an answer without an epoch')
  const moment = {
    nowMs: Number(nowMs),
    epoch,
    sinceMs: Number(sinceMs),
    hasLostSlices: hasLost === '1',
  }
  return [moment, texts]
}

/** Reads a document behind its version and a colon; an empty text is no document. */
export function toSlices(text: string): StoredSlices {
  if (text === '') return { version: 0, document: {} }
  const colon = text.indexOf(':')
  return { version: Number(text.slice(0, colon)), document: parseDocument(text.slice(colon + 1)) }
}
