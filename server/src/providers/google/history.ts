import { toParts, type GeminiPart } from './content'
import { anySignature, callSignature, readCallerSignature } from './signatures'
import { invalidRequest } from '../../errors'
import { toProviderCallId } from '../../wire/call-ids'
import type { ChatMessage } from '../../wire/chat-request'
import { unpackCallId } from '../../wire/packed-call-id'
import { parseArguments } from '../history'
import type { MediaData } from '../media'

type ToolCall = NonNullable<ChatMessage['tool_calls']>[number]

export interface GoogleTurn {
  role: 'user' | 'model'
  parts: GeminiPart[]
}

/** The context of turns besides the messages. */
export interface HistoryOptions {
  media: ReadonlyMap<string, MediaData>
  /** Calls are sent with their ids. */
  callIds: boolean
  /** `required`: the first call of a turn has a signature, if need be the one that fits all. */
  signatures: 'kept' | 'required' | 'replaced'
}

/** The calls of the latest model turn, until their results have been read. */
interface OpenCalls {
  /** The last message that called. */
  param: string
  /** The functions that were called, and the ids that Google gets, by the ids of the calls. */
  calledFunctions: Map<string, { name: string; id: string }>
  /** The ids that Google gets. */
  ids: Set<string>
  responses: Map<string, GeminiPart>
  /** The user's messages meanwhile; they come after the responses. */
  after: GeminiPart[]
}

/** The user's text before an assistant turn that begins the history. */
const opening = 'Go on.'

/**
 * The messages of a conversation as Google takes them: user and model in turn, the user first, and
 * after a turn with N calls the N responses, in the order of the calls and before anything else.
 * Throws `invalid_request` for calls without result and results without call.
 */
export class GoogleHistory {
  readonly system: string[] = []
  /** The fields of arguments that are no JSON object. */
  readonly unreadable: string[] = []
  readonly #turns: GoogleTurn[] = []
  readonly #setting: HistoryOptions
  #open: OpenCalls | undefined

  constructor(messages: readonly ChatMessage[], setting: HistoryOptions) {
    this.#setting = setting
    for (const [index, message] of messages.entries()) this.#add(message, `messages.${index}`)
    this.#close()
  }

  turns(): GoogleTurn[] {
    // A conversation that the assistant opens, such as with a greeting, has no first user turn.
    const first: GoogleTurn[] =
      this.#turns[0]?.role === 'model' ? [{ role: 'user', parts: [{ text: opening }] }] : []
    return [...first, ...this.#turns]
  }

  #add(message: ChatMessage, param: string): void {
    const parts = toParts(message.content, {
      param: `${param}.content`,
      media: this.#setting.media,
    })
    switch (message.role) {
      case 'system':
      case 'developer':
        this.system.push(...requireTexts(parts, `${param}.content`))
        return
      case 'user':
        this.#addParts(parts)
        return
      case 'assistant':
        this.#answer(message, parts, param)
        return
      case 'tool':
      case 'function':
        this.#respond(message, parts, param)
        return
    }
  }

  #addParts(parts: GeminiPart[]): void {
    if (this.#open) this.#open.after.push(...parts)
    else this.#push('user', parts)
  }

  #answer(message: ChatMessage, parts: GeminiPart[], param: string): void {
    // Neighbours are one turn: further calls join those without a response so far.
    if (this.#open && (this.#open.responses.size > 0 || this.#open.after.length > 0)) this.#close()
    const refusal = message['refusal']
    if (typeof refusal === 'string' && refusal !== '') parts.push({ text: refusal })
    const signature =
      this.#setting.signatures === 'replaced' ? undefined : readCallerSignature(message)
    const last = parts.at(-1)
    if (signature && last) last.thoughtSignature = signature
    this.#push('model', parts)
    for (const [index, call] of (message.tool_calls ?? []).entries()) {
      this.#push('model', [this.#call(call, `${param}.tool_calls.${index}`)])
    }
  }

  #call(call: ToolCall, param: string): GeminiPart {
    const { name } = call.function
    const isFirst = !this.#open
    this.#open ??= {
      param,
      calledFunctions: new Map(),
      ids: new Set(),
      responses: new Map(),
      after: [],
    }
    this.#open.param = param
    const id = idInTurn(call.id, this.#open)
    this.#open.ids.add(id)
    this.#open.calledFunctions.set(unpackCallId(call.id), { name, id })
    const signature = this.#signatureOf(call, isFirst)
    return {
      functionCall: {
        ...(this.#setting.callIds && { id }),
        name,
        args: parseArguments(call, param, (field) => this.unreadable.push(field)),
      },
      ...(signature && { thoughtSignature: signature }),
    }
  }

  /** Of the calls of one turn only the first needs a signature; the others keep theirs. */
  #signatureOf(call: ToolCall, isFirst: boolean): string | undefined {
    const { signatures } = this.#setting
    const ownSignature = signatures === 'replaced' ? undefined : callSignature(call)
    return ownSignature ?? (isFirst && signatures !== 'kept' ? anySignature : undefined)
  }

  #respond(message: ChatMessage, parts: GeminiPart[], param: string): void {
    const callId = unpackCallId(message.tool_call_id ?? '')
    const calledFunction = this.#open?.calledFunctions.get(callId)
    if (!this.#open || !calledFunction) {
      throw invalidRequest(
        `${param}.tool_call_id`,
        'unknown_value',
        'The assistant message before it has no call with this id.',
      )
    }
    const { name, id } = calledFunction
    // Of two results of one call the later counts: there must be as many as calls.
    this.#open.responses.set(callId, {
      functionResponse: {
        ...(this.#setting.callIds && { id }),
        name,
        response: { name, content: textsOf(parts).join('\n') },
      },
    })
    // A response is text; an image that a tool gave is shown behind it.
    this.#open.after.push(...parts.filter((part) => !('text' in part)))
  }

  #close(): void {
    if (!this.#open) return
    const { param, calledFunctions, responses, after } = this.#open
    this.#open = undefined
    const inOrder = [...calledFunctions.keys()].flatMap((id) => responses.get(id) ?? [])
    if (inOrder.length < calledFunctions.size) {
      throw invalidRequest(
        param.replace(/\.\d+$/, ''),
        'required',
        'Each of these calls needs a "tool" message with its result, before the next answer.',
      )
    }
    this.#push('user', [...inOrder, ...after])
  }

  #push(role: GoogleTurn['role'], parts: readonly GeminiPart[]): void {
    if (parts.length === 0) return
    const last = this.#turns.at(-1)
    if (last?.role === role) last.parts.push(...parts)
    else this.#turns.push({ role, parts: [...parts] })
  }
}

/** The id that Google gave a call, unless another call of the turn has it. */
function idInTurn(callId: string, { ids }: OpenCalls): string {
  const own = toProviderCallId(callId)
  return ids.has(own) ? unpackCallId(callId) : own
}

const textsOf = (parts: readonly GeminiPart[]) =>
  parts.flatMap((part) => ('text' in part ? part.text : []))

function requireTexts(parts: readonly GeminiPart[], param: string): string[] {
  const texts = textsOf(parts)
  if (texts.length === parts.length) return texts
  throw invalidRequest(param, 'unsupported_by_model', 'Instructions must be text.')
}
