import { fromCallId } from './call-id'
import { findCompaction } from './compaction'
import { emptyText, onlyAnthropic, refuseForeign, toContent, toParts, type Refuse } from './content'
import {
  isBlock,
  isContentBlock,
  type MessageBlock,
  type CallBlock,
  type MessagesRequest,
  type ResultBlock,
  type MessagesTurn,
} from './schema'
import { toThoughts } from './thoughts'
import type { JsonObject } from '../../wire/json-body'
import { ThoughtUnpacker } from '../../wire/reasoning-details'

/** The facts that all turns of a request share. */
interface TurnContext {
  refuse: Refuse
  unpacker: ThoughtUnpacker
}

/** System and turns as messages of a chat. Source: contract 12.6, read backwards. */
export function toChatMessages(
  { system, messages }: Pick<MessagesRequest, 'system' | 'messages'>,
  refuse: Refuse,
): JsonObject[] {
  const head = instructions(system, 'system', refuse)
  const compacted = findCompaction(messages)
  const context = { refuse, unpacker: new ThoughtUnpacker() }
  const chatMessages = messages.flatMap((turn, at) => {
    if (!compacted || at > compacted.at) return toMessages(turn, `messages.${at}`, context)
    if (at < compacted.at) return []
    const rest = toMessages(compacted.turn, `messages.${at}`, context)
    return [{ role: 'user', content: compacted.summary }, ...rest]
  })
  return [...head, ...chatMessages]
}

function instructions(
  system: MessagesRequest['system'] | MessagesTurn['content'],
  path: string,
  refuse: Refuse,
): JsonObject[] {
  if (!system || system.length === 0) return []
  if (typeof system === 'string') return [{ role: 'system', content: system }]
  refuseForeign(system, path, refuse)
  const parts = toParts(system, path, refuse)
  // Blocks that only Anthropic reads, such as tools that are added, may stand alone.
  return [{ role: 'system', content: toContent(parts.length > 0 ? parts : [emptyText]) }]
}

function toMessages(
  { role, content }: MessagesTurn,
  path: string,
  context: TurnContext,
): JsonObject[] {
  const { refuse } = context
  const contentPath = `${path}.content`
  if (role === 'system') return instructions(content, contentPath, refuse)
  if (typeof content === 'string') return [{ role, content }]
  return role === 'user'
    ? toUserMessages(content, contentPath, refuse)
    : toAssistantMessages(content, contentPath, context)
}

/** Results come first, each as a message of its own: chat models want them right behind their calls. */
function toUserMessages(
  blocks: readonly MessageBlock[],
  path: string,
  refuse: Refuse,
): JsonObject[] {
  const results: JsonObject[] = []
  const parts: JsonObject[] = []
  for (const [position, block] of blocks.entries()) {
    const contentPath = `${path}.${position}`
    if (isBlock(block, 'tool_result')) {
      const { message, media } = toResult(block, contentPath, refuse)
      results.push(message)
      parts.push(...media)
    } else if (isContentBlock(block)) parts.push(...toParts([block], path, refuse))
    else {
      refuse(onlyAnthropic(contentPath, `this model cannot read "${block.type}".`))
      parts.push(emptyText)
    }
  }
  return parts.length > 0 ? [...results, { role: 'user', content: toContent(parts) }] : results
}

/** Most providers take only text as a result: other content moves to a message of the user. */
function toResult(block: ResultBlock, path: string, refuse: Refuse) {
  const { content } = block
  if (Array.isArray(content)) refuseForeign(content, `${path}.content`, refuse)
  const parts = Array.isArray(content)
    ? toParts(content, `${path}.content`, refuse)
    : [{ type: 'text', text: content ?? '' }]
  const media = parts.filter(({ type }) => type !== 'text')
  const texts = parts.filter(({ type }) => type === 'text')
  const text = texts.map(textOf).join('\n')
  const visibleText =
    text === '' && media.length > 0 ? 'The result is shown in the next message.' : text
  const control = block.cache_control ?? texts.findLast(isMarked)?.['cache_control']
  const message = {
    role: 'tool',
    tool_call_id: fromCallId(block.tool_use_id),
    content: toContent([{ type: 'text', text: visibleText, ...marked(control) }]),
  }
  return { message, media }
}

const marked = (control: unknown): JsonObject => (control ? { cache_control: control } : {})

const isMarked = ({ cache_control: control }: JsonObject) => Boolean(control)

const textOf = ({ text }: JsonObject) => (typeof text === 'string' ? text : '')

/** Leaves out the work of Anthropic's own services in a turn: other providers have no form for it. */
function toAssistantMessages(
  blocks: readonly MessageBlock[],
  path: string,
  { refuse, unpacker }: TurnContext,
): JsonObject[] {
  const texts = joinTexts(toParts(blocks, path, refuse))
  const calls = blocks.flatMap((block) => (isBlock(block, 'tool_use') ? [toCall(block)] : []))
  if (texts.length === 0 && calls.length === 0) return []
  return [
    {
      role: 'assistant',
      content: texts.length === 0 ? null : toContent(texts),
      ...toThoughts(blocks, unpacker),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  ]
}

/** Joins the texts into one, or into one up to each breakpoint of a prompt cache. */
function joinTexts(parts: readonly JsonObject[]): JsonObject[] {
  const texts: JsonObject[] = []
  let text = ''
  for (const part of parts) {
    text += textOf(part)
    if (!part['cache_control'] || text === '') continue
    texts.push({ type: 'text', text, cache_control: part['cache_control'] })
    text = ''
  }
  return text === '' ? texts : [...texts, { type: 'text', text }]
}

const toCall = ({ id, name, input, cache_control: control }: CallBlock): JsonObject => ({
  id: fromCallId(id),
  type: 'function',
  function: { name, arguments: JSON.stringify(input) },
  ...marked(control),
})
