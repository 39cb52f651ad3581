import { GoogleHistory, type HistoryOptions, type GoogleTurn } from './history'
import { googleModalities, toModalities, toSoundFormat } from './modalities'
import { parseGeneration, isGemma, toModelPath } from './model-name'
import { toThinkingConfig } from './thinking'
import { toShape } from './tools'
import { invalidRequest } from '../../errors'
import type { ChatRequest } from '../../wire/chat-request'
import type { JsonObject } from '../../wire/json-body'
import type { AdapterTarget, UpstreamRequest } from '../adapter'
import { findOmittedFields } from '../omitted-fields'
import { refuseForeign } from '../unsupported-fields'

/** The differences between the two services of the Gemini models. */
export interface GeminiHome {
  /** The path in front of the model's name. */
  path: string
  /** Calls and responses carry ids; Vertex distinguishes them by name and order. */
  callIds: boolean
  safetySettings: readonly JsonObject[]
}

/** `POST …:streamGenerateContent`. @see https://ai.google.dev/api/generate-content */
export function toGenerateContent(
  chat: ChatRequest,
  target: AdapterTarget,
  home: GeminiHome,
): UpstreamRequest {
  refuseForeign(chat, googleModalities)
  const sound = toSoundFormat(chat)
  const { format, ...tools } = toShape(chat, target.upstreamModel)
  const sampling = samplingOf(chat, target)
  const generationConfig = {
    ...sampling,
    ...format,
    ...toModalities(chat, target.upstreamModel),
  }
  const history = historyOf(chat, target, home)
  return {
    // Without `alt=sse` the answer would be one JSON array.
    path: `${home.path}/${toModelPath(target.upstreamModel)}:streamGenerateContent?alt=sse`,
    body: {
      ...conversationOf(history, target),
      ...tools,
      ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
      ...(home.safetySettings.length > 0 && { safetySettings: home.safetySettings }),
    },
    omitted: findOmittedFields(
      chat,
      Object.keys(sampling).map((name) => chatNames[name] ?? name),
      history.unreadable,
    ),
    ...(sound && { wish: { sound } }),
  }
}

/** Settings there -> the fields of a chat that they come from. */
const chatNames: Readonly<Record<string, string>> = {
  topP: 'top_p',
  stopSequences: 'stop',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  thinkingConfig: 'reasoning_effort',
}

function historyOf(chat: ChatRequest, target: AdapterTarget, home: GeminiHome): GoogleHistory {
  const needsSignatures = parseGeneration(target.upstreamModel) >= 3
  const signatures: HistoryOptions['signatures'] = needsSignatures ? 'required' : 'kept'
  return new GoogleHistory(chat.messages, {
    media: target.media ?? new Map(),
    callIds: home.callIds,
    signatures: target.signatures === 'replaced' ? 'replaced' : signatures,
  })
}

function conversationOf(history: GoogleHistory, target: AdapterTarget): JsonObject {
  const contents = history.turns()
  const system = history.system.map((text) => ({ text }))
  const first = contents[0]
  if (!first) {
    if (system.length === 0) {
      throw invalidRequest('messages', 'empty', 'The messages contain nothing to answer.')
    }
    // Instructions alone are the question.
    return { contents: [{ role: 'user', parts: system } satisfies GoogleTurn] }
  }
  if (system.length === 0) return { contents }
  if (isGemma(target.upstreamModel)) {
    const opening: GoogleTurn = { ...first, parts: [...system, ...first.parts] }
    return { contents: [opening, ...contents.slice(1)] }
  }
  return { systemInstruction: { parts: system }, contents }
}

function samplingOf(chat: ChatRequest, target: AdapterTarget): JsonObject {
  const stop = typeof chat.stop === 'string' ? [chat.stop] : (chat.stop ?? [])
  const stopSequences = stop.filter((text) => text !== '')
  const thinkingConfig = toThinkingConfig(chat, target)
  const fields: JsonObject = {
    maxOutputTokens: target.maxTokens,
    temperature: chat.temperature,
    topP: chat.top_p,
    // OpenAI's seeds have 64 bits, Google's 32; the same one still becomes the same.
    seed: chat.seed === undefined || chat.seed === null ? undefined : chat.seed | 0,
    stopSequences: stopSequences.length > 0 ? stopSequences : undefined,
    thinkingConfig,
    // Models with thinking refuse both.
    ...(parseGeneration(target.upstreamModel) < 2.5 && {
      presencePenalty: chat.presence_penalty,
      frequencyPenalty: chat.frequency_penalty,
    }),
  }
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  )
}
