import { answerOf, usageOf } from '../answer'
import type { Answer, Chunk } from '../answer-shape'
import { numberOf, type Behaviour, type Json } from '../call'
import { deliver } from '../deliver'
import { wordScript } from '../script'

const isUsage = ({ data }: Chunk) => 'usage' in data

/** A good answer that reports `change(usage)`; undefined reports nothing at all. */
const reporting =
  (change: (usage: Json) => Json | null | undefined): Behaviour =>
  async (call) => {
    const answer = answerOf(call)
    const usage = change(answer.usage)
    // JSON leaves out what is undefined.
    const edit = (data: Json): Json => ({ ...data, usage })
    const chunks = answer.chunks
      .filter((chunk) => usage !== undefined || !isUsage(chunk))
      .map((chunk) => (isUsage(chunk) ? { ...chunk, data: edit(chunk.data) } : chunk))
    await deliver(call, { ...answer, chunks, whole: edit(answer.whole) })
  }

/** Every count replaced by `value`. */
const every = (value: unknown) => () => ({
  prompt_tokens: value,
  completion_tokens: value,
  total_tokens: value,
})

/** A good answer with its chunks edited; the body of an answer that is not streamed stays good. */
const chunked =
  (edit: (answer: Answer) => Chunk[]): Behaviour =>
  async (call) => {
    const answer = answerOf(call)
    await deliver(call, { ...answer, chunks: edit(answer) })
  }

/** Usage on the chunk that ends the answer, whether asked for or not, and no chunk of its own. */
export function onFinish({ chunks, usage }: Answer): Chunk[] {
  return chunks
    .filter((chunk) => !isUsage(chunk))
    .map((chunk) => (chunk.ends ? { ...chunk, data: { ...chunk.data, usage } } : chunk))
}

/** Running totals on every chunk, as some providers send them. */
function cumulative({ chunks, usage }: Answer): Chunk[] {
  let tokens = 0
  return chunks.map((chunk) => {
    tokens += chunk.tokens
    return {
      ...chunk,
      data: { ...chunk.data, usage: usageOf(Number(usage['prompt_tokens']), tokens) },
    }
  })
}

/** `ignore-cap-<n>`: that many words, else twice as much output as the request allows. */
const ignoreCap: Behaviour = async (call) => {
  const count = numberOf(call, 2 * (call.attempt.cap ?? 32))
  await deliver(call, answerOf(call, { ...wordScript(count), uncapped: true }))
}

export const usage: Record<string, Behaviour> = {
  'usage-none': reporting(() => undefined),
  'usage-zero': reporting(() => usageOf(0, 0)),
  'usage-null': reporting(() => null),
  'usage-negative': reporting(every(-5)),
  'usage-float': reporting(every(12.5)),
  'usage-huge': reporting(every(9_000_000_000_000_000)),
  'usage-string': reporting(every('12')),
  'usage-twice': chunked(({ chunks }) => [...chunks, ...chunks.filter(isUsage)]),
  'usage-cumulative': chunked(cumulative),
  'usage-cached-gt-prompt': reporting((usage) => ({
    ...usage,
    prompt_tokens_details: { cached_tokens: Number(usage['prompt_tokens']) + 10 },
  })),
  'usage-on-finish': chunked(onFinish),
  'ignore-cap': ignoreCap,
}
