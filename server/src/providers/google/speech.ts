import { readEvent } from './events'
import { toGoogleError } from './failure'
import { toModelPath } from './model-name'
import { truncatedAnswer } from '../upstream-error'
import type { SpeechEvent, SpeechForm } from '../speech-form'
import { isObject } from '../../wire/json-body'
import { readSampleRate } from '../../wire/speech-format'
import { nameOfVoice } from '../../wire/speech-request'
import { noUsage, type Usage } from '../../wire/usage'

const countIn = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0

/** Reads the tokens of a text and of its sound; undefined where they are not reported. */
function readUsage(metadata: unknown): Usage | undefined {
  if (!isObject(metadata)) return undefined
  const { promptTokenCount: prompt, candidatesTokenCount: answer } = metadata
  if (typeof prompt !== 'number' || typeof answer !== 'number') return undefined
  return { ...noUsage, input: countIn(prompt), audioOutput: countIn(answer) }
}

/**
 * Gemini's models that speak, below `home`: PCM in base64.
 * @see https://ai.google.dev/gemini-api/docs/speech-generation
 */
export const speechOfGoogle = (home: string, nameOf: (model: string) => string): SpeechForm => ({
  formats: ['wav', 'pcm'],
  usualFormat: 'wav',
  eventsOnly: true,
  needsHeader: (format) => format === 'wav',
  // It has a limit of tokens.
  maxCharacters: () => undefined,
  omits: ['speed'],
  write: (request, _body, { upstreamModel }) => {
    const voiceName = nameOfVoice(request)
    const { input, instructions } = request
    const text = instructions ? `${instructions}: ${input}` : input
    const speechConfig = { voiceConfig: { prebuiltVoiceConfig: { voiceName } } }
    return {
      path: `${home}/${toModelPath(nameOf(upstreamModel))}:streamGenerateContent?alt=sse`,
      body: {
        contents: [{ role: 'user', parts: [{ text }] }],
        generationConfig: {
          responseModalities: ['AUDIO'],
          ...(voiceName !== undefined && { speechConfig }),
        },
      },
    }
  },
  read: (data, source): SpeechEvent => {
    const { candidates, promptFeedback, usageMetadata } = readEvent(data, source)
    if (promptFeedback?.blockReason) {
      const message = `The request was blocked: ${promptFeedback.blockReason}`
      throw toGoogleError({ status: 400, body: { error: { message } } }, source)
    }
    const candidate = candidates?.[0]
    const reason = candidate?.finishReason
    if (reason && reason !== 'STOP' && reason !== 'MAX_TOKENS') throw truncatedAnswer(source)
    const media = (candidate?.content?.parts ?? []).flatMap(({ inlineData }) => inlineData ?? [])
    const sound = media.map((part) => Buffer.from(part.data, 'base64').toString('latin1')).join('')
    return {
      sound,
      sampleRate: readSampleRate(media[0]?.mimeType ?? ''),
      usage: readUsage(usageMetadata),
      isLast: reason !== undefined && reason !== null && usageMetadata !== undefined,
    }
  },
  toError: toGoogleError,
})

/** Gemini's models that speak, by the Gemini API. */
export const googleSpeech = speechOfGoogle('/models', (model) => model)
