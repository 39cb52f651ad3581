import { namesOf, toKey, withoutDate } from './model-names'
import type { Snapshot } from './snapshot'
import { editDistance } from '../platform/edit-distance'

/** Longer names are compared as a whole only: the time of a comparison grows with the square of the length. */
const maxComparedLength = 80
/** The maximum number of an account's own names that are compared. */
const maxOwnNames = 1000
const maxEdits = 2

interface NamedId {
  key: string
  id: string
  /** The letters of the key as bits, by which most other names are ruled out. */
  letters: number
}

/** The enabled models of a catalogue by the names that callers give them. */
interface NameIndex {
  exact: ReadonlyMap<string, readonly NamedId[]>
  undated: ReadonlyMap<string, readonly NamedId[]>
  byLength: ReadonlyMap<number, readonly NamedId[]>
}

const indexes = new WeakMap<Snapshot['models'], NameIndex>()

/**
 * Finds the ids whose names are like a name that no model has, in groups, the closest first: the same behind another
 * provider's key or none, the same but for a date, one letter away, two letters away. `own` are the ids that the
 * account has beside the catalogue.
 */
export function* findNearNames(
  name: string,
  { models }: Pick<Snapshot, 'models'>,
  own: Iterable<string>,
): Generator<string[], void> {
  const index = indexOf(models)
  const keys = keysOf(name)
  const ownNames = takeOwn(own)
  const same = ownNames.filter(({ key }) => keys.includes(key))
  yield idsOf([...keys.flatMap((key) => index.exact.get(key) ?? []), ...same])
  yield idsOf(keys.map(withoutDate).flatMap((key) => index.undated.get(key) ?? []))
  yield* findMisspelt(keys, index, ownNames)
}

/** The ids one edit away, then those two edits away. */
function* findMisspelt(
  keys: readonly string[],
  index: NameIndex,
  ownNames: readonly NamedId[],
): Generator<string[], void> {
  const distances = new Map<string, number>()
  for (const key of keys) {
    const max = maxEditsOf(key)
    const letters = lettersOf(key)
    for (const namedId of [...neighbours(key, index), ...ownNames]) {
      if (!mayBeNear(letters, namedId.letters, max)) continue
      const edits = editDistance(key, namedId.key, max)
      if (edits > max) continue
      distances.set(namedId.id, Math.min(edits, distances.get(namedId.id) ?? edits))
    }
  }
  for (let edits = 1; edits <= maxEdits; edits += 1) {
    yield [...distances].filter(([, distance]) => distance === edits).map(([id]) => id)
  }
}

/** The name as a whole, without its first part, and its last part alone. */
function keysOf(name: string): string[] {
  const parts = [
    name,
    name.slice(name.indexOf('/') + 1),
    name.slice(name.lastIndexOf('/') + 1),
  ].map(toLowerKey)
  return [...new Set(parts)].filter((key) => key !== '')
}

const toLowerKey = (name: string) => toKey(name.toLowerCase())

const toNamed = (id: string, name: string): NamedId => {
  const key = toLowerKey(name)
  return { id, key, letters: lettersOf(key) }
}

const idsOf = (namedIds: readonly NamedId[]) => [...new Set(namedIds.map(({ id }) => id))]

/** In a short name each letter counts for more. */
function maxEditsOf({ length }: string): number {
  if (length < 4 || length > maxComparedLength) return 0
  return length < 8 ? 1 : maxEdits
}

function lettersOf(key: string): number {
  let letters = 0
  for (let at = 0; at < key.length; at += 1) letters |= 1 << (key.charCodeAt(at) & 31)
  return letters
}

/** Each edit adds one letter at most, and removes one. */
const mayBeNear = (one: number, other: number, edits: number) =>
  edits > 0 && hasAtMost(edits, one & ~other) && hasAtMost(edits, other & ~one)

/** Whether a number has at most so many bits that are set. */
function hasAtMost(count: number, bits: number): boolean {
  let rest = bits
  for (let at = 0; at < count; at += 1) rest &= rest - 1
  return rest === 0
}

function neighbours({ length }: string, { byLength }: NameIndex): NamedId[] {
  const lengths = Array.from({ length: 2 * maxEdits + 1 }, (_, at) => length - maxEdits + at)
  return lengths.flatMap((one) => byLength.get(one) ?? [])
}

function takeOwn(own: Iterable<string>): NamedId[] {
  const takenIds: NamedId[] = []
  for (const id of own) {
    takenIds.push(toNamed(id, id.slice(id.lastIndexOf('/') + 1)))
    if (takenIds.length >= maxOwnNames) break
  }
  return takenIds
}

/** Built on the first request for a name that no model has. */
function indexOf(models: Snapshot['models']): NameIndex {
  const knownIndex = indexes.get(models)
  if (knownIndex) return knownIndex
  const namedModels = [...models.values()].flatMap((model) =>
    model.enabled ? namesOf(model).map(([name]) => toNamed(model.id, name)) : [],
  )
  const index = {
    exact: Map.groupBy(namedModels, ({ key }) => key),
    undated: Map.groupBy(namedModels, ({ key }) => withoutDate(key)),
    byLength: Map.groupBy(namedModels, ({ key }) => key.length),
  }
  indexes.set(models, index)
  return index
}
