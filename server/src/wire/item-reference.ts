import type { JsonObject } from './json-body'

/** Whether an item of the Responses format only names another by its id. Its type may be left out. */
export const isReference = ({ type, id, role }: JsonObject): boolean =>
  type === 'item_reference' || (!type && typeof id === 'string' && role === undefined)
