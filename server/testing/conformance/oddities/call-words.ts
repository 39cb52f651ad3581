import { event } from './spoken-response'
import { chunk } from './spoken'
import type { JsonObject } from '../../../src/wire/json-body'

export const one = '{"q":1}'
export const two = '{"q":22}'
export const twoCalls = [
  ['look', one],
  ['find', two],
] as const

/** An entry of `tool_calls`. */
export const entry = (index: number | undefined, fields: JsonObject, called: JsonObject) => ({
  ...(index !== undefined && { index }),
  ...fields,
  function: called,
})
/** A chunk of such entries. */
export const calls = (...tool_calls: JsonObject[]) => chunk({ tool_calls })

/** A block of a message as it begins, the first or the second. */
export const toolUse = (at: number) => ({
  type: 'tool_use',
  id: `call_${at}`,
  name: ['look', 'find'][at],
  input: {},
})

/** An item of a Response as it is added, without its arguments. */
export const added = (output_index: number, item: JsonObject) =>
  event('output_item.added', { output_index, item: { ...item, arguments: '' } })
/** A piece of its arguments. */
export const argumentsDelta = (output_index: number, delta: string) =>
  event('function_call_arguments.delta', { output_index, delta })
