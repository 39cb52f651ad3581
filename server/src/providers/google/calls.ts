import type { EventPart, FunctionCall } from './events'
import { addPiece } from './partial-arguments'
import { signatureField, toSignedCallId } from './signatures'
import type { JsonObject } from '../../wire/json-body'
import type { Part } from '../../wire/answer-part'
import { invalidAnswer } from '../upstream-error'

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
  readonly #provider: string
  #count = 0
  #open: OpenCall | undefined

  constructor(provider: string) {
    this.#provider = provider
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
      if (call.partialArgs?.length) throw invalidAnswer(this.#provider, 'arguments without a call')
      return parts
    }
    open.signature ??= thoughtSignature ?? undefined
    for (const piece of call.partialArgs ?? []) {
      if (!addPiece(open.args, piece)) {
        throw invalidAnswer(this.#provider, 'arguments with an unreadable path')
      }
    }
    if (!call.willContinue) parts.push(...this.close())
    return parts
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
    this.#open = undefined
  }
}

function opening({ id, name, signature }: OpenCall, index: number): Part {
  if (signature) {
    const extra = signatureField(signature)
    return { type: 'call', index, id: toSignedCallId(id, signature), name, extra }
  }
  return { type: 'call', index, name, ...(id && { id }) }
}
