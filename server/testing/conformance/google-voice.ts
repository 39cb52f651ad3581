import { blocks, counts, names, nullsOf, outputOf, type Voice } from './voiced-answer'
import type { JsonObject } from '../../src/wire/json-body'

const { input, cached, thought: thoughts } = counts

const googleEvent = (parts: JsonObject[], rest: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { role: 'model', parts }, ...rest }],
})

/** The arguments of a call; those that break off come in pieces. */
function googleArguments(text: string): JsonObject {
  if (text === '') return {}
  const isWhole = text.endsWith('}')
  const piece = { jsonPath: '$.a', stringValue: text }
  return isWhole ? { args: JSON.parse(text) } : { partialArgs: [piece], willContinue: true }
}

/** Answers as Gemini does. */
export const google: Voice = (answer) => {
  const parts = blocks(answer).map((block): JsonObject => {
    if (block.kind === 'thought') return { text: block.value, thought: true }
    if (block.kind === 'text') return { text: block.value }
    return { functionCall: { name: names[block.call], ...googleArguments(block.value) } }
  })
  const beside = nullsOf(
    answer,
    'text',
    'thought',
    'thoughtSignature',
    'functionCall',
    'inlineData',
  )
  const events = parts.map((part) => googleEvent([{ ...beside, ...part }]))
  if (answer.isStrange) {
    events.unshift({ weather: [1] }, googleEvent([{ weather: { at: 7 }, codeExecutionResult: {} }]))
  }
  if (answer.isFailing) events.push({ error: { code: 500, message: 'Oops.', status: 'INTERNAL' } })
  if (!answer.finish) return events
  const finishes = { stop: 'STOP', length: 'MAX_TOKENS', filter: 'SAFETY', unknown: 'WEATHER' }
  const written = outputOf(answer)
  const usageMetadata = written !== undefined && {
    promptTokenCount: input + cached,
    cachedContentTokenCount: cached,
    candidatesTokenCount: written,
    thoughtsTokenCount: thoughts,
    totalTokenCount: input + cached + written + thoughts,
  }
  const groundingMetadata = { groundingChunks: [{ web: { uri: answer.cites } }] }
  const last = {
    finishReason: finishes[answer.finish],
    ...(answer.cites && { groundingMetadata }),
  }
  return [...events, { ...googleEvent([], last), ...(usageMetadata && { usageMetadata }) }]
}
