import { answerTool } from './answer-tool'
import { CitedTexts } from './citations'
import { ConverseEvent } from './events'
import { toStreamError } from './failure'
import { toFinishReason } from './finish-reason'
import { toUsage } from './usage'
import type { PartsReader } from '../adapter'
import { hiddenThought, signedThought } from '../anthropic/reasoning-details'
import { readEvent } from '../event'
import { invalidAnswer, type ErrorSource, limitOpenBlocks } from '../upstream-error'
import type { Part } from '../../wire/answer-part'
import { unnamedStop } from '../../wire/stop-sequence'

/** A block that has begun. */
type Open =
  | { kind: 'call'; index: number }
  /** The tool that stands in for a JSON schema: its arguments are the text. */
  | { kind: 'answer' }
  | { kind: 'thought'; text: string; signature: string; data: string }

type Delta = NonNullable<ConverseEvent['contentBlockDelta']>

/**
 * Reads one ConverseStream. The usage comes before the stop or after it, so that only the end of the
 * bytes is the end.
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStreamOutput.html
 */
export function createPartsReader(source: ErrorSource): PartsReader {
  const open = new Map<number, Open>()
  let calls = 0
  const texts = new CitedTexts()

  function start({
    contentBlockIndex: at,
    start,
  }: NonNullable<ConverseEvent['contentBlockStart']>): Part[] {
    // Text and thoughts have no start.
    if (!start.toolUse) return []
    const { toolUseId, name } = start.toolUse
    if (name === answerTool) {
      open.set(at, { kind: 'answer' })
      return []
    }
    const index = calls
    calls += 1
    open.set(at, { kind: 'call', index })
    return [{ type: 'call', index, id: toolUseId, name }]
  }

  function readDelta({ contentBlockIndex: at, delta }: Delta): Part[] {
    const { text, toolUse, reasoningContent, citation } = delta
    if (typeof text === 'string') return texts.write(at, text)
    if (citation) texts.cite(at, citation)
    if (toolUse) return argumentParts(open.get(at), toolUse.input ?? '')
    if (!reasoningContent) return []
    const thought = openThought(open, at)
    thought.text += reasoningContent.text ?? ''
    thought.signature += reasoningContent.signature ?? ''
    thought.data += reasoningContent.redactedContent ?? ''
    return reasoningContent.text ? [{ type: 'reasoning', text: reasoningContent.text }] : []
  }

  function stop(at: number): Part[] {
    const block = open.get(at)
    open.delete(at)
    return block?.kind === 'thought' ? signatureParts(block, at) : texts.end(at)
  }

  return function read(data) {
    const event = toEvent(data, source)
    if (event.exception) {
      throw toStreamError(event.exception.type ?? '', event.exception.message ?? '', source)
    }
    limitOpenBlocks(open.size + texts.open, source)
    if (event.contentBlockStart) return start(event.contentBlockStart)
    if (event.contentBlockDelta) return readDelta(event.contentBlockDelta)
    if (event.contentBlockStop) return stop(event.contentBlockStop.contentBlockIndex)
    if (event.messageStop) return [toFinish(event.messageStop, { hasCalls: calls > 0, source })]
    const usage = toUsage(event.metadata?.usage)
    return usage ? [{ type: 'usage', usage }] : []
  }
}

function toFinish(
  { stopReason, additionalModelResponseFields: fields }: NonNullable<ConverseEvent['messageStop']>,
  { hasCalls, source }: { hasCalls: boolean; source: ErrorSource },
): Part {
  const reason = toFinishReason(stopReason, hasCalls)
  if (!reason) throw invalidAnswer(source.provider, `a response that ended early: ${stopReason}`)
  const isStop = stopReason === unnamedStop
  const matchedStop = fields?.stop_sequence ?? unnamedStop
  return { type: 'finish', reason, ...(isStop && { matchedStop }) }
}

function toEvent(data: string, source: ErrorSource): ConverseEvent {
  const event = ConverseEvent.safeParse(readEvent(data, source))
  if (!event.success)
    throw invalidAnswer(source.provider, 'an event with an unexpected shape', event.error)
  return event.data
}

function argumentParts(block: Open | undefined, text: string): Part[] {
  if (text === '') return []
  if (block?.kind === 'answer') return [{ type: 'text', text }]
  return block?.kind === 'call' ? [{ type: 'arguments', index: block.index, text }] : []
}

function openThought(open: Map<number, Open>, at: number) {
  const existingBlock = open.get(at)
  if (existingBlock?.kind === 'thought') return existingBlock
  const thought = { kind: 'thought' as const, text: '', signature: '', data: '' }
  open.set(at, thought)
  return thought
}

/** A signed thought goes to the caller whole, so that the client can send it back. */
function signatureParts({ text, signature, data }: Open & { kind: 'thought' }, index: number) {
  const details = [
    ...(signature === '' ? [] : [signedThought(text, signature, index)]),
    ...(data === '' ? [] : [hiddenThought(data, index)]),
  ]
  const part: Part = { type: 'extra', fields: { reasoning_details: details } }
  return details.length > 0 ? [part] : []
}
