import { readCall } from './tool-calls'
import { unnamedCall, type ErrorSource } from '../upstream-error'
import { CallArguments } from '../../wire/call-arguments'
import { CallIds } from '../../wire/call-ids'
import { withCalls, type FinishReason } from '../../wire/finish-reason'
import { toObjects, type JsonObject } from '../../wire/json-body'
import type { CallNaming, CallPiece } from '../../wire/outgoing-calls'

/** The calls of a whole answer, and its finish reason beside them. */
interface WholeCalls {
  calls: JsonObject[]
  reason: FinishReason
}

const noCalls: JsonObject[] = []

/**
 * Reads the `tool_calls` of a whole message that ended for `reason`. A call without a name is none. Throws for one
 * that has arguments.
 */
export function readWholeCalls(
  theirs: unknown,
  reason: FinishReason,
  request: CallNaming & { source: ErrorSource },
): WholeCalls {
  const entries = toObjects(theirs)
  if (entries.length === 0) return { calls: noCalls, reason }
  const isOrdinary = reason === 'stop' || reason === 'tool_calls'
  const ids = new CallIds(request)
  const calls: JsonObject[] = []
  let isWhole = true
  for (const entry of entries) {
    const piece = readCall(entry)
    if (piece.name === '') {
      if (hasArguments(piece)) throw unnamedCall(request.source)
      continue
    }
    const read = readArguments(piece, isOrdinary)
    if (!read.isWhole) isWhole = false
    const name = request.callerNames?.get(piece.name) ?? piece.name
    calls.push(toCall({ ...piece, name, id: ids.next(piece.id), text: read.text }))
  }
  const state = isWhole ? 'whole' : 'cut'
  return { calls, reason: withCalls(reason, calls.length > 0 ? state : 'none') }
}

const toCall = ({ id, name, text, isCustom, fields, toolFields }: CallPiece): JsonObject =>
  isCustom
    ? { ...fields, id, type: 'custom', custom: { ...toolFields, name, input: text } }
    : { ...fields, id, type: 'function', function: { ...toolFields, name, arguments: text } }

/** Whether a call has more than `{}`, `null` or blanks, as in a stream. */
const hasArguments = ({ text, isCustom = false }: CallPiece): boolean =>
  new CallArguments({ isFree: isCustom }).add(text) !== ''

/** Reads the arguments of a whole call: JSON also where the provider sends `null` or nothing, unless they were cut. */
function readArguments(
  { text, isCustom = false }: CallPiece,
  isOrdinary: boolean,
): { text: string; isWhole: boolean } {
  if (isCustom) return { text, isWhole: isOrdinary }
  const args = new CallArguments()
  const first = args.add(text)
  if (first === '' && (isOrdinary || args.isEmptyObject)) {
    return { text: args.addEmpty(), isWhole: true }
  }
  return { text: first, isWhole: args.isWhole || (isOrdinary && !args.isOpen) }
}
