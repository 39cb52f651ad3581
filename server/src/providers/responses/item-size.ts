import { isObject, type JsonObject } from '../../wire/json-body'
import type { TextSize } from '../../wire/text-size'

const textTypes = new Set(['output_text', 'refusal', 'summary_text', 'reasoning_text'])

/** Adds the content of an output item: texts and arguments as text, all else by its length. */
export function addItem(size: TextSize, item: JsonObject): void {
  const { type, name, arguments: args, input, content, summary, ...rest } = item
  if (type === 'function_call' || type === 'custom_tool_call') {
    size.addCall(String(name))
    for (const text of [args, input]) if (typeof text === 'string') size.add(text)
    return
  }
  for (const parts of [content, summary]) if (Array.isArray(parts)) addParts(size, parts)
  if (type !== 'message' && !isEmptyThought(item)) size.addOther(rest)
}

/** A thought of which nothing is shown but its id. */
const isEmptyThought = ({ type, encrypted_content: data }: JsonObject) =>
  type === 'reasoning' && !data

function addParts(size: TextSize, parts: readonly unknown[]): void {
  for (const part of parts) {
    if (!isObject(part)) continue
    const { type, text, refusal, annotations } = part
    const writtenText = text ?? refusal
    if (textTypes.has(String(type)) && typeof writtenText === 'string') size.add(writtenText)
    else size.addOther(part)
    if (Array.isArray(annotations) && annotations.length > 0) size.addOther(annotations)
  }
}
