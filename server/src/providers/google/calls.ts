import type { EventPart, FunctionCall } from './events'
import { addPiece } from './partial-arguments'
import { signatureField, toSignedCallId } from './signatures'
import { ArgumentsLength } from '../../wire/call-arguments'
import type { JsonObject } from '../../wire/json-body'
import type { Part } from '../../wire/answer-part'
import { invalidAnswer, unnamedCall, type ErrorSource } from '../upstream-error'

interface OpenCall {
  id: string | undefined
  name: string
  args: JsonObject
  signature: string | undefined
}

/**
 * The tool calls of an answer. Most come whole; those that Vertex streams are collected, as pieces of
 * their arguments are no pieces of JSON text. Only an empty piece separates two calls of one name.
 */
export class Calls {
  readonly #source: ErrorSource
  #count = 0
  #open: OpenCall | undefined
  readonly #length = new ArgumentsLength()
  /** The answer broke off inside a call. */
  isCut = false

  constructor(source: ErrorSource) {
    this.#source = source
  }

  get any(): boolean {
    return this.#count > 0
  }

  next(call: FunctionCall, { thoughtSignature }: EventPart): Part[] {
    const parts: Part[] = []
    // A name in a later piece of the same call repeats it; another one begins another call.
    const isLaterPiece = this.#open?.name === call.name && !call.args
    if (call.name && !isLaterPiece) {
      parts.push(...this.close())
      const { id, name, args } = call
      this.#open = { id: id ?? undefined, name, args: { ...args }, signature: undefined }
    }
    const open = this.#open
    if (!open) {
      if (hasArguments(call)) throw unnamedCall(this.#source)
      return parts
    }
    open.signature ??= thoughtSignature ?? undefined
    this.#add(open, call.partialArgs ?? [])
    if (!call.willContinue) parts.push(...this.close())
    return parts
  }

  #add({ args }: OpenCall, pieces: NonNullable<FunctionCall['partialArgs']>): void {
    for (const piece of pieces) {
      this.#length.add(piece.jsonPath.length + (piece.stringValue?.length ?? 0))
      if (!addPiece(args, piece, this.#length)) {
        throw invalidAnswer(this.#source.provider, 'arguments with an unreadable path')
      }
    }
  }

  /** The parts of the call that is still open. */
  close(): Part[] {
    const call = this.#open
    if (!call) return []
    this.#open = undefined
    const index = this.#count++
    return [opening(call, index), { type: 'arguments', index, text: JSON.stringify(call.args) }]
  }

  /** Drops a call whose end is missing: no client may act on half of its arguments. */
  drop(): void {
    this.isCut ||= this.#open !== undefined
    this.#open = undefined
  }
}

const hasArguments = ({ args, partialArgs }: FunctionCall): boolean =>
  Boolean(partialArgs?.length) || Object.keys(args ?? {}).length > 0

function opening({ id, name, signature }: OpenCall, index: number): Part {
  if (signature) {
    const extra = signatureField(signature)
    return { type: 'call', index, id: toSignedCallId(id, signature), name, extra }
  }
  return { type: 'call', index, name, ...(id && { id }) }
}
