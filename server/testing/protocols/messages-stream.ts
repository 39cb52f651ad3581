import { readMessage } from './messages-events'
import { MessageWriter } from '../../src/protocols/messages/writer'
import { ChatChunks, type OutputPart } from '../../src/wire/chat-chunks'
import { noUsage, toUsageBlock } from '../../src/wire/usage'

export const identity = {
  id: 'chatcmpl-01abc',
  object: 'chat.completion.chunk' as const,
  created: 1,
  model: 'fake/ok',
}

const usage = {
  ...noUsage,
  input: 5,
  cachedInput: 3,
  cacheWrite: 2,
  output: 4,
  reasoning: 1,
}

const usageChunk = JSON.stringify({ ...identity, choices: [], usage: toUsageBlock(usage) })

/** The chunks of parts, as a translated provider's are. */
export function toChunks(parts: readonly OutputPart[]): string[] {
  const chunks = new ChatChunks({ identity, legacyFunctions: false, newCallId: () => 'call_x' })
  return [...parts.flatMap((part) => chunks.add(part)), usageChunk]
}

/** A chunk with that delta, as a relayed provider's are. */
export const chunkOf = (delta: object, finish_reason: string | null = null) =>
  JSON.stringify({ ...identity, choices: [{ index: 0, delta, finish_reason }] })

export function streamOf(chunks: readonly string[], thinking = true): string {
  const writer = new MessageWriter(identity, { thinking, stopSequences: [] }, 9)
  return chunks.map((chunk) => writer.write(chunk)).join('') + writer.end()
}

/** Returns the message that a client reads from the stream of parts. */
export const messageOf = (parts: readonly OutputPart[], thinking = true) =>
  readMessage(streamOf(toChunks(parts), thinking))

/** A provider's reasoning part with its signature. */
export const signed = (text: string, signature: string): OutputPart => ({
  type: 'extra',
  fields: {
    reasoning_details: [
      { type: 'reasoning.text', text, signature, format: 'anthropic-claude-v1', index: 0 },
    ],
  },
})
