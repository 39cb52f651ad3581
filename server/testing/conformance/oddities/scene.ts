import { isObject, type JsonObject } from '../../../src/wire/json-body'

/** A piece of an answer, whatever its dialect; the pieces of its text come in events of their own. */
export type Piece =
  | { kind: 'text'; texts: readonly string[] }
  | { kind: 'thought'; texts: readonly string[]; signature?: string; data?: string }
  | CallPiece

interface CallPiece {
  kind: 'call'
  /** The number by which the format knows it; counted where absent. */
  at?: number
  id?: string
  name?: string
  texts: readonly string[]
}

/** An answer that each dialect has words for. */
export interface Scene {
  pieces: readonly Piece[]
  finish: 'stop' | 'calls' | 'length'
}

export const text = (...texts: string[]): Piece => ({ kind: 'text', texts })

/** A thought, signed where it has a signature, and hidden where it is `data`. */
export const thought = (
  texts: readonly string[],
  { signature, data }: { signature?: string; data?: string } = {},
): Piece => ({
  kind: 'thought',
  texts,
  ...(signature !== undefined && { signature }),
  ...(data !== undefined && { data }),
})

export const call = (
  { at, id, name }: { at?: number; id?: string; name?: string },
  ...texts: string[]
): CallPiece => ({
  kind: 'call',
  texts,
  ...(at !== undefined && { at }),
  ...(id !== undefined && { id }),
  ...(name !== undefined && { name }),
})

/** A call of the tool `look`, the first of its answer. */
export const look = (...texts: string[]) => call({ id: 'call_0', name: 'look' }, ...texts)
/** A call of the tool `find`, the second of its answer. */
export const find = (...texts: string[]) => call({ id: 'call_1', name: 'find' }, ...texts)

/** Returns the pieces with their numbers among all, and among those of their kind that have numbers of their own. */
export function numbered({ pieces }: Scene) {
  let calls = 0
  return pieces.map((piece, position) => {
    if (piece.kind !== 'call') return { piece, position, at: position }
    calls += 1
    return { piece, position: piece.at ?? position, at: piece.at ?? calls - 1 }
  })
}

/** Returns the whole text of a piece. */
export const joined = ({ texts }: Piece) => texts.join('')

/** The counts that each dialect reports. */
export const counted = { input: 10, output: 5 }

/** The arguments of a call as an object; undefined where they are none. */
export function inputOf(piece: Piece): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(joined(piece) || '{}')
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
