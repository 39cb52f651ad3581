import type { Json } from './call'

/** One chunk of a stream. `ends` marks the first chunk that ends the last choice. */
export interface Chunk {
  data: Json
  tokens: number
  ends: boolean
}

/** One answer in both its forms. */
export interface Answer {
  stream: boolean
  chunks: Chunk[]
  whole: Json
  usage: Json
  /** Events have names, and no `[DONE]` follows them. */
  isNamed?: boolean
}
