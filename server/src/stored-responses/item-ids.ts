import { toObjects, type JsonObject } from '../wire/json-body'

/** Ids of Tollgate's own: a prefix, the 26 characters of the response's id, and a position in it. */
const ownItem = /^([a-z]+)_([0-9a-hjkmnp-tv-z]{26})(\d{1,6})$/

/** The shape of ids: others are not looked up, and none of these contains what PostgreSQL rejects. */
export const possibleId = /^[\w-]{1,128}$/

/** Returns the id of the response that an item's id names; undefined for one that a provider made. */
export function responseOf(itemId: string): string | undefined {
  const bare = ownItem.exec(itemId)?.[2]
  return bare === undefined ? undefined : `resp_${bare}`
}

/** Items of inputs get such ids where they are listed. */
const inputPrefix = 'item_'

/** The id of an item in the input of a response, where it has none of its own. */
export const toInputItemId = (responseId: string, index: number): string =>
  `${inputPrefix}${responseId.slice(responseId.indexOf('_') + 1)}${String(index)}`

/** Whether one of these ids is of an item in an input. */
export const nameInputs = (itemIds: readonly string[]): boolean =>
  itemIds.some((id) => id.startsWith(inputPrefix))

/** The most items of a response that are found by the ids of their provider. */
const maxItems = 1000

/** Returns the ids in a response that do not name it: only by these it has to be looked up. */
export function providerItemIds({ id, output }: JsonObject): string[] {
  return toObjects(output)
    .flatMap(({ id: itemId }) =>
      typeof itemId === 'string' && possibleId.test(itemId) && responseOf(itemId) !== id
        ? [itemId]
        : [],
    )
    .slice(0, maxItems)
}
