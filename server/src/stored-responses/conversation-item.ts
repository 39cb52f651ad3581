import { possibleId } from './item-ids'
import { weigh } from './stored-json'
import { newId } from '../platform/db/id'
import { isObject, type JsonObject } from '../wire/json-body'

/** An item of a conversation, as the client sent it. */
export interface ConversationItem {
  id: string
  item: JsonObject
}

/** A new item before it is stored. */
export interface NewItem {
  id: string
  text: string
  bytes: number
  /** Its structure, as `weigh` counts it. */
  nodes: number
}

const newItemId = ({ type }: JsonObject): string =>
  newId(type === undefined || type === null || type === 'message' ? 'msg' : 'item')

/** Keeps the item's own id, unless it is invalid or another item of the conversation has it. */
export function toNewItem(item: JsonObject, isUsed: (id: string) => boolean): NewItem {
  const { id: ownId } = item
  const isOwn = typeof ownId === 'string' && possibleId.test(ownId) && !isUsed(ownId)
  const text = JSON.stringify(item)
  const id = isOwn ? ownId : newItemId(item)
  return { id, text, bytes: Buffer.byteLength(text), nodes: Math.ceil(weigh(item)) }
}

/** Shows an item: with its id, and its content as a list of parts. */
export function toListed({
  id,
  item,
}: ConversationItem): JsonObject & { id: string; type: string } {
  const { type, role, content, status } = item
  if (typeof type === 'string' && type !== 'message') return { ...item, id, type }
  const text = role === 'assistant' ? 'output_text' : 'input_text'
  return {
    ...item,
    id,
    type: 'message',
    status: typeof status === 'string' ? status : 'completed',
    content: Array.isArray(content)
      ? content.filter(isObject)
      : [{ type: text, text: content, ...(role === 'assistant' && { annotations: [] }) }],
  }
}
