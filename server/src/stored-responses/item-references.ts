import { possibleId, toInputItemId } from './item-ids'
import type { StoredItems } from './item-lookup'
import type { ResponseStore } from './store'
import { historyShape, weigh } from './stored-json'
import { invalidRequest } from '../errors'
import { isReference } from '../wire/item-reference'
import { isObject, toList, type JsonObject, type ReadBody } from '../wire/json-body'
import { ShapeExceeded } from '../wire/json-shape'
import type { Pause } from '../wire/json-slices'

/** The most items that a request may name by their ids. */
const maxReferences = 10_000

/** Returns the ids of the items that an input only names. */
export function referencesIn(input: unknown): string[] {
  const ids = toList(input).flatMap((item) => {
    const id = isObject(item) && isReference(item) ? item['id'] : undefined
    return typeof id === 'string' && possibleId.test(id) ? [id] : []
  })
  if (ids.length > maxReferences) throw tooMuch(`more than ${maxReferences} items are named by id`)
  return ids
}

/**
 * Puts the items that were stored for the account in the place of their references. Others stay: the provider may have
 * them. Rejects with `invalid_request`.
 */
export async function withReferencedItems(
  userId: string,
  read: ReadBody,
  { ids, store, pause }: { ids: readonly string[]; store: ResponseStore; pause: Pause },
): Promise<ReadBody> {
  const stored = await store.responsesWith(userId, ids, pause).catch(rejectShape)
  const items = toItemsById(stored)
  const foundItems = new Map<string, JsonObject>()
  const input = toList(read.body['input']).map((item, index) => {
    if (!isObject(item) || !isReference(item)) return item
    const id = String(item['id'])
    const knownItem = items.get(id)
    if (!knownItem) return item
    if (foundItems.has(id)) throw namedTwice(index, id)
    foundItems.set(id, knownItem)
    return knownItem
  })
  if (foundItems.size === 0) return read
  const added = [...foundItems.values()]
  if (weigh(added) > historyShape.maxNodes) throw rejectedShape()
  const bytes = read.bytes + Buffer.byteLength(JSON.stringify(added))
  return { bytes, body: { ...read.body, input } }
}

/** Returns the items of the outputs by their ids, and those of the inputs by the ids that `toInputItemId` gives them. */
function toItemsById(stored: readonly StoredItems[]): Map<string, JsonObject> {
  const items = new Map<string, JsonObject>()
  for (const { id, input, output } of stored) {
    for (const [index, item] of input.entries()) items.set(toInputItemId(id, index), item)
    for (const item of output) if (typeof item['id'] === 'string') items.set(item['id'], item)
  }
  return items
}

export const tooMuch = (reason: string) =>
  invalidRequest('input', 'limit_reached', `input: ${reason}. Send the items themselves.`)

const rejectedShape = () =>
  tooMuch(
    `the items that are named by id have more than ${historyShape.maxNodes} objects, lists and names`,
  )

const namedTwice = (index: number, id: string) =>
  invalidRequest(
    `input.${index}`,
    'duplicate',
    `input.${index}: the item ${id} is named twice. Name it once.`,
  )

function rejectShape(thrown: unknown): never {
  if (thrown instanceof ShapeExceeded) throw rejectedShape()
  throw thrown
}
